package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// evaluator measures another one.
type evaluator struct {
	jsonnet.Evaluator
	seconds *prometheus.HistogramVec
}

// Evaluator returns an evaluator that measures another one.
func (m *Metrics) Evaluator(next jsonnet.Evaluator) jsonnet.Evaluator {
	return &evaluator{Evaluator: next, seconds: m.evaluations}
}

func (e *evaluator) Evaluate(ctx context.Context, job jsonnet.Job) (string, error) {
	began := time.Now()
	text, err := e.Evaluator.Evaluate(ctx, job)
	outcome := "ok"
	if err != nil {
		outcome = string(jsonnet.EvaluationFailed)
		var failed *jsonnet.Error
		if errors.As(err, &failed) {
			outcome = string(failed.Reason)
		}
	}
	e.seconds.WithLabelValues(outcome).Observe(time.Since(began).Seconds())
	return text, err
}
