package serving

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// drainTimeout is how long accepted requests have to end once graceful shutdown has begun.
const drainTimeout = 30 * time.Second

// Process is what a program consists of once everything is bound.
type Process struct {
	Answering []*Server
	Probes    *Server // answers longest
	// Work runs besides the servers until its context ends, which happens first of all, so that another replica takes over.
	Work      []func(ctx context.Context)
	WorkEnded func() error // called when all of it has ended; may be nil

	Readiness *Readiness
	Waits     bool          // somebody else says when the process is ready, else it is at once
	Delay     time.Duration // between not being ready and the end of serving

	Flush  func(ctx context.Context) error // sends the last spans; bounds itself
	Logger *slog.Logger
}

// Run serves until a signal or ctx ends it, or a server fails.
func (p *Process) Run(ctx context.Context) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)

	servers := append([]*Server{p.Probes}, p.Answering...)
	failures := make(chan error, len(servers))
	for _, s := range servers {
		go func() { failures <- s.Serve() }() // ends with Shutdown or Close below
	}
	stopWork := p.startWork(ctx)
	if !p.Waits {
		p.Readiness.SetReady()
	}

	var failure error
	select {
	case failure = <-failures:
		p.Logger.Error("a server failed; shutting down", "error", failure)
	case s := <-signals:
		p.Logger.Info("shutting down", "signal", s.String(), "delay", p.Delay.String())
	case <-ctx.Done():
		p.Logger.Info("shutting down", "delay", p.Delay.String())
	}
	p.Readiness.Set(ShuttingDown)
	workEnded := stopWork()
	for _, s := range p.Answering {
		s.EndKeepAlives()
	}
	if failure == nil {
		p.delay(signals)
	}
	return errors.Join(failure, p.drain(workEnded))
}

// startWork runs what there is besides servers. The function that it returns ends that, and returns a channel that is closed
// when it has ended.
func (p *Process) startWork(ctx context.Context) func() <-chan struct{} {
	ended := make(chan struct{})
	// The signals are looked at above; this context ends when the rest has been told.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for _, run := range p.Work {
		running.Go(func() { run(ctx) })
	}
	go func() {
		running.Wait()
		close(ended)
	}()
	return func() <-chan struct{} {
		cancel()
		return ended
	}
}

// delay lets the orchestrator notice that this process is not ready. A second signal ends it.
func (p *Process) delay(signals <-chan os.Signal) {
	if p.Delay == 0 {
		return
	}
	timer := time.NewTimer(p.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case s := <-signals:
		p.Logger.Info("ending the shutdown delay", "signal", s.String())
	}
}

// drain answers what was accepted. The probes go last.
func (p *Process) drain(workEnded <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	errs := make([]error, 0, len(p.Answering)+2)
	for _, s := range p.Answering {
		errs = append(errs, s.Shutdown(ctx))
	}
	select {
	case <-workEnded:
		if p.WorkEnded != nil {
			errs = append(errs, p.WorkEnded())
		}
	case <-ctx.Done():
		errs = append(errs, errors.New("ending what runs besides the servers: it did not end in time"))
	}
	errs = append(errs, p.Probes.Shutdown(ctx))
	if err := p.Flush(context.WithoutCancel(ctx)); err != nil { // lost spans are no failure
		p.Logger.Warn("the last spans were not sent", "error", err.Error())
	}
	err := errors.Join(errs...)
	p.Logger.Info("stopped", "clean", err == nil)
	return err
}

// CloseAll frees the addresses of servers that were never served. Those that are nil are passed over.
func CloseAll(servers ...*Server) error {
	errs := make([]error, 0, len(servers))
	for _, s := range servers {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}
