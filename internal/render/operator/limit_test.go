package operator

import (
	"context"
	"testing"
	"time"

	"golang.org/x/time/rate"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// full is an evaluator without room.
type full struct{ Evaluator }

func (full) Evaluate(context.Context, jsonnet.Request) (*jsonnet.Result, error) {
	return nil, &jsonnet.Error{Reason: jsonnet.EvaluationUnavailable, Message: "no room"}
}

func TestLimit_EvaluationsThatFoundNoRoomAreNotCounted(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &snippets{options: Options{Evaluator: full{}, Now: func() time.Time {
		now = now.Add(time.Millisecond) // time passes between any two steps
		return now
	}}}
	past := &recollection{bucket: rate.NewLimiter(rate.Every(time.Hour), 1)}
	for range 3 {
		s := &scope{snippet: &renderv1.JsonnetSnippet{}, past: past}
		if _, err := c.limit(t.Context(), s); err != nil {
			t.Fatalf("limit: %v, want an evaluation to be allowed: none has taken place", err)
		}
		if _, err := c.evaluate(t.Context(), s); reconcile.ReasonOf(err) != renderv1.ReasonEvaluationUnavailable {
			t.Fatalf("evaluate: %v", err)
		}
	}
	s := &scope{snippet: &renderv1.JsonnetSnippet{}, past: past}
	if _, err := c.limit(t.Context(), s); err != nil {
		t.Fatalf("limit: %v", err)
	}
	if _, err := c.limit(t.Context(), s); reconcile.ReasonOf(err) != renderv1.ReasonRateLimited {
		t.Errorf("limit after what may have been an evaluation: %v, want the reason RateLimited", err)
	}
}
