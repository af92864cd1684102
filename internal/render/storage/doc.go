// Package storage keeps the artifacts that the operator publishes, in a directory or in an object store, and serves them
// over HTTP. An artifact is visible whole or not at all, whatever fails while it is written. It also decides which
// revisions are no longer needed, and sweeps what interrupted writes left behind.
//
// It knows nothing of Kubernetes and of how artifacts are made.
package storage
