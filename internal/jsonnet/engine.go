package jsonnet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stagewright/stagewright/internal/lru"
)

// Limits bound what evaluations may take. A zero turns the limit off, or leaves it to the evaluator (MaxStack).
type Limits struct {
	Timeout       time.Duration // of one evaluation
	MaxConcurrent int           // evaluations at a time; further ones are refused
	MaxStack      int           // Jsonnet call depth
	MaxMemory     int64         // bytes of one evaluation
	CacheBytes    int64         // results kept
}

// Config is what an Engine is made of.
type Config struct {
	Evaluator Evaluator
	Limits    Limits
	External  map[string]Binding // external variables of every program; a request's own win
	Trace     func(TraceMessage) // receives std.trace; nil drops it
}

// Engine evaluates programs. It answers from its cache while the files behind a result are unchanged, and lets identical
// requests share one evaluation. It is safe for concurrent use.
type Engine struct {
	config   Config
	external [sha256.Size]byte
	results  *lru.Cache[key, *Result]

	mu      sync.Mutex
	flights map[key]*flight

	counters counters
}

// Request asks for a program's value.
type Request struct {
	Program   Workspace
	Arguments map[string]Binding // top-level arguments, by parameter name
	External  map[string]Binding // external variables of this request alone, by name
	Quiet     bool               // std.trace is dropped, because what it tells may be secret
}

// bare is the request without arguments.
func (r Request) bare() Request { return Request{Program: r.Program, External: r.External} }

// Result is the value of a program, or the error that evaluating it gives, with the look-ups it depends on.
type Result struct {
	JSON    []byte            // ends with a line feed; shared, not to be changed
	Sum     [sha256.Size]byte // SHA-256 of JSON
	Lookups Lookups
	err     *Error
	anyArgs bool // the program is no function: the result is the same for all arguments
}

// Counters are totals since the engine was made, and gauges of now.
type Counters struct {
	Evaluations int64 // begun
	Cached      int64 // requests that were answered without one
	Rejected    int64 // requests refused by MaxConcurrent
	TimedOut    int64
	InFlight    int64 // running now, those that have timed out and have not ended included
}

type counters struct {
	evaluations, cached, rejected, timedOut, inFlight atomic.Int64
}

type key [sha256.Size]byte

// NewEngine returns an engine.
func NewEngine(config Config) *Engine {
	h := sha256.New()
	hashText(h, config.Evaluator.Version())
	hashNumber(h, uint64(config.Limits.MaxStack))
	hashNumber(h, uint64(config.Limits.MaxMemory))
	hashBindings(h, config.External)
	e := &Engine{
		config:  config,
		results: lru.New[key, *Result](config.Limits.CacheBytes),
		flights: map[key]*flight{},
	}
	h.Sum(e.external[:0])
	return e
}

// Version names everything besides a request that results depend on: the evaluator, the limits that are part of a result,
// and the external variables of every program. It tells nothing about the values of these.
func (e *Engine) Version() string { return hex.EncodeToString(e.external[:]) }

// Counters returns the engine's counters.
func (e *Engine) Counters() Counters {
	return Counters{
		Evaluations: e.counters.evaluations.Load(),
		Cached:      e.counters.cached.Load(),
		Rejected:    e.counters.rejected.Load(),
		TimedOut:    e.counters.timedOut.Load(),
		InFlight:    e.counters.inFlight.Load(),
	}
}

// sharedAttempts is how often a request looks for a result that its files still agree with, before it settles for one
// that was begun after the request came.
const sharedAttempts = 3

