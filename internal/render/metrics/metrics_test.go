package metrics

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/render/storage"
)

func TestPage_IsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/renderer-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Page(), string(page)); diff != "" {
		t.Errorf("run 'make generate' (-want +got):\n%s", diff)
	}
}

// failing is an evaluator that fails as it is told.
type failing struct{ err error }

func (failing) Version() string                                         { return "1" }
func (f failing) Evaluate(context.Context, jsonnet.Job) (string, error) { return "", f.err }

// without is a store in which nothing is found and deleting fails.
type without struct{ storage.Store }

func (without) Open(context.Context, storage.Ref) (*storage.Blob, error) {
	return nil, fmt.Errorf("opening: %w", fs.ErrNotExist)
}
func (without) Delete(context.Context, storage.Ref) error { return errors.New("disk on fire") }

func TestMetrics_CountWhatTheyAreTold(t *testing.T) {
	m := New()
	m.Engine(16, func() jsonnet.Counters { return jsonnet.Counters{Evaluations: 5, InFlight: 2} })
	m.Operator(func() bool { return true }, func() int { return 3 })
	m.ReconcileEnded("JsonnetSnippet", "Synced", time.Second)
	m.ArtifactPublished(1000)
	m.RetentionFailed()
	m.SweepFailed()
	m.SpansLost()
	m.Certificate(true, nil)
	m.Certificate(false, errors.New("no"))
	m.Admission("denied")
	for _, err := range []error{nil, &jsonnet.Error{Reason: jsonnet.EvaluationTimeout}, errors.New("odd")} {
		_, _ = m.Evaluator(failing{err}).Evaluate(t.Context(), jsonnet.Job{})
	}
	_, _ = m.Store(without{}).Open(t.Context(), storage.Ref{})
	_ = m.Store(without{}).Delete(t.Context(), storage.Ref{})

	recorder := httptest.NewRecorder()
	m.Registry.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`renderer_reconciles_total{kind="JsonnetSnippet",reason="Synced"} 1`,
		`renderer_reconcile_duration_seconds_count{kind="JsonnetSnippet"} 1`,
		`renderer_artifact_bytes_sum 1000`,
		`renderer_retention_failures_total 1`,
		`renderer_storage_sweep_failures_total 1`,
		`renderer_trace_export_failures_total 1`,
		`renderer_webhook_certificate_renewals_total 1`,
		`renderer_webhook_certificate_failures_total 1`,
		`renderer_admissions_total{outcome="denied"} 1`,
		`renderer_evaluation_duration_seconds_count{outcome="ok"} 1`,
		`renderer_evaluation_duration_seconds_count{outcome="EvaluationTimeout"} 1`,
		`renderer_evaluation_duration_seconds_count{outcome="EvaluationFailed"} 1`,
		`renderer_evaluations_total 5`,
		`renderer_evaluations_in_flight 2`,
		`renderer_evaluations_limit 16`,
		`renderer_operator_reconciling 1`,
		`renderer_operator_starts_total 3`,
		`renderer_storage_operation_duration_seconds_count{operation="open",result="not_found"} 1`,
		`renderer_storage_operation_duration_seconds_count{operation="delete",result="failed"} 1`,
	} {
		if !strings.Contains(recorder.Body.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, recorder.Body.String())
		}
	}
}
