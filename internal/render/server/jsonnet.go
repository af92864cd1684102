package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/files"
	"github.com/stagewright/stagewright/internal/render/snippets"
)

// Finder finds the program of a name; the error is a *snippets.NotFoundError.
type Finder interface {
	Find(name string) (*files.Program, error)
}

// Evaluator returns the value of a program. *jsonnet.Engine is one.
type Evaluator interface {
	Evaluate(ctx context.Context, request jsonnet.Request) (*jsonnet.Result, error)
}

// Endpoint is the Jsonnet endpoint.
type Endpoint struct {
	Path         string // without slashes at its ends; may have several segments, or none
	Snippets     Finder
	Evaluator    Evaluator
	CacheBytes   int64         // representations kept besides the results themselves
	WriteTimeout time.Duration // of a response, counted from when it begins; 0 is no limit
	Logger       *slog.Logger
}

// Handler returns the endpoint's handler.
func (e Endpoint) Handler() http.Handler {
	h := &jsonnetHandler{endpoint: e, prefix: "/", represent: newRepresenter(e.CacheBytes)}
	if e.Path != "" {
		h.prefix = "/" + e.Path + "/"
	}
	return handle(e.Logger, h.serve)
}

type jsonnetHandler struct {
	endpoint  Endpoint
	prefix    string
	represent *representer
}

func (h *jsonnetHandler) serve(w http.ResponseWriter, r *http.Request) error {
	// A response has its whole write timeout, however long the evaluation before it takes.
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // a connection that cannot do this cannot be written to either
	defer h.limitWrite(control)

	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		problem := newProblem(CodeMethodNotAllowed, fmt.Sprintf("%s is not a method of snippets", r.Method))
		problem.header.Set("Allow", "GET, HEAD, POST")
		return problem
	}
	name, ok := strings.CutPrefix(r.URL.Path, h.prefix)
	if !ok {
		return newProblem(CodeSnippetNotFound, fmt.Sprintf("snippets are served under %s", h.prefix))
	}
	mediaTypes := acceptable(r.Header.Values("Accept"))
	if len(mediaTypes) == 0 {
		return notAcceptable("")
	}
	program, err := h.endpoint.Snippets.Find(name)
	var notFound *snippets.NotFoundError
	if errors.As(err, &notFound) {
		return newProblem(CodeSnippetNotFound, err.Error())
	} else if err != nil {
		return err
	}
	bindings, err := arguments(w, r)
	if err != nil {
		return err
	}
	result, err := h.endpoint.Evaluator.Evaluate(r.Context(), jsonnet.Request{Program: program, Arguments: bindings})
	if err != nil {
		return err
	}
	representation, err := h.represent.represent(r.Context(), result, mediaTypes, wantsGzip(r.Header.Values("Accept-Encoding")))
	if errors.Is(err, errNotAString) {
		return notAcceptable("; text/plain is only for results that are strings, and this one is not")
	} else if err != nil {
		return err
	}
	h.limitWrite(control)
	representation.write(w, r)
	return nil
}

// limitWrite starts the write timeout.
func (h *jsonnetHandler) limitWrite(control *http.ResponseController) {
	if h.endpoint.WriteTimeout > 0 {
		_ = control.SetWriteDeadline(time.Now().Add(h.endpoint.WriteTimeout))
	}
}

func notAcceptable(why string) *ProblemError {
	return newProblem(CodeNotAcceptable, "results are served as "+strings.Join(offers, ", ")+why)
}

func (rep *representation) write(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Vary", "Accept, Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodPost {
		header.Set("Cache-Control", "no-store")
	} else {
		header.Set("Cache-Control", "no-cache") // keep it, and ask whether it is still true
		header.Set("ETag", rep.etag)
		if matches(r.Header.Values("If-None-Match"), rep.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	header.Set("Content-Type", rep.mediaType)
	if rep.mediaType == mediaText {
		header.Set("Content-Type", mediaText+"; charset=utf-8")
	}
	if rep.gzipped {
		header.Set("Content-Encoding", "gzip")
	}
	writeBody(w, r, http.StatusOK, rep.body)
}

// matches says whether an If-None-Match header names the tag; it compares weakly, as RFC 9110 says.
func matches(header []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(header, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// writeBody writes a response of known length, without its body for HEAD.
func writeBody(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error means that the client has gone
	}
}
