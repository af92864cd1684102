package reconcile

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Traced gives a step a span of its own. Spans tell names and reasons: messages may quote what is secret.
func Traced[S any](tracer trace.Tracer, name string, step Step[S]) Step[S] {
	return func(ctx context.Context, s *S) (Outcome, error) {
		ctx, span := tracer.Start(ctx, name)
		defer span.End()
		outcome, err := step(ctx, s)
		if err != nil {
			span.SetStatus(codes.Error, ReasonOf(err))
		}
		return outcome, err
	}
}
