// Package version knows which release a program was built from. The linker sets its variables (see the Makefile); a
// program built with go install takes them from the module.
package version
