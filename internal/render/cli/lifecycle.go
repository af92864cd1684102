package cli

import (
	"context"

	"github.com/stagewright/stagewright/internal/serving"
)

// run serves until a signal or ctx ends it, or a server fails.
func (r *renderer) run(ctx context.Context) error {
	process := &serving.Process{
		Answering: []*serving.Server{r.jsonnet}, Probes: r.management,
		Readiness: r.readiness, Waits: r.waitsForOperator, Delay: r.shutdownDelay,
		Flush: r.tracing.Shutdown, Logger: r.logger,
	}
	if r.gitops != nil {
		process.Answering = append(process.Answering, r.gitops.servers...)
		process.Work = append(process.Work, r.gitops.supervisor.Run)
		process.Work = append(process.Work, r.gitops.background...)
		process.WorkEnded = r.gitops.close
	}
	return process.Run(ctx)
}
