// Package kubeconfig turns a kubeconfig that a tenant wrote into a configuration for a client of another cluster. Nothing of
// the controller itself gets into it: no token, no certificate, no file of its disk, no program that it could run.
//
// It makes no client and sends nothing. How the kubeconfig is read, and how long clients are kept, is not its business.
package kubeconfig
