// Package cluster puts a control plane together: certificates, ports, the command line of each program, the order in
// which they start, what has to be in the cluster before it is ready, and the end of it all. It talks to the API server
// over plain HTTP and links none of the programs; it starts them as children of this binary.
package cluster
