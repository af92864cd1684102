// The command controlplane is a Kubernetes control plane in one binary, for tests and for trying things out on one
// machine. Its subcommands are the programs of a control plane; "controlplane up" starts them together on loopback, with
// kwok in place of kubelets, and removes every trace when it stops.
//
// It is a module of its own so that the dependencies of Kubernetes itself are not those of the product.
package main
