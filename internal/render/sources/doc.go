// Package sources loads the files of Flux artifacts for rendering: fetched, verified, unpacked, and kept by their digest so
// that what has not changed is not fetched again.
//
// Its limits are those of the whole process: how much is held unpacked at a time, how much of that one namespace may have
// while others need some too, and how much stays when nobody uses it. It knows nothing of Kubernetes.
package sources
