// Package cluster is an API server as one identity sees it: a client with the words for who acts and what was denied, and
// the reading of metadata, many objects at a time.
//
// It reads; what is written is the business of package apply.
package cluster
