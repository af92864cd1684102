// Package tenant makes clients that act as a ServiceAccount. They use tokens that the API server issues for it, so what a
// tenant may do is decided there, by the roles that the account has, and never by the identity of the program.
//
// Tokens are kept in memory until shortly before they expire, and appear in no log and no error. The package needs the
// right to create serviceaccounts/token and no other; it does not know what its clients are used for.
package tenant