// Evaluate returns the value of a program as its files are now. The error is an *Error, or the context's when that ends
// first; then the evaluation goes on for others who wait for it, and is stopped when nobody does.
func (e *Engine) Evaluate(ctx context.Context, request Request) (*Result, error) {
	k, bare := e.key(request), e.key(request.bare())
	for attempt := range sharedAttempts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if result := e.cached(ctx, k, bare); result != nil {
			e.counters.cached.Add(1)
			return result.unpack()
		}
		f, leads, err := e.join(k, request)
		if err != nil {
			return nil, err
		}
		result, err := f.wait(ctx)
		if err != nil {
			return nil, err
		}
		// Files may have changed while it was evaluated, or before this request came: then it is not the answer. One that
		// was begun for this request is, if files change faster than they can be evaluated.
		if result.Lookups.Unchanged(ctx) || leads && attempt > 0 {
			return result.unpack()
		}
	}
	f, err := e.start(request, nil)
	if err != nil {
		return nil, err
	}
	result, err := f.wait(ctx)
	if err != nil {
		return nil, err
	}
	return result.unpack()
}

// cached returns a result that is still true: one for these very arguments, or one that holds for all.
func (e *Engine) cached(ctx context.Context, k, bare key) *Result {
	if result, ok := e.results.Get(k); ok && result.Lookups.Unchanged(ctx) {
		return result
	}
	if result, ok := e.results.Get(bare); ok && result.anyArgs && result.Lookups.Unchanged(ctx) {
		return result
	}
	return nil
}

// join returns the flight that evaluates k, begun now if there is none.
func (e *Engine) join(k key, request Request) (f *flight, leads bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f, ok := e.flights[k]; ok && f.board() {
		return f, false, nil
	}
	f, err = e.start(request, &k)
	if err != nil {
		return nil, false, err
	}
	e.flights[k] = f
	return f, true, nil
}

// start begins an evaluation, if there is room for one. With a key its result is kept; the caller holds the lock then.
func (e *Engine) start(request Request, k *key) (*flight, error) {
	if limit := e.config.Limits.MaxConcurrent; !e.takeSlot(int64(limit)) {
		e.counters.rejected.Add(1)
		return nil, &Error{
			Reason:  EvaluationUnavailable,
			Message: fmt.Sprintf("as many evaluations are running as --max-concurrent-evals allows (%d); ask again later", limit),
		}
	}
	e.counters.evaluations.Add(1)
	f := newFlight(e.config.Limits.Timeout)
	evaluated := make(chan *Result, 1)
	// A goroutine that does nothing else: an evaluator may leave its thread with a low priority.
	go func() { evaluated <- e.run(f.ctx, request) }()
	go e.fly(f, evaluated, request, k)
	return f, nil
}

func (e *Engine) takeSlot(limit int64) bool {
	for {
		running := e.counters.inFlight.Load()
		if limit > 0 && running >= limit {
			return false
		}
		if e.counters.inFlight.CompareAndSwap(running, running+1) {
			return true
		}
	}
}

// fly follows an evaluation to its end.
func (e *Engine) fly(f *flight, evaluated <-chan *Result, request Request, k *key) {
	select {
	case result := <-evaluated:
		e.land(f, result, request, k)
		e.forget(f, k)
	case <-f.ctx.Done():
		e.forget(f, k)
		e.land(f, <-evaluated, request, k)
	}
}

// land hands out the result. The evaluation's slot is free when it has truly ended, and before anybody hears of it: who
// asks one thing after the other needs one slot.
func (e *Engine) land(f *flight, result *Result, request Request, k *key) {
	e.counters.inFlight.Add(-1)
	if k != nil && (result.err == nil || f.ctx.Err() == nil && result.err.repeatable()) {
		at := *k
		if result.anyArgs {
			at = e.key(request.bare())
		}
		e.results.Put(at, result, result.weight())
	}
	f.finish(result)
}

// forget removes a flight that nobody should board any more.
func (e *Engine) forget(f *flight, k *key) {
	if errors.Is(f.ctx.Err(), context.DeadlineExceeded) {
		e.counters.timedOut.Add(1)
	}
	if k == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flights[*k] == f {
		delete(e.flights, *k)
	}
}

func (e *Engine) run(ctx context.Context, request Request) *Result {
	session, err := request.Program.Open()
	if err != nil {
		return &Result{Lookups: noLookups{}, err: failed(err)}
	}
	defer func() { _ = session.Close() }() // nothing was written
	result := &Result{Lookups: session.Lookups()}
	text, err := e.evaluate(ctx, session, request, func() { result.anyArgs = true })
	if err != nil {
		result.err = failed(err).cut()
	}
	result.JSON = []byte(text)
	result.Sum = sha256.Sum256(result.JSON)
	return result
}

