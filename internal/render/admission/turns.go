package admission

import (
	"context"
	"errors"
	"sync"
	"time"
)

// turns shares parsing between namespaces: each has one turn at a time, and all together have a few.
type turns struct {
	all chan struct{}

	mu         sync.Mutex
	namespaces map[string]*turn
}

// turn is that of one namespace.
type turn struct {
	held  chan struct{} // has an element while it is taken
	users int           // who has it or waits for it
}

func newTurns(n int) *turns {
	return &turns{all: make(chan struct{}, n), namespaces: map[string]*turn{}}
}

var errBusy = errors.New("other objects are parsed now")

// take waits for a turn, but not for long. The function that it returns gives the turn back.
func (t *turns) take(ctx context.Context, namespace string, patience time.Duration) (giveBack func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	own := t.join(namespace)
	select { // first its own, so that who waits for that keeps nobody else waiting
	case own.held <- struct{}{}:
	case <-ctx.Done():
		t.leave(namespace, own)
		return nil, errBusy
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-own.held
		t.leave(namespace, own)
		return nil, errBusy
	}
	return func() {
		<-t.all
		<-own.held
		t.leave(namespace, own)
	}, nil
}

func (t *turns) join(namespace string) *turn {
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

func (t *turns) leave(namespace string, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(t.namespaces, namespace)
	}
}
