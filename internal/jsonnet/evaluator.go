package jsonnet

import (
	"context"
	"crypto/sha256"
)

// Evaluator evaluates one Jsonnet program. Implementations are safe for concurrent use and keep no reference to a Job
// after they have returned.
type Evaluator interface {
	// Version names the evaluator and its release; it is part of every cache key.
	Version() string
	// Evaluate returns the JSON text of the program's value, indented by three spaces and ended by a line feed, as the
	// jsonnet command prints it. Every failure is an *Error.
	Evaluate(ctx context.Context, job Job) (string, error)
}

// Job is one program with everything its result may depend on.
type Job struct {
	Entry     *Source
	Importer  Importer
	External  map[string]Binding // std.extVar, by name
	Arguments map[string]Binding // top-level arguments, by parameter name
	MaxStack  int                // Jsonnet call depth; 0 is the evaluator's default
	MaxMemory int64              // bytes one evaluation may hold; 0 is no limit
	Trace     func(TraceMessage) // receives std.trace; nil drops it
	// ArgumentsIgnored is called when the program's value is no function, so that the arguments had no effect. It may be
	// nil.
	ArgumentsIgnored func()
}

// Importer resolves imports for one evaluation, which calls it from one goroutine at a time.
type Importer interface {
	// Import returns what the file from means by path. Asked again, it returns the same *Source. An error's text is
	// shown to the author of the snippet as the evaluation error at the import.
	Import(ctx context.Context, from *Source, path string) (*Source, error)
}

// Source is a file as one evaluation sees it. It is immutable.
type Source struct {
	// Name is what errors and std.thisFile show: slash-separated, relative to the file's root, and unique within an
	// evaluation.
	Name    string
	Content string
	Sum     [sha256.Size]byte // SHA-256 of Content
}

// BindingKind says how the text of a Binding becomes a value.
type BindingKind uint8

// The kinds of bindings.
const (
	BindString BindingKind = iota // the text itself, as a string
	BindJSON                      // a JSON document, built as a value and never parsed as Jsonnet
	BindCode                      // a Jsonnet expression without imports relative to a file
)

// Binding is the value of an external variable or of a top-level argument.
type Binding struct {
	Kind BindingKind
	Text string
}

// TraceMessage is one call of std.trace.
type TraceMessage struct {
	File string
	Line int
	Text string
}
