package turns

import (
	"runtime"
	"time"
)

const (
	// quick is how long work may take before it is long: as long as Go lets a goroutine run before it looks for others.
	quick = 10 * time.Millisecond
	// slice is how long a turn is when others wait for one: short enough that many advance within a timeout, long enough
	// that changing costs nothing.
	slice = 5 * time.Millisecond
)

// Turns is how much long work may run at a time. It is safe for concurrent use. A nil *Turns bounds nothing.
type Turns struct {
	taken chan struct{} // holds a token for each turn that is taken; those who wait are served in their order
	quick time.Duration
}

// New returns n turns.
func New(n int) *Turns {
	return &Turns{taken: make(chan struct{}, max(n, 1)), quick: quick}
}

// Turn is one piece of work and its place among the others. It is used by one goroutine, which must end soon after the
// work: its thread keeps the low priority that long work gets.
type Turn struct {
	turns *Turns
	done  <-chan struct{}
	began time.Time // the work, or the present turn
	long  bool
	held  bool
}

// Begin notes the beginning of a piece of work. It does not wait for a turn when done is closed.
func (t *Turns) Begin(done <-chan struct{}) *Turn {
	if t == nil {
		return nil
	}
	return &Turn{turns: t, done: done, began: time.Now()}
}

// Pause lets others run. Work calls it every few tenths of a millisecond. It returns without a turn when done is closed:
// then the work has to end.
func (t *Turn) Pause() {
	if t == nil {
		runtime.Gosched()
		return
	}
	now := time.Now()
	switch {
	case !t.long && now.Sub(t.began) < t.turns.quick:
		runtime.Gosched()
		return
	case !t.long:
		t.long = true
		lowerPriority()
	case t.held && now.Sub(t.began) < slice:
		return
	}
	t.End()
	select {
	case t.turns.taken <- struct{}{}:
		t.held = true
		t.began = time.Now()
	case <-t.done:
	}
}

// End gives the turn back, if there is one.
func (t *Turn) End() {
	if t != nil && t.held {
		<-t.turns.taken
		t.held = false
	}
}
