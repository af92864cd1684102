package cli

import (
	"context"
	"fmt"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// share is the operator's part of the engine: half of the evaluations that may run at a time, so that however many snippets
// run into their timeouts, requests over HTTP find room.
type share struct {
	*jsonnet.Engine
	slots chan struct{} // nil is no limit
}

func newShare(engine *jsonnet.Engine, maxConcurrent int) *share {
	if maxConcurrent <= 0 {
		return &share{Engine: engine}
	}
	return &share{Engine: engine, slots: make(chan struct{}, max(maxConcurrent/2, 1))}
}

// Evaluate is the engine's, or an EvaluationUnavailable.
func (s *share) Evaluate(ctx context.Context, request jsonnet.Request) (*jsonnet.Result, error) {
	if s.slots == nil {
		return s.Engine.Evaluate(ctx, request)
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		return s.Engine.Evaluate(ctx, request)
	default:
		return nil, &jsonnet.Error{
			Reason: jsonnet.EvaluationUnavailable,
			Message: fmt.Sprintf("as many evaluations are running for snippets as may, half of --max-concurrent-evals (%d); it is tried again",
				cap(s.slots)),
		}
	}
}
