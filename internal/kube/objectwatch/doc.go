// Package objectwatch watches single ConfigMaps and Secrets with the token of a ServiceAccount, and tells who needs them
// when one has changed. Those who need the same object as the same account share a watch, which ends when nobody needs it.
//
// It keeps no values: what has changed is read by who is told. Where the account may not watch, that is known, so that the
// object can be looked at now and then instead.
package objectwatch
