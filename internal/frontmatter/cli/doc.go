// Package cli is the command line of frontmatter: one file per command, one table of flags, and the one place that
// prints errors and picks the exit code (0 success, 1 findings or failure, 2 misuse).
//
// It wires the other rooms and decides nothing about statements itself.
package cli
