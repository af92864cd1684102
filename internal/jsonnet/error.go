package jsonnet

import (
	"fmt"
	"strings"
)

// Reason classifies a failed evaluation. The values are stable: they are condition reasons and problem codes.
type Reason string

// The reasons of an Error.
const (
	// EvaluationFailed: the program itself is wrong, or it called error.
	EvaluationFailed Reason = "EvaluationFailed"
	// InvalidArguments: the top-level arguments do not fit the program's parameters.
	InvalidArguments Reason = "InvalidArguments"
	// StackExceeded: the program called deeper than the stack limit.
	StackExceeded Reason = "StackExceeded"
	// EvaluationMemoryExceeded: the program needed more memory than its budget.
	EvaluationMemoryExceeded Reason = "EvaluationMemoryExceeded"
	// EvaluationTimeout: the program ran out of time.
	EvaluationTimeout Reason = "EvaluationTimeout"
	// EvaluationUnavailable: the engine had no capacity for the evaluation; asking later may succeed.
	EvaluationUnavailable Reason = "EvaluationUnavailable"
)

// Error is a failed evaluation, told in terms of the author's files.
type Error struct {
	Reason  Reason
	Message string  // one or more lines, without a position
	Static  bool    // found before evaluation began: by a source limit, the lexer, the parser or the checker
	Frames  []Frame // innermost first; only places in the author's files, never in the standard library
	// At is where the error is, when that is not where evaluation was: an imported file that cannot be parsed fails the
	// evaluation at the import. It is nil otherwise.
	At *Frame
}

// Frame is a place an error passed through. Lines and columns count from 1; columns count as go-jsonnet counts them.
type Frame struct {
	File               string // a Source's Name, or "<extvar:NAME>" and the like for code that came as a variable
	Line, Column       int
	EndLine, EndColumn int
	Function           string // what was being evaluated, such as "function <f>" or "object <anonymous>"; may be empty
}

// Error shows the message as the jsonnet command does: a static error behind its position, another one behind
// "RUNTIME ERROR".
func (e *Error) Error() string {
	if !e.Static {
		return "RUNTIME ERROR: " + e.Message
	}
	if len(e.Frames) == 0 {
		return e.Message
	}
	return e.Frames[0].String() + " " + e.Message
}

// Trace is the error followed by a line for each frame.
func (e *Error) Trace() string {
	var b strings.Builder
	b.WriteString(e.Error())
	for _, f := range e.Frames {
		fmt.Fprintf(&b, "\n\t%s\t%s", f, f.Function)
	}
	return b.String()
}

// String is the frame's place in go-jsonnet's notation: file:line:column-column within a line, else with both ends.
func (f Frame) String() string {
	if f.Line == 0 {
		return f.File
	}
	switch {
	case f.EndLine != 0 && f.EndLine != f.Line:
		return fmt.Sprintf("%s:(%d:%d)-(%d:%d)", f.File, f.Line, f.Column, f.EndLine, f.EndColumn)
	case f.EndColumn > f.Column:
		return fmt.Sprintf("%s:%d:%d-%d", f.File, f.Line, f.Column, f.EndColumn)
	default:
		return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
}
