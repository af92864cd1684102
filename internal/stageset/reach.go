package stageset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

const (
	// answerTimeout bounds how long an API server of another cluster may take to begin an answer.
	answerTimeout = 15 * time.Second
	// probeTimeout is how long it is asked whether it answers at all.
	probeTimeout = 10 * time.Second
	// freshFor is how long an answer stands for the next ones, and how long a failure does.
	freshFor    = 30 * time.Second
	failedFresh = 5 * time.Second
)

// askingError says that an API server is being asked whether it answers. Who waits for that is woken; nothing is told
// meanwhile, because nothing is known.
type askingError struct{}

func (askingError) Error() string { return "the cluster is being asked whether it answers" }

// unreachableError says that an API server does not answer.
type unreachableError struct {
	cluster string // for messages
	err     error
}

func (e *unreachableError) Error() string {
	return fmt.Sprintf("the cluster in Secret %s does not answer: %v", e.cluster, e.err)
}

func (e *unreachableError) Unwrap() error { return e.err }

// probes find out without a worker whether other clusters answer: one that does not would hold each worker that asks it.
type probes struct {
	wake    func(types.NamespacedName)
	mu      sync.Mutex
	running context.Context //nolint:containedctx // that of Start, which ends all probes
	done    sync.WaitGroup
}

// NeedLeaderElection is true: who does not reconcile asks nobody.
func (p *probes) NeedLeaderElection() bool { return true }

// Start allows probes until the context ends, and then waits for them to end.
func (p *probes) Start(ctx context.Context) error {
	p.mu.Lock()
	p.running = ctx
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	p.running = nil
	p.mu.Unlock()
	p.done.Wait()
	return nil
}

// run runs a probe unless everything is ending.
func (p *probes) run(probe func(context.Context)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.running.Err() != nil {
		return false
	}
	ctx := p.running
	p.done.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		probe(ctx)
	})
	return true
}

// reach is what is known of whether an API server answers. Its round trips keep that up to date.
type reach struct {
	cluster string // for messages
	address string // that is asked
	next    http.RoundTripper

	mu      sync.Mutex
	at      time.Time // of the last answer, or of the last failure
	failed  error
	probing bool
	waiting map[types.NamespacedName]bool
}

// wrap has all requests of a configuration go through the reach.
func (r *reach) wrap(config *rest.Config) {
	r.address = strings.TrimSuffix(config.Host, "/") + "/version"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		r.next = next
		return r
	})
}

// check says whether the API server may be used now: it has answered a moment ago. Otherwise it is asked, and the user is
// woken when that is known.
func (r *reach) check(p *probes, user types.NamespacedName, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := now.Sub(r.at)
	switch {
	case r.probing:
	case r.failed == nil && !r.at.IsZero() && age < freshFor:
		return nil
	case r.failed != nil && age < failedFresh:
		return &unreachableError{r.cluster, r.failed}
	default:
		r.probing = p.run(func(ctx context.Context) { r.probe(ctx, p.wake) })
	}
	if r.waiting == nil {
		r.waiting = map[types.NamespacedName]bool{}
	}
	r.waiting[user] = true
	return askingError{}
}

// probe asks the API server for its version. Any answer will do: it is not asked what it thinks of who asks.
func (r *reach) probe(ctx context.Context, wake func(types.NamespacedName)) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, http.NoBody)
	if err == nil {
		var response *http.Response
		if response, err = r.next.RoundTrip(request); err == nil {
			_, _ = io.CopyN(io.Discard, response.Body, 4096) // so that the connection can be used again
			_ = response.Body.Close()
		}
	}
	r.note(err)
	r.mu.Lock()
	waiting := r.waiting
	r.probing, r.waiting = false, nil
	r.mu.Unlock()
	for user := range waiting {
		wake(user)
	}
}

// note keeps what became of a request.
func (r *reach) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.failed = time.Now(), err
}

// failure is why nothing more is asked for now.
func (r *reach) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil && time.Since(r.at) < failedFresh {
		return r.failed
	}
	return nil
}

var errNoAnswer = errors.New("there was no answer in time")

// RoundTrip sends a request, whose answer has to begin in time. After one that got none, others are not tried for a while.
func (r *reach) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := r.failure(); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, &unreachableError{r.cluster, err}
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	timer := time.AfterFunc(answerTimeout, func() { cancel(errNoAnswer) })
	response, err := r.next.RoundTrip(request.WithContext(ctx))
	timer.Stop()
	if err != nil {
		if request.Context().Err() == nil { // else it was the caller who gave up
			if errors.Is(context.Cause(ctx), errNoAnswer) {
				err = errNoAnswer
			}
			r.note(err)
			err = &unreachableError{r.cluster, err}
		}
		cancel(nil)
		return nil, err
	}
	r.note(nil)
	response.Body = &endingBody{response.Body, func() { cancel(nil) }}
	return response, nil
}

// WrappedRoundTripper lets client-go find the transport behind, to close its idle connections.
func (r *reach) WrappedRoundTripper() http.RoundTripper { return r.next }

// endingBody ends the context of its request when it is closed.
type endingBody struct {
	io.ReadCloser
	end func()
}

func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
