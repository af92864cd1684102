package operator

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// step is an entry in the list, with the name of its span.
type step struct {
	name string
	run  reconcile.Step[scope]
}

// startSpan begins the span of a run. Spans tell names and reasons: messages may quote what a snippet computed.
func (c *snippets) startSpan(ctx context.Context, snippet *renderv1.JsonnetSnippet) (context.Context, trace.Span) {
	return c.options.Observe.Tracer.Start(ctx, "reconcile JsonnetSnippet", trace.WithAttributes(
		attribute.String("k8s.namespace.name", snippet.Namespace),
		attribute.String("render.snippet.name", snippet.Name),
		attribute.Int64("render.snippet.generation", snippet.Generation),
	))
}

// traced gives each step a span of its own below that of the run.
func (c *snippets) traced(steps []step) []reconcile.Step[scope] {
	traced := make([]reconcile.Step[scope], 0, len(steps))
	for _, step := range steps {
		traced = append(traced, reconcile.Traced(c.options.Observe.Tracer, step.name, step.run))
	}
	return traced
}
