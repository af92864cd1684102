package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// Code identifies a kind of problem for programs. Codes are stable.
type Code string

// The codes of problem documents.
const (
	CodeSnippetNotFound       Code = "snippet_not_found"
	CodeMethodNotAllowed      Code = "method_not_allowed"
	CodeNotAcceptable         Code = "not_acceptable"
	CodeInvalidArguments      Code = "invalid_arguments"
	CodeEvaluationFailed      Code = "evaluation_failed"
	CodeEvaluationLimit       Code = "evaluation_limit_exceeded"
	CodeEvaluationTimeout     Code = "evaluation_timeout"
	CodeEvaluationUnavailable Code = "evaluation_unavailable"
	CodeRequestTooLarge       Code = "request_too_large"
	CodeNotFound              Code = "not_found" // on the management server
	CodeInternal              Code = "internal_error"
)

var statusOf = map[Code]int{
	CodeSnippetNotFound:       http.StatusNotFound,
	CodeMethodNotAllowed:      http.StatusMethodNotAllowed,
	CodeNotAcceptable:         http.StatusNotAcceptable,
	CodeInvalidArguments:      http.StatusBadRequest,
	CodeEvaluationFailed:      http.StatusUnprocessableEntity,
	CodeEvaluationLimit:       http.StatusUnprocessableEntity,
	CodeEvaluationTimeout:     http.StatusGatewayTimeout,
	CodeEvaluationUnavailable: http.StatusServiceUnavailable,
	CodeRequestTooLarge:       http.StatusRequestEntityTooLarge,
	CodeNotFound:              http.StatusNotFound,
	CodeInternal:              http.StatusInternalServerError,
}

// ProblemError is an RFC 9457 problem document. Its type is the RFC's default, about:blank.
type ProblemError struct {
	Title  string      `json:"title"`
	Status int         `json:"status"`
	Detail string      `json:"detail"`
	Code   Code        `json:"code"`
	ID     string      `json:"id"` // also in the log
	Errors []Complaint `json:"errors,omitempty"`

	header http.Header // sent with the document
}

// Complaint is one error of an evaluation, at the place it was raised.
type Complaint struct {
	Message string  `json:"message"`
	File    string  `json:"file,omitempty"` // relative to the directory it is served or imported from
	Line    int     `json:"line,omitempty"`
	Column  int     `json:"column,omitempty"`
	Trace   []Place `json:"trace,omitempty"` // how evaluation got there, innermost first
}

// Place is a frame of a trace.
type Place struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Function string `json:"function,omitempty"`
}

func (p *ProblemError) Error() string { return string(p.Code) + ": " + p.Detail }

func newProblem(code Code, detail string) *ProblemError {
	status := statusOf[code]
	return &ProblemError{
		Title: http.StatusText(status), Status: status, Detail: detail, Code: code, ID: rand.Text(), header: http.Header{},
	}
}

// asProblem turns any error into a problem document.
func asProblem(err error) *ProblemError {
	var problem *ProblemError
	var evaluation *jsonnet.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &evaluation):
		return evaluationProblem(evaluation)
	case errors.As(err, &tooLarge):
		return bodyTooLarge(tooLarge.Limit)
	default:
		return newProblem(CodeInternal, "the server failed in a way it did not foresee; its log has the reason under this id")
	}
}

var codeOf = map[jsonnet.Reason]Code{
	jsonnet.EvaluationFailed:         CodeEvaluationFailed,
	jsonnet.InvalidArguments:         CodeInvalidArguments,
	jsonnet.StackExceeded:            CodeEvaluationLimit,
	jsonnet.EvaluationMemoryExceeded: CodeEvaluationLimit,
	jsonnet.EvaluationTimeout:        CodeEvaluationTimeout,
	jsonnet.EvaluationUnavailable:    CodeEvaluationUnavailable,
}

// limitFlag is the flag that sets the limit an evaluation exceeded.
var limitFlag = map[jsonnet.Reason]string{
	jsonnet.StackExceeded:            "--max-stack",
	jsonnet.EvaluationMemoryExceeded: "--max-evaluation-memory",
}

// maxTraceFrames bounds a trace to the innermost frames: a recursion has as many as the stack limit allows.
const maxTraceFrames = 50

// retryAfter is how many seconds a client should wait when all evaluation slots are taken.
const retryAfter = "1"

func evaluationProblem(err *jsonnet.Error) *ProblemError {
	problem := newProblem(codeOf[err.Reason], err.Message)
	switch err.Reason {
	case jsonnet.EvaluationUnavailable:
		problem.header.Set("Retry-After", retryAfter)
	case jsonnet.EvaluationTimeout, jsonnet.InvalidArguments:
	default:
		complaint := Complaint{Message: err.Message}
		for _, frame := range err.Frames[:min(len(err.Frames), maxTraceFrames)] {
			complaint.Trace = append(complaint.Trace, Place{frame.File, frame.Line, frame.Column, frame.Function})
		}
		switch {
		case err.At != nil: // the message begins with the place
			complaint.File, complaint.Line, complaint.Column = err.At.File, err.At.Line, err.At.Column
		case len(complaint.Trace) > 0:
			at := complaint.Trace[0]
			complaint.File, complaint.Line, complaint.Column = at.File, at.Line, at.Column
			problem.Detail = fmt.Sprintf("%s:%d:%d: %s", at.File, at.Line, at.Column, err.Message)
		}
		if flag := limitFlag[err.Reason]; flag != "" {
			problem.Detail += " (" + flag + ")"
		}
		problem.Errors = []Complaint{complaint}
	}
	return problem
}

// handlerFunc is a handler that leaves errors to its adapter.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// handle adapts a handlerFunc: the one place where errors become responses and log lines. Neither arguments nor
// messages of evaluations are logged, because both may hold secrets.
func handle(logger *slog.Logger, handler handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := safely(handler, w, r)
		if err == nil {
			return
		}
		if errors.Is(err, context.Canceled) { // the client has gone
			panic(http.ErrAbortHandler)
		}
		problem := asProblem(err)
		level := slog.LevelInfo
		attributes := []any{
			"id", problem.ID, "method", r.Method, "path", r.URL.Path, "status", problem.Status, "code", string(problem.Code),
		}
		if problem.Status >= http.StatusInternalServerError {
			level = slog.LevelWarn
		}
		if problem.Code == CodeInternal {
			level = slog.LevelError
			attributes = append(attributes, "error", err.Error())
		}
		if len(problem.Errors) > 0 && problem.Errors[0].File != "" {
			attributes = append(attributes, "file", problem.Errors[0].File, "line", problem.Errors[0].Line)
		}
		logger.Log(r.Context(), level, "request failed", attributes...)
		problem.write(w, r)
	})
}

// safely turns a panic into an error, so that it is answered and logged.
func safely(handler handlerFunc, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if crash := recover(); crash != nil && crash != http.ErrAbortHandler { //nolint:errorlint // a sentinel, not an error
			err = fmt.Errorf("panic: %v\n%s", crash, debug.Stack())
		}
	}()
	return handler(w, r)
}

func (p *ProblemError) write(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(p) // a struct of strings and numbers
	header := w.Header()
	for name, values := range p.header {
		header[name] = values
	}
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	writeBody(w, r, p.Status, body.Bytes())
}
