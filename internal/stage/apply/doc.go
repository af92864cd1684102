// Package apply applies objects by server-side apply, many at a time and never more often than needed: what is as it was
// applied is seen from metadata alone and costs no request of its own.
//
// It acts with the client that it is given, decides nothing about stages, and waits for nothing: what has to happen first
// is told.
package apply
