package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
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

	failures := make(chan error, 2)
	for _, s := range []*server.Server{r.management, r.jsonnet} {
		go func() { failures <- s.Serve() }() // ends with Shutdown or Close below
	}
	r.readiness.Set(server.Ready)

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
	r.jsonnet.EndKeepAlives()
	if failure == nil {
		r.delay(signals)
	}
	return errors.Join(failure, r.drain())
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
func (r *renderer) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := r.jsonnet.Shutdown(ctx)
	err = errors.Join(err, r.management.Shutdown(ctx))
	r.logger.Info("stopped", "clean", err == nil)
	return err
}
