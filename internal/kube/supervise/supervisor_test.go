package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fake is a manager of a test.
type fake struct {
	synced, elected chan struct{}
	end             chan error
	running         *atomic.Int32 // over all managers of a test
	most            *atomic.Int32
}

func (f *fake) Start(ctx context.Context) error {
	f.most.Store(max(f.most.Load(), f.running.Add(1)))
	defer f.running.Add(-1)
	select {
	case <-ctx.Done():
		return nil
	case err := <-f.end:
		return err
	}
}
func (f *fake) Synced() <-chan struct{}  { return f.synced }
func (f *fake) Elected() <-chan struct{} { return f.elected }

// bench is a supervisor whose managers and API server are the test's.
type bench struct {
	*Supervisor
	managers      chan *fake
	refused       atomic.Pointer[error] // making a manager
	down          atomic.Pointer[error] // the API server
	ready         atomic.Int32
	running, most atomic.Int32
	stop          func()
}

func newBench(t *testing.T, timing Timing) *bench {
	t.Helper()
	b := &bench{managers: make(chan *fake, 100)}
	b.Supervisor = New(Options{
		New: func(context.Context) (Instance, error) {
			if refused := b.refused.Load(); refused != nil {
				return nil, *refused
			}
			f := &fake{
				synced: make(chan struct{}), elected: make(chan struct{}), end: make(chan error, 1),
				running: &b.running, most: &b.most,
			}
			b.managers <- f
			return f, nil
		},
		Probe: func(context.Context) error {
			if down := b.down.Load(); down != nil {
				return *down
			}
			return nil
		},
		Synced: func() { b.ready.Add(1) },
		Logger: slog.New(slog.DiscardHandler),
		Timing: timing,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Run(ctx)
	}()
	b.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the supervisor does not end")
		}
	})
	t.Cleanup(b.stop)
	return b
}

func (b *bench) manager(t *testing.T) *fake {
	t.Helper()
	select {
	case f := <-b.managers:
		return f
	case <-time.After(time.Minute):
		t.Fatalf("no manager is made: %+v", b.State())
		return nil
	}
}

func (b *bench) await(t *testing.T, status Status, reason string) State {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		state := b.State()
		if state.Status == status && (reason == "" || state.Reason == reason) {
			return state
		}
		if time.Now().After(deadline) {
			t.Fatalf("state %+v, want %s (%s)", state, status, reason)
		}
	}
}

var quick = Timing{
	FirstRetry: time.Millisecond, LastRetry: 4 * time.Millisecond, ProbeInterval: time.Millisecond, GiveUp: time.Hour,
}

func TestSupervisor_FollowsAManagerToItsLease(t *testing.T) {
	b := newBench(t, quick)
	f := b.manager(t)
	b.await(t, Starting, "")
	if b.ready.Load() != 0 {
		t.Error("synced before its time")
	}
	close(f.synced)
	standby := b.await(t, Standby, "")
	if b.ready.Load() != 1 {
		t.Errorf("synced %d times", b.ready.Load())
	}
	close(f.elected)
	leading := b.await(t, Reconciling, "")
	if !leading.Since.After(standby.Since) || leading.Starts != 1 {
		t.Errorf("standby %+v, leading %+v", standby, leading)
	}
	b.stop()
	if state := b.State(); state.Status != Stopped || b.running.Load() != 0 {
		t.Errorf("state %+v, %d managers run", state, b.running.Load())
	}
}

func TestSupervisor_StartsAgainWhatCannotStart(t *testing.T) {
	b := newBench(t, quick)
	b.manager(t).end <- errors.New("leader election lost")
	refused := errors.New("no kind")
	b.refused.Store(&refused)
	b.await(t, Failed, "no kind")
	b.refused.Store(nil)
	for drained := false; !drained; { // managers made before it was refused
		select {
		case f := <-b.managers:
			f.end <- errors.New("died")
		default:
			drained = true
		}
	}
	f := b.manager(t)
	close(f.synced)
	close(f.elected)
	if state := b.await(t, Reconciling, ""); state.Starts < 2 {
		t.Errorf("state %+v", state)
	}
	if most := b.most.Load(); most != 1 {
		t.Errorf("%d managers ran at a time", most)
	}
}

func TestSupervisor_TellsThatTheAPIServerIsGone(t *testing.T) {
	b := newBench(t, quick)
	f := b.manager(t)
	close(f.synced)
	close(f.elected)
	b.await(t, Reconciling, "")
	down := errors.New("connection refused")
	b.down.Store(&down)
	b.await(t, Unreachable, "the API server does not answer: connection refused")
	b.down.Store(nil)
	if state := b.await(t, Reconciling, ""); state.Starts != 1 {
		t.Errorf("state %+v", state)
	}
}

func TestSupervisor_EndsAManagerWithoutAnAPIServer(t *testing.T) {
	timing := quick
	timing.GiveUp = 5 * time.Millisecond
	b := newBench(t, timing)
	f := b.manager(t)
	close(f.synced)
	b.await(t, Standby, "")
	down := errors.New("connection refused")
	b.down.Store(&down)
	for deadline := time.Now().Add(time.Minute); b.running.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the manager runs on")
		}
	}
	b.await(t, Unreachable, "")
	b.down.Store(nil)
	f = b.manager(t)
	close(f.synced)
	close(f.elected)
	if state := b.await(t, Reconciling, ""); state.Starts != 2 {
		t.Errorf("state %+v", state)
	}
}

func TestSupervisor_SurvivesAPanic(t *testing.T) {
	var calls atomic.Int32
	s := New(Options{
		New: func(context.Context) (Instance, error) {
			if calls.Add(1) == 1 {
				panic("a bug")
			}
			return nil, fmt.Errorf("attempt %d", calls.Load())
		},
		Probe: func(context.Context) error { return nil }, Logger: slog.New(slog.DiscardHandler), Timing: quick,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	for deadline := time.Now().Add(time.Minute); calls.Load() < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is not tried again")
		}
	}
	cancel()
	<-done
}

func TestRunning_MayGrowWhileSomebodyWaits(t *testing.T) {
	var r running
	r.wait() // nothing runs
	r.add(1)
	done := make(chan struct{})
	go func() { defer close(done); r.wait() }()
	r.add(1)
	r.add(-1)
	select {
	case <-done:
		t.Error("it did not wait")
	default:
	}
	r.add(-1)
	<-done
}