func (e *Engine) evaluate(
	ctx context.Context, session Session, request Request, argumentsIgnored func(),
) (text string, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			text, err = "", &Error{Reason: EvaluationFailed, Message: "internal error: the evaluator crashed"}
		}
	}()
	entry, err := session.Entry(ctx)
	if err != nil {
		return "", err
	}
	return e.config.Evaluator.Evaluate(ctx, Job{
		Entry:     entry,
		Importer:  session,
		External:  e.externalOf(request),
		Arguments: request.Arguments,
		MaxStack:  e.config.Limits.MaxStack,
		MaxMemory: e.config.Limits.MaxMemory,
		Trace:     e.trace(request),

		ArgumentsIgnored: argumentsIgnored,
	})
}

// externalOf returns the variables of a request, which win over those of every program.
func (e *Engine) externalOf(request Request) map[string]Binding {
	if len(request.External) == 0 {
		return e.config.External
	}
	all := maps.Clone(e.config.External)
	if all == nil {
		all = make(map[string]Binding, len(request.External))
	}
	maps.Copy(all, request.External)
	return all
}

// maxTraces is how many calls of std.trace one evaluation can make heard.
const maxTraces = 1_000

// trace returns the receiver of one evaluation's traces, which calls it from one goroutine at a time.
func (e *Engine) trace(request Request) func(TraceMessage) {
	if e.config.Trace == nil || request.Quiet {
		return nil
	}
	left := maxTraces
	return func(m TraceMessage) {
		if left--; left == 0 {
			m.Text = fmt.Sprintf("this and further messages of this evaluation are dropped: it made %d", maxTraces)
		}
		if left >= 0 {
			e.config.Trace(m)
		}
	}
}

func (r *Result) unpack() (*Result, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r, nil
}

func (r *Result) weight() int64 {
	const fixed = 512
	weight := fixed + int64(len(r.JSON)) + r.Lookups.Weight()
	if r.err != nil {
		weight += int64(len(r.err.Message)) + int64(len(r.err.Frames))*128
	}
	return weight
}

// repeatable says whether the same look-ups would give the same error again.
func (e *Error) repeatable() bool {
	return e.Reason == EvaluationFailed || e.Reason == InvalidArguments || e.Reason == StackExceeded
}

// maxMessageBytes bounds an error's message, which is the author's to write.
const maxMessageBytes = 8 << 10

// cut returns the error with a message of bounded length.
func (e *Error) cut() *Error {
	if len(e.Message) <= maxMessageBytes {
		return e
	}
	short := *e
	short.Message = strings.ToValidUTF8(e.Message[:maxMessageBytes], "") + "…"
	return &short
}

func failed(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return &Error{Reason: EvaluationFailed, Message: err.Error()}
}

// noLookups are those of an evaluation that never began: nothing vouches for its result.
type noLookups struct{}

func (noLookups) Unchanged(context.Context) bool { return true }
func (noLookups) Weight() int64                  { return 0 }

func (e *Engine) key(request Request) key {
	h := sha256.New()
	h.Write(e.external[:])
	hashText(h, request.Program.ID())
	hashBindings(h, request.Arguments)
	hashBindings(h, request.External)
	var k key
	h.Sum(k[:0])
	return k
}

func hashBindings(h hash.Hash, bindings map[string]Binding) {
	hashNumber(h, uint64(len(bindings)))
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		hashText(h, name)
		hashNumber(h, uint64(bindings[name].Kind))
		hashText(h, bindings[name].Text)
	}
}

func hashText(h hash.Hash, text string) {
	hashNumber(h, uint64(len(text)))
	h.Write([]byte(text))
}

func hashNumber(h hash.Hash, n uint64) {
	h.Write(binary.BigEndian.AppendUint64(nil, n))
}
