// Package cli is the renderer's command line: from flags and environment to a configuration, and from there to servers
// that run and end. It is wiring; what it wires knows nothing of it.
package cli

//go:generate go run ./flagdoc
