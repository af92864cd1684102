// Package cli is the stage controller's command line: from flags and environment to a configuration, and from there to a
// process that serves and reconciles until it is told to end. It is wiring; what it wires knows nothing of it.
package cli

//go:generate go run ./flagdoc
