package flags

import (
	"fmt"
	"io"
	"strings"
)

// Exit codes of the programs.
const (
	ExitSuccess = 0
	ExitFailure = 1
	ExitMisuse  = 2
)

// Misuse tells what is wrong with a command line, one problem a line, and returns the exit code.
func (t Table) Misuse(stderr io.Writer, err error) int {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, _ = fmt.Fprintf(stderr, "%s: %s\n", t.Program, line) // there is nowhere left to report to
	}
	_, _ = fmt.Fprintf(stderr, "Run '%s --help' for all flags.\n", t.Program)
	return ExitMisuse
}

// Report tells why a program failed, if it has, and returns the exit code.
func (t Table) Report(stderr io.Writer, err error) int {
	if err == nil {
		return ExitSuccess
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", t.Program, err)
	return ExitFailure
}
