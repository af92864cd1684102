package gojsonnet

import (
	"errors"
	"strings"

	gojsonnet "github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/ast"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// staticError is what the lexer, the parser and the checker of go-jsonnet return.
type staticError interface {
	error
	Loc() ast.LocationRange
}

// describe turns an error of go-jsonnet into a jsonnet.Error.
func describe(err error) *jsonnet.Error {
	var known *jsonnet.Error
	if errors.As(err, &known) {
		return known
	}
	var static staticError
	if errors.As(err, &static) {
		location := static.Loc()
		message := strings.TrimPrefix(static.Error(), location.String()+" ")
		return &jsonnet.Error{
			Reason:  jsonnet.EvaluationFailed,
			Message: message,
			Static:  true,
			Frames:  []jsonnet.Frame{frame(location, "")},
		}
	}
	var runtime gojsonnet.RuntimeError
	if !errors.As(err, &runtime) {
		// A crash of the virtual machine: its text holds the stack of this process.
		return &jsonnet.Error{Reason: jsonnet.EvaluationFailed, Message: "internal error: the evaluator crashed"}
	}
	failed := &jsonnet.Error{Reason: jsonnet.EvaluationFailed, Message: runtime.Msg}
	switch trace := runtime.StackTrace; {
	case runtime.Msg == "max stack frames exceeded.":
		failed.Reason = jsonnet.StackExceeded
	case len(trace) > 0 && trace[len(trace)-1].Loc.FileName == "Top-level function call":
		failed.Reason = jsonnet.InvalidArguments
	}
	for i := len(runtime.StackTrace) - 1; i >= 0; i-- {
		at := runtime.StackTrace[i]
		if inStandardLibrary(at.Loc) || at.Loc.Begin.Line == 0 {
			continue
		}
		failed.Frames = append(failed.Frames, frame(at.Loc, at.Name))
	}
	return failed
}

func inStandardLibrary(location ast.LocationRange) bool {
	return location.File != nil && location.File.DiagnosticFileName == "<std>" || location.FileName == "<std>"
}

func frame(location ast.LocationRange, function string) jsonnet.Frame {
	file := location.FileName
	if location.File != nil {
		file = string(location.File.DiagnosticFileName)
	}
	return jsonnet.Frame{
		File: file,
		Line: location.Begin.Line, Column: location.Begin.Column,
		EndLine: location.End.Line, EndColumn: location.End.Column,
		Function: function,
	}
}
