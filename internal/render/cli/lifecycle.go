package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/stagewright/stagewright/internal/render/server"
)

// drainTimeout is how long accepted requests have to end once graceful shutdown has begun.
const drainTimeout = 30 * time.Second

// run serves until a signal or ctx ends it, or a server fails.
func (r *renderer) run(ctx context.Context) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)

	servers := append([]*server.Server{r.management}, r.answering()...)
	failures := make(chan error, len(servers))
	for _, s := range servers {
		go func() { failures <- s.Serve() }() // ends with Shutdown or Close below
	}
	stopOperator := r.startOperator(ctx)
	if !r.waitsForOperator {
		r.readiness.SetReady()
	}

	var failure error
	select {
	case failure = <-failures:
		r.logger.Error("a server failed; shutting down", "error", failure)
	case s := <-signals:
		r.logger.Info("shutting down", "signal", s.String(), "delay", r.shutdownDelay.String())
	case <-ctx.Done():
		r.logger.Info("shutting down", "delay", r.shutdownDelay.String())
	}
	r.readiness.Set(server.ShuttingDown)
	operatorEnded := stopOperator() // at once, so that another replica takes over
	for _, s := range r.answering() {
		s.EndKeepAlives()
	}
	if failure == nil {
		r.delay(signals)
	}
	return errors.Join(failure, r.drain(operatorEnded))
}

// answering are the servers besides that of the probes.
func (r *renderer) answering() []*server.Server {
	servers := []*server.Server{r.jsonnet}
	if r.gitops != nil {
		servers = append(servers, r.gitops.servers...)
	}
	return servers
}

// startOperator runs what operator mode has besides servers. The function that it returns ends that, and returns a channel
// that is closed when it has ended.
func (r *renderer) startOperator(ctx context.Context) func() <-chan struct{} {
	ended := make(chan struct{})
	if r.gitops == nil {
		close(ended)
		return func() <-chan struct{} { return ended }
	}
	// The signals are looked at above; this context ends when the rest has been told.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { r.gitops.supervisor.Run(ctx) })
	for _, run := range r.gitops.background {
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
func (r *renderer) delay(signals <-chan os.Signal) {
	if r.shutdownDelay == 0 {
		return
	}
	timer := time.NewTimer(r.shutdownDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case s := <-signals:
		r.logger.Info("ending the shutdown delay", "signal", s.String())
	}
}

// drain answers what was accepted. The probes go last.
func (r *renderer) drain(operatorEnded <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	answering := r.answering()
	errs := make([]error, 0, len(answering)+2)
	for _, s := range answering {
		errs = append(errs, s.Shutdown(ctx))
	}
	select {
	case <-operatorEnded:
		if r.gitops != nil {
			errs = append(errs, r.gitops.close())
		}
	case <-ctx.Done():
		errs = append(errs, errors.New("ending the operator: it did not end in time"))
	}
	errs = append(errs, r.management.Shutdown(ctx))
	if err := r.tracing.Shutdown(context.WithoutCancel(ctx)); err != nil { // bounds itself; lost spans are no failure
		r.logger.Warn("the last spans were not sent", "error", err.Error())
	}
	err := errors.Join(errs...)
	r.logger.Info("stopped", "clean", err == nil)
	return err
}
