package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log" //nolint:depguard // the library takes a logger of this kind
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// Options say how a server runs.
type Options struct {
	Overrides check.Overrides // settings of the command line
	Version   string
	Log       io.Writer // for what cannot be told to the client
}

// Serve talks to a client until it says exit or the connection ends. It reports whether the client shut the server
// down in order, which is what its exit code says.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		options: o, workspace: newWorkspace(o.Overrides), queue: make(chan queued, 1024),
		pending: map[jsonrpc2.ID]context.CancelFunc{},
	}
	s.input = &input{Reader: in, ended: make(chan struct{}), release: make(chan struct{})}
	stream := jsonrpc2.NewBufferedStream(pipe{s.input, out}, jsonrpc2.VSCodeObjectCodec{})
	s.conn = jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(log.New(o.Log, "", 0)))
	s.work(ctx)
	close(s.input.release)
	_ = s.conn.Close() // the client is gone or going
	return s.state == exited
}

// input holds the end of the text back until the messages before it are answered: the connection answers nothing once
// it has seen the end.
type input struct {
	io.Reader
	once           sync.Once
	ended, release chan struct{}
}

// Read reads, and at the end waits for the server to be done.
func (i *input) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	if n == 0 && err != nil {
		i.once.Do(func() { close(i.ended) })
		<-i.release
	}
	return n, err //nolint:wrapcheck // an io.EOF is told by identity
}

type pipe struct {
	*input
	io.Writer
}

// Close closes what can be closed, so that a pending read ends.
func (p pipe) Close() error {
	if c, ok := p.Reader.(io.Closer); ok {
		if err := c.Close(); err != nil {
			return fmt.Errorf("closing the input: %w", err)
		}
	}
	return nil
}

type state uint8

const (
	starting state = iota
	running
	shutDown
	exited // after a shutdown
	left   // without one
)

// server handles the messages of one client.
type server struct {
	options   Options
	conn      *jsonrpc2.Conn
	input     *input
	workspace *workspace
	state     state
	queue     chan queued

	mu      sync.Mutex
	pending map[jsonrpc2.ID]context.CancelFunc // of requests that wait or run
}

// queued is a message that waits for its turn.
type queued struct {
	*jsonrpc2.Request
	ctx context.Context //nolint:containedctx // a cancellation reaches a message while it waits
}

// Handle takes a message off the wire. It only queues it, so that a cancellation can overtake what waits.
func (s *server) Handle(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if r.Method == "$/cancelRequest" {
		var p struct {
			ID jsonrpc2.ID `json:"id"`
		}
		if decode(r, &p) == nil {
			s.cancel(p.ID)
		}
		return
	}
	q := queued{Request: r, ctx: ctx}
	if !r.Notif {
		requestCtx, stop := context.WithCancel(ctx) //nolint:gosec // finish calls it
		q.ctx = requestCtx
		s.mu.Lock()
		s.pending[r.ID] = stop
		s.mu.Unlock()
	}
	select {
	case s.queue <- q:
	case <-ctx.Done():
	}
}

func (s *server) cancel(id jsonrpc2.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop, ok := s.pending[id]; ok {
		stop()
	}
}

// finish ends a request and tells whether it was cancelled.
func (s *server) finish(q queued) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := q.ctx.Err() != nil
	if stop, ok := s.pending[q.ID]; ok {
		stop()
		delete(s.pending, q.ID)
	}
	return was
}

// work handles messages until the client leaves. Diagnostics are published when nothing waits, so that fast typing is
// diagnosed once.
func (s *server) work(ctx context.Context) {
	for s.state != exited && s.state != left {
		if len(s.queue) == 0 {
			s.publish(ctx)
		}
		select {
		case q := <-s.queue:
			s.handle(ctx, q)
		case <-s.input.ended:
			// What came in before the end is still handled: an exit is among it, if all is well.
			if len(s.queue) == 0 {
				return
			}
			s.handle(ctx, <-s.queue)
		case <-s.conn.DisconnectNotify():
			return
		case <-ctx.Done():
			return
		}
	}
}

