// Package server is the renderer's HTTP side: the Jsonnet endpoint, the probes, problem documents and the life of a
// listener. Handlers return errors; one adapter turns them into problem documents and logs them once.
//
// It knows how to ask for an evaluation, not how one is made, and nothing of Kubernetes.
package server
