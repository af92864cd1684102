// Package certs makes the certificates and keys of one control plane: an authority of its own, what it signs, and the
// key pair of service account tokens. Everything is made in memory; where it is kept is for others to decide.
package certs
