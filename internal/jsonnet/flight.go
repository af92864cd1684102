package jsonnet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// flight is one evaluation that any number of requests wait for.
type flight struct {
	timeout time.Duration
	ctx     context.Context //nolint:containedctx // the evaluation's own: it outlives every single request
	cancel  context.CancelFunc
	done    chan struct{} // closed when result is there
	result  *Result

	mu      sync.Mutex
	waiting int
	left    bool // the last one who waited has gone; nobody may board
}

func newFlight(timeout time.Duration) *flight {
	f := &flight{timeout: timeout, done: make(chan struct{}), waiting: 1}
	if timeout > 0 {
		f.ctx, f.cancel = context.WithTimeout(context.Background(), timeout)
	} else {
		f.ctx, f.cancel = context.WithCancel(context.Background())
	}
	return f
}

// board adds one who waits, unless the flight has been abandoned or is over.
func (f *flight) board() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left || f.ctx.Err() != nil {
		return false
	}
	f.waiting++
	return true
}

// wait returns the result, or an *Error when time runs out first. When ctx ends the caller leaves; the last one to
// leave ends the evaluation.
func (f *flight) wait(ctx context.Context) (*Result, error) {
	defer f.leave()
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.ctx.Done():
		select {
		case <-f.done: // it ended, and then its context did
		default:
			return nil, f.timedOut()
		}
	}
	if f.result.err != nil && errors.Is(f.ctx.Err(), context.DeadlineExceeded) && f.result.err.Reason == EvaluationTimeout {
		return nil, f.timedOut()
	}
	return f.result, nil
}

func (f *flight) timedOut() *Error {
	return &Error{
		Reason:  EvaluationTimeout,
		Message: fmt.Sprintf("the evaluation did not end within %s", f.timeout),
	}
}

func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.left = true
		f.cancel()
	}
}

func (f *flight) finish(result *Result) {
	f.result = result
	close(f.done)
}
