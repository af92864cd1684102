package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/obs"
)

const prefix = "renderer"

var (
	// secondsBuckets reach from a cached file to the usual timeouts.
	secondsBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	// bytesBuckets reach from 256 bytes to 64 MiB, which is the most an archive may have.
	bytesBuckets = prometheus.ExponentialBuckets(256, 4, 10)
)

// Metrics are those of one process.
type Metrics struct {
	Registry *obs.Registry

	reconciles       *prometheus.CounterVec
	reconcileSeconds *prometheus.HistogramVec
	artifactBytes    *prometheus.HistogramVec
	evaluations      *prometheus.HistogramVec
	storage          *prometheus.HistogramVec
	failures         failures
	renewals         prometheus.Counter
	admissions       *prometheus.CounterVec
}

// failures count what is tried again by itself and should still not happen for long.
type failures struct {
	retention, sweep, certificate, spans prometheus.Counter
}

// New returns metrics in a registry of their own.
func New() *Metrics {
	r := obs.NewRegistry()
	counter := func(name, help string) prometheus.Counter { return r.Counter(prefix+name, help).WithLabelValues() }
	return &Metrics{
		Registry: r,
		reconciles: r.Counter(prefix+"_reconciles_total",
			"runs of a controller by kind of the object and reason of its Ready condition", "kind", "reason"),
		reconcileSeconds: r.Histogram(prefix+"_reconcile_duration_seconds",
			"how long runs of a controller took, in seconds", secondsBuckets, "kind"),
		artifactBytes: r.Histogram(prefix+"_artifact_bytes",
			"sizes of the tarballs that were published, in bytes", bytesBuckets),
		evaluations: r.Histogram(prefix+"_evaluation_duration_seconds",
			"how long evaluations took, in seconds, by outcome: ok, or the reason of the failure; results from the cache are not counted",
			secondsBuckets, "outcome"),
		storage: r.Histogram(prefix+"_storage_operation_duration_seconds",
			"how long operations on the storage took, in seconds, by operation and result: ok, not_found or failed",
			secondsBuckets, "operation", "result"),
		failures: failures{
			retention:   counter("_retention_failures_total", "superseded artifacts that could not be removed; they are tried again"),
			sweep:       counter("_storage_sweep_failures_total", "sweeps of temporary files that failed"),
			certificate: counter("_webhook_certificate_failures_total", "failures to renew the webhook's certificate or to have it trusted"),
			spans:       counter("_trace_export_failures_total", "batches of spans that could not be sent and are lost"),
		},
		renewals:   counter("_webhook_certificate_renewals_total", "certificates of the webhook that were replaced"),
		admissions: r.Counter(prefix+"_admissions_total", "requests to the webhook by outcome: allowed, denied, or unchecked where there was no time to parse all files", "outcome"),
	}
}

// Requests adds the metrics of HTTP requests. It is to be called once.
func (m *Metrics) Requests(tracer trace.Tracer) *obs.Requests {
	return obs.NewRequests(m.Registry, prefix, tracer)
}

// Engine adds the metrics of an engine, with the limit of concurrent evaluations, 0 for none. It is to be called once.
func (m *Metrics) Engine(limit int, counters func() jsonnet.Counters) {
	of := func(value func(jsonnet.Counters) int64) func() float64 {
		return func() float64 { return float64(value(counters())) }
	}
	r := m.Registry
	r.CounterFunc(prefix+"_evaluations_total", "evaluations that were begun", of(func(c jsonnet.Counters) int64 { return c.Evaluations }))
	r.CounterFunc(prefix+"_evaluations_cached_total", "requests that were answered without an evaluation", of(func(c jsonnet.Counters) int64 { return c.Cached }))
	r.CounterFunc(prefix+"_evaluations_rejected_total", "requests that were refused because as many evaluations ran as may", of(func(c jsonnet.Counters) int64 { return c.Rejected }))
	r.CounterFunc(prefix+"_evaluations_timed_out_total", "evaluations that were stopped by their timeout", of(func(c jsonnet.Counters) int64 { return c.TimedOut }))
	r.GaugeFunc(prefix+"_evaluations_in_flight", "evaluations that run now", of(func(c jsonnet.Counters) int64 { return c.InFlight }))
	r.GaugeFunc(prefix+"_evaluations_limit", "how many evaluations may run at a time; 0 is no limit", func() float64 { return float64(limit) })
}

// Operator adds the metrics of the operator's manager. It is to be called once.
func (m *Metrics) Operator(reconciling func() bool, starts func() int) {
	m.Registry.GaugeFunc(prefix+"_operator_reconciling", "1 while this process reconciles, 0 on standby or when the operator does not run", func() float64 {
		if reconciling() {
			return 1
		}
		return 0
	})
	m.Registry.CounterFunc(prefix+"_operator_starts_total", "managers that were started; more than one means that it had to be started again", func() float64 { return float64(starts()) })
}

// ReconcileEnded counts a run of a controller.
func (m *Metrics) ReconcileEnded(kind, reason string, took time.Duration) {
	m.reconciles.WithLabelValues(kind, reason).Inc()
	m.reconcileSeconds.WithLabelValues(kind).Observe(took.Seconds())
}

// ArtifactPublished records the size of a tarball.
func (m *Metrics) ArtifactPublished(bytes int64) {
	m.artifactBytes.WithLabelValues().Observe(float64(bytes))
}

// RetentionFailed counts superseded artifacts that could not be removed.
func (m *Metrics) RetentionFailed() { m.failures.retention.Inc() }

// SweepFailed counts a sweep of temporary files that failed.
func (m *Metrics) SweepFailed() { m.failures.sweep.Inc() }

// SpansLost counts a batch of spans that could not be sent.
func (m *Metrics) SpansLost() { m.failures.spans.Inc() }

// Certificate counts a renewal of the webhook's certificate, or a failure.
func (m *Metrics) Certificate(renewed bool, err error) {
	if err != nil {
		m.failures.certificate.Inc()
	}
	if renewed {
		m.renewals.Inc()
	}
}

// Admission counts an answer of the webhook.
func (m *Metrics) Admission(outcome string) { m.admissions.WithLabelValues(outcome).Inc() }

const page = `# Metrics of ` + "`renderer`" + `

<!-- Made from the program's table of metrics by ` + "`make generate`" + `; do not edit. -->

In operator mode the renderer serves metrics for Prometheus at ` + "`/metrics`" + ` on ` + "`--metrics-bind-address`" + `. The mode that
only serves snippets has none. Every replica has them, also one that is on standby.

Besides the metrics below there are those of controller-runtime and its libraries: ` + "`controller_runtime_*`" + `,
` + "`rest_client_*`" + `, ` + "`leader_election_*`" + `, ` + "`go_*`" + ` and ` + "`process_*`" + `.

`

// Page is the reference page.
func Page() string {
	m := New()
	m.Requests(noop.NewTracerProvider().Tracer(""))
	m.Engine(0, func() jsonnet.Counters { return jsonnet.Counters{} })
	m.Operator(func() bool { return false }, func() int { return 0 })
	return page + m.Registry.Markdown()
}
