package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPage_IsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/stageset-controller-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Page(), string(page)); diff != "" {
		t.Errorf("run 'make generate' (-want +got):\n%s", diff)
	}
}

func scrape(m *Metrics) string {
	recorder := httptest.NewRecorder()
	m.Registry.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return recorder.Body.String()
}

func TestMetrics_CountWhatTheyAreTold(t *testing.T) {
	m := New()
	m.Controller(func() bool { return true }, func() int { return 3 })
	m.Watching(func() int { return 200 }, func() int { return 4 })
	m.ReconcileEnded("Succeeded", time.Second)
	m.StageReady("team", "shop", "db", true)
	m.StageReady("team", "shop", "app", false)
	m.StageTook("team", "shop", "db", 90*time.Second)
	m.Applied("created", 300)
	m.Pruned(2)
	m.DriftCorrected(5)
	m.SpansLost()
	m.Certificate(true, nil)
	m.Certificate(false, errors.New("no"))
	m.Admission("denied")
	got := scrape(m)
	for _, line := range []string{
		`stageset_reconciles_total{reason="Succeeded"} 1`,
		`stageset_reconcile_duration_seconds_count 1`,
		`stageset_stage_ready{namespace="team",stage="db",stageset="shop"} 1`,
		`stageset_stage_ready{namespace="team",stage="app",stageset="shop"} 0`,
		`stageset_stage_last_duration_seconds{namespace="team",stage="db",stageset="shop"} 90`,
		`stageset_stage_duration_seconds_sum 90`,
		`stageset_applied_objects_total{change="created"} 300`,
		`stageset_pruned_objects_total 2`,
		`stageset_drift_corrected_objects_total 5`,
		`stageset_trace_export_failures_total 1`,
		`stageset_webhook_certificate_renewals_total 1`,
		`stageset_webhook_certificate_failures_total 1`,
		`stageset_admissions_total{outcome="denied"} 1`,
		`stageset_controller_reconciling 1`,
		`stageset_controller_starts_total 3`,
		`stageset_waits 200`,
		`stageset_watches 4`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

// TestMetrics_StagesEndWithTheirStageSet, and those of others stay.
func TestMetrics_StagesEndWithTheirStageSet(t *testing.T) {
	m := New()
	for _, namespace := range []string{"team", "other"} {
		m.StageReady(namespace, "shop", "db", true)
		m.StageTook(namespace, "shop", "db", time.Second)
	}
	m.Forget("team", "shop")
	if got := scrape(m); strings.Contains(got, `namespace="team"`) || strings.Count(got, `namespace="other"`) != 2 {
		t.Errorf("after one is gone:\n%s", got)
	}
	m.ForgetAll()
	if got := scrape(m); strings.Contains(got, `namespace=`) {
		t.Errorf("after the lease is lost:\n%s", got)
	}
}

// TestMetrics_AStageCanGo, and the others of its StageSet stay.
func TestMetrics_AStageCanGo(t *testing.T) {
	m := New()
	for _, stage := range []string{"db", "app"} {
		m.StageReady("team", "shop", stage, true)
		m.StageTook("team", "shop", stage, time.Second)
	}
	m.ForgetStage("team", "shop", "db")
	if got := scrape(m); strings.Contains(got, `stage="db"`) || strings.Count(got, `stage="app"`) != 2 {
		t.Errorf("after one is gone:\n%s", got)
	}
}
