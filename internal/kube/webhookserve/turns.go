package webhookserve

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Turns shares work between namespaces: each has one turn at a time, and all together have a few.
type Turns struct {
	all chan struct{}

	mu         sync.Mutex
	namespaces map[string]*turn
}

// turn is that of one namespace.
type turn struct {
	held  chan struct{} // has an element while it is taken
	users int           // who has it or waits for it
}

// NewTurns returns turns of which n are taken at a time.
func NewTurns(n int) *Turns {
	return &Turns{all: make(chan struct{}, n), namespaces: map[string]*turn{}}
}

// ErrBusy says that there was no turn in time.
var ErrBusy = errors.New("other objects are parsed now")

// Take waits for a turn, but not for long. The function that it returns gives the turn back.
func (t *Turns) Take(ctx context.Context, namespace string, patience time.Duration) (giveBack func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	own := t.join(namespace)
	select { // first its own, so that who waits for that keeps nobody else waiting
	case own.held <- struct{}{}:
	case <-ctx.Done():
		t.leave(namespace, own)
		return nil, ErrBusy
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-own.held
		t.leave(namespace, own)
		return nil, ErrBusy
	}
	return func() {
		<-t.all
		<-own.held
		t.leave(namespace, own)
	}, nil
}

func (t *Turns) join(namespace string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	own, ok := t.namespaces[namespace]
	if !ok {
		own = &turn{held: make(chan struct{}, 1)}
		t.namespaces[namespace] = own
	}
	own.users++
	return own
}

func (t *Turns) leave(namespace string, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(t.namespaces, namespace)
	}
}

// Namespaces is how many have a turn or wait for one.
func (t *Turns) Namespaces() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.namespaces)
}
