package cli

import (
	"context"
	"errors"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
)

// stuck is an evaluator that goes on until it is released.
type stuck struct{ begun, release chan struct{} }

func (*stuck) Version() string { return "1" }

func (s *stuck) Evaluate(context.Context, jsonnet.Job) (string, error) {
	s.begun <- struct{}{}
	<-s.release
	return "1\n", nil
}

// TestShare_LeavesRoomForHTTP: the operator has as many evaluations running as it may, and there is room for others.
func TestShare_LeavesRoomForHTTP(t *testing.T) {
	evaluator := &stuck{begun: make(chan struct{}, 10), release: make(chan struct{})}
	engine := jsonnet.NewEngine(jsonnet.Config{Evaluator: evaluator, Limits: jsonnet.Limits{MaxConcurrent: 4}})
	operator := newShare(engine, 4)
	program := func(text string) jsonnet.Request {
		return jsonnet.Request{Program: bundle.New("a", bundle.Files{"a": bundle.NewFile(text)}, nil)}
	}
	results := make(chan error, 4)
	evaluate := func(by interface {
		Evaluate(ctx context.Context, request jsonnet.Request) (*jsonnet.Result, error)
	}, text string,
	) {
		go func() {
			_, err := by.Evaluate(t.Context(), program(text))
			results <- err
		}()
		<-evaluator.begun
	}
	evaluate(operator, "1")
	evaluate(operator, "2")
	_, err := operator.Evaluate(t.Context(), program("3"))
	var refused *jsonnet.Error
	if !errors.As(err, &refused) || refused.Reason != jsonnet.EvaluationUnavailable {
		t.Errorf("a third one of the operator: %v", err)
	}
	evaluate(engine, "4") // over HTTP
	evaluate(engine, "5")
	close(evaluator.release)
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if _, err := operator.Evaluate(t.Context(), program("6")); err != nil {
		t.Errorf("after the others have ended: %v", err)
	}
	if unlimited := newShare(engine, 0); unlimited.slots != nil {
		t.Error("without a limit there is one")
	}
}
