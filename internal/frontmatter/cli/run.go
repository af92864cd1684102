package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// Exit codes.
const (
	exitOK       = 0
	exitFindings = 1
	exitMisuse   = 2
)

// errFindings ends a command that found something and has said so.
var errFindings = errors.New("findings")

// app is what the commands share. Run sets all of it.
type app struct {
	dir    string // working folder
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	values values // of the flags of the command that runs
}

// Run runs the program and returns its exit code.
func Run(ctx context.Context, args, _ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	dir, err := os.Getwd()
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "frontmatter: finding the working folder: %v\n", err)
		return exitFindings
	}
	a := &app{dir: dir, stdin: stdin, stdout: stdout, stderr: stderr, values: values{}}
	root := a.root() //nolint:contextcheck // commands get the context when they are executed
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	var misuse *check.MisuseError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &misuse):
		_, _ = fmt.Fprintf(stderr, "frontmatter: %v\n", misuse)
		return exitMisuse
	default:
		_, _ = fmt.Fprintf(stderr, "frontmatter: %v\n", err)
		return exitFindings
	}
}

// misusef is an error in how the program was called.
func misusef(format string, args ...any) error {
	return &check.MisuseError{Message: fmt.Sprintf(format, args...)}
}
