package stageset

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// step is an entry in the list, with the name of its span.
type step struct {
	name string
	run  reconcile.Step[scope]
}

// startSpan begins the span of a reconciliation.
func (c *stageSets) startSpan(ctx context.Context, set *stagesv1.StageSet) (context.Context, trace.Span) {
	return c.options.Tracer.Start(ctx, "reconcile StageSet", trace.WithAttributes(
		attribute.String("k8s.namespace.name", set.Namespace),
		attribute.String("stages.stageset.name", set.Name),
		attribute.Int64("stages.stageset.generation", set.Generation),
	))
}

// traced gives each step a span of its own below that of the reconciliation.
func (c *stageSets) traced(steps []step) []reconcile.Step[scope] {
	traced := make([]reconcile.Step[scope], 0, len(steps))
	for _, step := range steps {
		traced = append(traced, reconcile.Traced(c.options.Tracer, step.name, step.run))
	}
	return traced
}
