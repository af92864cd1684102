// Package artifact handles Flux artifacts, the gzipped tarballs that sources publish and consumers fetch: it fetches one
// by its URL and verifies its digest, unpacks it under limits, and packs files so that the same files give the same
// bytes. What is refused and why is in docs/decisions/0010-artifacts.md.
//
// It knows nothing of Kubernetes, of where artifacts are kept or of what their files mean.
package artifact
