package turns

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// alwaysLong returns n turns for work that is long from its first pause on.
func alwaysLong(n int) *Turns {
	t := New(n)
	t.quick = 0
	return t
}

func TestPause_LetsNoMoreLongWorkRunThanThereAreTurns(t *testing.T) {
	const turns, workers, steps = 2, 8, 50
	all := alwaysLong(turns)
	var running, most atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			turn := all.Begin(t.Context().Done())
			defer turn.End()
			for range steps {
				turn.Pause()
				n := running.Add(1)
				for {
					seen := most.Load()
					if n <= seen || most.CompareAndSwap(seen, n) {
						break
					}
				}
				running.Add(-1)
			}
		})
	}
	group.Wait()
	if got := most.Load(); got > turns {
		t.Errorf("%d ran at a time, want at most %d", got, turns)
	}
	if n := len(all.taken); n != 0 {
		t.Errorf("%d turns were not given back", n)
	}
}

func TestPause_HandsTheTurnOn(t *testing.T) {
	all := alwaysLong(1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var advanced [3]atomic.Int64
	var group sync.WaitGroup
	for i := range advanced {
		group.Go(func() {
			turn := all.Begin(ctx.Done())
			defer turn.End()
			for ctx.Err() == nil {
				turn.Pause()
				advanced[i].Add(1)
				if advanced[0].Load() > 1 && advanced[1].Load() > 1 && advanced[2].Load() > 1 {
					cancel() // each has had a turn, and another one after it
				}
			}
		})
	}
	group.Wait()
	for i := range advanced {
		if n := advanced[i].Load(); n < 2 {
			t.Errorf("work %d advanced %d times beside others", i, n)
		}
	}
}

func TestPause_QuickWorkNeverWaits(t *testing.T) {
	all := alwaysLong(1)
	hog := all.Begin(t.Context().Done())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		hog.Pause() // takes the only turn
		brief := New(1).Begin(t.Context().Done())
		brief.turns = &Turns{taken: all.taken, quick: time.Hour}
		for range 100 {
			brief.Pause()
		}
		brief.End()
		hog.End()
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("quick work waits for a turn")
	}
}

func TestPause_EndsWithItsWork(t *testing.T) {
	all := alwaysLong(1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		hog := all.Begin(t.Context().Done())
		hog.Pause()
		defer hog.End()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		waiting := all.Begin(ctx.Done())
		waiting.Pause()
		waiting.End()
		if n := len(all.taken); n != 1 {
			t.Errorf("%d turns are taken by one", n)
		}
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("work whose context has ended waits for a turn")
	}
}

func TestPause_WithoutTurnsOnlyYields(t *testing.T) {
	var none *Turns
	turn := none.Begin(nil)
	turn.Pause()
	turn.End()
	if turn != nil {
		t.Errorf("got a turn %v", turn)
	}
}