// handle runs one message and replies to it when it is a request. The reply has the server's context: that of a
// cancelled request is over.
func (s *server) handle(ctx context.Context, q queued) {
	result, err := s.safely(q.ctx, q.Request) //nolint:contextcheck // made from the connection's when the message came in
	if q.Notif {
		return
	}
	if s.finish(q) {
		err = &jsonrpc2.Error{Code: codeCancelled, Message: "cancelled"}
	}
	if err == nil {
		if err = s.conn.Reply(ctx, q.ID, result); err == nil {
			return
		}
	}
	var reply *jsonrpc2.Error
	if !errors.As(err, &reply) {
		reply = &jsonrpc2.Error{Code: codeRequestFailed, Message: err.Error()}
	}
	// Nothing is left to do when the client cannot be reached.
	_ = s.conn.ReplyWithError(ctx, q.ID, reply)
}

// safely keeps the server alive when a message makes it panic.
func (s *server) safely(ctx context.Context, r *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("%s: %v", r.Method, p)}
			_, _ = fmt.Fprintf(s.options.Log, "frontmatter lsp: %v\n", err)
		}
	}()
	if ctx.Err() != nil {
		return nil, nil //nolint:nilnil // the reply says that the request was cancelled
	}
	return s.dispatch(ctx, r)
}

func (s *server) dispatch(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	switch {
	case r.Method == "exit":
		if s.state == shutDown {
			s.state = exited
		} else {
			s.state = left
		}
		return nil, nil //nolint:nilnil // a notification has no result
	case r.Method == "initialize" && s.state == starting:
		return s.initialize(r)
	case s.state == starting && r.Notif, s.state == shutDown && r.Notif:
		return nil, nil //nolint:nilnil // dropped, as the protocol asks
	case s.state == starting:
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "initialize comes first"}
	case s.state == shutDown || r.Method == "initialize":
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: r.Method + " is not expected now"}
	case r.Method == "shutdown":
		s.state = shutDown
		return nil, nil //nolint:nilnil // the result of a shutdown is null
	}
	handler, ok := handlers()[r.Method]
	if !ok {
		if r.Notif {
			return nil, nil //nolint:nilnil // unknown notifications are dropped
		}
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "there is no method " + r.Method}
	}
	return handler(s, ctx, r)
}

type handler func(*server, context.Context, *jsonrpc2.Request) (any, error)

// handlers is what the server answers once it runs.
func handlers() map[string]handler {
	return map[string]handler{
		"initialized":                         func(*server, context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }, //nolint:nilnil // a notification
		"textDocument/didOpen":                (*server).didOpen,
		"textDocument/didChange":              (*server).didChange,
		"textDocument/didSave":                (*server).didSave,
		"textDocument/didClose":               (*server).didClose,
		"workspace/didChangeWatchedFiles":     (*server).didChangeWatchedFiles,
		"workspace/didChangeWorkspaceFolders": (*server).didChangeFolders,
		"textDocument/completion":             (*server).completion,
		"textDocument/hover":                  (*server).hover,
		"textDocument/formatting":             (*server).formatting,
		"textDocument/codeAction":             (*server).codeAction,
		"textDocument/documentSymbol":         (*server).documentSymbols,
		"textDocument/definition":             (*server).definition,
		"textDocument/prepareRename":          (*server).prepareRename,
		"textDocument/rename":                 (*server).rename,
	}
}

func decode(r *jsonrpc2.Request, to any) error {
	if r.Params == nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: r.Method + " needs params"}
	}
	if err := json.Unmarshal(*r.Params, to); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	return nil
}

func (s *server) initialize(r *jsonrpc2.Request) (any, error) {
	var p initializeParams
	if err := decode(r, &p); err != nil {
		return nil, err
	}
	s.state = running
	name := s.workspace.negotiate(p.Capabilities.General.PositionEncodings)
	return object{
		"capabilities": capabilities(name),
		"serverInfo":   object{"name": "frontmatter", "version": s.options.Version},
	}, nil
}
