// Package flags makes a program's command line from one table: the flags themselves, --help, the reference in docs/ and
// the test against the contract all come from it.
package flags
