// Package objectstore is a bucket of an S3-compatible object store, as the flags of a program describe it: its endpoint,
// its credentials or where to find them, and the prefix below which all keys are.
//
// It knows nothing of what the objects are.
package objectstore
