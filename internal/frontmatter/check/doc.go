// Package check finds what is wrong with the statements of projects: it finds and reads their files, checks every
// statement against itself and all statements of a project against each other, and owns the table of rules.
//
// It must not know how diagnostics are printed, sent to an editor or applied, and never writes a file.
package check
