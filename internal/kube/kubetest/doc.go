// Package kubetest gives a test a namespace of its own in a real control plane, clients for it, and ways to wait without
// sleeping. All tests of a run share one control plane, which hack/with-controlplane starts: real etcd, API server,
// controllers and scheduler, and nodes on which pods become Ready and Jobs complete although no container runs.
//
// It knows nothing of the kinds of this project: tests bring their own. Nothing but tests may import it.
package kubetest
