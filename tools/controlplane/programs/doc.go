// Package programs holds the programs of the control plane: real etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler, kubectl and kwok, each started as its own main would start it. It is the only package here that needs
// them, and takes minutes to compile; it knows nothing of how they are put together.
package programs
