package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Status says what the manager does.
type Status string

// The statuses.
const (
	Starting    Status = "starting"    // it is being made, or its caches are filled
	Reconciling Status = "reconciling" // it leads, or there is no election
	Standby     Status = "standby"     // another process leads
	Unreachable Status = "unreachable" // the API server does not answer
	Failed      Status = "failed"      // it could not start or has died, and is started again
	Stopped     Status = "stopped"     // the process ends
)

// OK says whether objects are reconciled, by this process or by another one.
func (s Status) OK() bool { return s == Reconciling || s == Standby }

// State is a reading.
type State struct {
	Status Status
	Reason string    // a sentence
	Since  time.Time // when status or reason changed last
	Starts int       // managers that were made
}

// Instance is a manager that has not been started.
type Instance interface {
	// Start runs until the context ends or it fails, and returns when nothing of it runs any more.
	Start(ctx context.Context) error
	Synced() <-chan struct{}  // closed when its caches are filled
	Elected() <-chan struct{} // closed when it leads
}

// Options are what a Supervisor is made of.
type Options struct {
	New    func(ctx context.Context) (Instance, error)
	Probe  func(ctx context.Context) error // asks the API server something small
	Synced func()                          // called when caches have been filled, for each manager; may be nil
	Name   string                          // of what is supervised, in the log; operator by default
	Works  string                          // says in a sentence what happens while Reconciling
	Logger *slog.Logger
	Timing Timing
}

// Timing is how patient a Supervisor is. Fields that are zero have their defaults.
type Timing struct {
	FirstRetry, LastRetry time.Duration // between managers that failed
	ProbeInterval         time.Duration
	ProbeTimeout          time.Duration
	// GiveUp is how long the API server may not answer before the manager is ended. A new one, when it answers again, is
	// ready sooner than the old one's watches, which by then wait long between their attempts.
	GiveUp time.Duration
	Stable time.Duration // a manager that ran for so long is restarted without delay
}

func (t Timing) complete() Timing {
	for _, f := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.FirstRetry, time.Second},
		{&t.LastRetry, 30 * time.Second},
		{&t.ProbeInterval, 2 * time.Second},
		{&t.ProbeTimeout, 3 * time.Second},
		{&t.GiveUp, 10 * time.Second},
		{&t.Stable, time.Minute},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return t
}

// Supervisor runs managers, one after the other.
type Supervisor struct {
	options Options

	mu    sync.Mutex
	state State
}

// New returns a supervisor, which Run starts.
func New(options Options) *Supervisor {
	options.Timing = options.Timing.complete()
	if options.Name == "" {
		options.Name = "operator"
	}
	return &Supervisor{options: options, state: State{Status: Starting, Reason: "the " + options.Name + " has not been started yet", Since: time.Now()}}
}

// State returns the reading of now.
func (s *Supervisor) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *Supervisor) set(status Status, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Status == status && s.state.Reason == reason {
		return
	}
	if s.state.Status != status {
		level := slog.LevelInfo
		if status == Unreachable || status == Failed {
			level = slog.LevelWarn
		}
		s.options.Logger.Log(context.Background(), level, s.options.Name, "status", string(status), "reason", reason)
	}
	s.state.Status, s.state.Reason, s.state.Since = status, reason, time.Now()
}

// Run supervises until the context ends, and returns when the last manager has ended.
func (s *Supervisor) Run(ctx context.Context) {
	timing := s.options.Timing
	retry := timing.FirstRetry
	for {
		began := time.Now()
		err := s.attempt(ctx)
		if ctx.Err() != nil {
			s.set(Stopped, "the process is shutting down")
			return
		}
		delay := retry
		retry = min(2*retry, timing.LastRetry)
		var unreachable *unreachableError
		switch {
		case errors.As(err, &unreachable):
			s.set(Unreachable, err.Error())
			delay, retry = timing.ProbeInterval, timing.FirstRetry // asking is cheap
		case time.Since(began) >= timing.Stable:
			delay, retry = 0, timing.FirstRetry
			fallthrough
		default:
			s.set(Failed, err.Error())
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

// unreachableError is that of a probe.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return "the API server does not answer: " + e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

func (s *Supervisor) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timing.ProbeTimeout)
	defer cancel()
	if err := s.options.Probe(ctx); err != nil {
		return &unreachableError{err}
	}
	return nil
}

var errEnded = errors.New("the manager ended without a reason")

// attempt runs one manager to its end, which is always an error unless the context has ended.
func (s *Supervisor) attempt(ctx context.Context) (err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("starting the manager: panic: %v", crash)
			s.options.Logger.Error("the "+s.options.Name+" crashed", "error", err.Error(), "stack", string(debug.Stack()))
		}
	}()
	if err := s.probe(ctx); err != nil {
		return err
	}
	instance, err := s.options.New(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.state.Starts++
	s.mu.Unlock()
	s.set(Starting, "the caches are being filled")
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- instance.Start(ctx) }()
	watching := &watch{supervisor: s, instance: instance, synced: instance.Synced(), elected: instance.Elected()}
	over, err := watching.until(ctx, ended)
	cancel()
	if !over {
		if last := <-ended; err == nil {
			err = last
		}
	}
	if err == nil {
		err = errEnded
	}
	return err
}

// watch follows a manager that runs.
type watch struct {
	supervisor      *Supervisor
	instance        Instance
	synced, elected <-chan struct{} // nil when they have been seen
	failingSince    time.Time       // of the probe; zero while it succeeds
}

// until returns when the manager has ended (over), when the API server has not answered for long, or when ctx has ended.
func (w *watch) until(ctx context.Context, ended <-chan error) (over bool, err error) {
	s := w.supervisor
	ticker := time.NewTicker(s.options.Timing.ProbeInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return true, err
		case <-ctx.Done():
			return false, ctx.Err()
		case <-w.synced:
			w.synced = nil
			if s.options.Synced != nil {
				s.options.Synced()
			}
		case <-w.elected:
			w.elected = nil
		case <-ticker.C:
			err := s.probe(ctx)
			switch {
			case ctx.Err() != nil:
				continue
			case err == nil:
				w.failingSince = time.Time{}
			case w.failingSince.IsZero():
				w.failingSince = time.Now()
			case time.Since(w.failingSince) >= s.options.Timing.GiveUp:
				return false, err
			}
			if err != nil {
				s.set(Unreachable, err.Error())
			}
		}
		if w.failingSince.IsZero() {
			s.set(w.status())
		}
	}
}

func (w *watch) status() (Status, string) {
	switch {
	case w.synced != nil: // whoever leads: workers wait for the caches
		return Starting, "the caches are being filled"
	case w.elected == nil:
		return Reconciling, w.supervisor.options.Works
	default:
		return Standby, "another replica holds the lease, or it is being taken"
	}
}
