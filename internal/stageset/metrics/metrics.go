package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/stagewright/stagewright/internal/obs"
)

const prefix = "stageset"

var (
	// secondsBuckets reach from a look at the cache to a large apply.
	secondsBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	// stageBuckets reach from a stage that was ready already to long rollouts.
	stageBuckets = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600}
)

// Metrics are those of one process.
type Metrics struct {
	Registry *obs.Registry

	reconciles       *prometheus.CounterVec
	reconcileSeconds prometheus.Observer
	stages           stages
	objects          objects
	certificates     certificates
	spansLost        prometheus.Counter
	admissions       *prometheus.CounterVec
	watching         watching
}

// stages are the metrics about stages.
type stages struct {
	ready, last *prometheus.GaugeVec
	seconds     prometheus.Observer
}

// objects count what was done to objects.
type objects struct {
	applied       *prometheus.CounterVec
	pruned, drift prometheus.Counter
}

type certificates struct {
	renewals, failures prometheus.Counter
}

// New returns metrics in a registry of their own.
func New() *Metrics {
	r := obs.NewRegistry()
	counter := func(name, help string) prometheus.Counter { return r.Counter(prefix+name, help).WithLabelValues() }
	m := &Metrics{
		Registry: r,
		reconciles: r.Counter(prefix+"_reconciles_total",
			"reconciles by the reason of the Ready condition that they left", "reason"),
		reconcileSeconds: r.Histogram(prefix+"_reconcile_duration_seconds",
			"how long reconciles took, in seconds; none of them waits for a stage", secondsBuckets).WithLabelValues(),
		stages: stages{
			ready: r.Gauge(prefix+"_stage_ready",
				"1 while a stage is Ready at the revision that is pinned for it, else 0", "namespace", "stageset", "stage"),
			last: r.Gauge(prefix+"_stage_last_duration_seconds",
				"how long a stage took from its first step until it was Ready, the last time, in seconds", "namespace", "stageset", "stage"),
			seconds: r.Histogram(prefix+"_stage_duration_seconds",
				"how long stages took from their first step until they were Ready, in seconds", stageBuckets).WithLabelValues(),
		},
		objects: objects{
			applied: r.Counter(prefix+"_applied_objects_total", "objects that were applied, by what became of them: created, configured, unchanged, recreated or skipped", "change"),
			pruned:  counter("_pruned_objects_total", "objects that were deleted because no stage renders them any more"),
			drift:   counter("_drift_corrected_objects_total", "objects that were changed by somebody else and are as they were rendered again"),
		},
		certificates: certificates{
			renewals: counter("_webhook_certificate_renewals_total", "certificates of the webhook that were replaced"),
			failures: counter("_webhook_certificate_failures_total", "failures to renew the webhook's certificate or to have it trusted"),
		},
		spansLost:  counter("_trace_export_failures_total", "batches of spans that could not be sent and are lost"),
		admissions: r.Counter(prefix+"_admissions_total", "requests to the webhook by outcome: allowed, denied, or unchecked where others had the turns", "outcome"),
	}
	m.registerWatching()
	return m
}

// Requests adds the metrics of HTTP requests. It is to be called once.
func (m *Metrics) Requests(tracer trace.Tracer) *obs.Requests {
	return obs.NewRequests(m.Registry, prefix, tracer)
}

// Controller adds the metrics of the manager. It is to be called once.
func (m *Metrics) Controller(reconciling func() bool, starts func() int) {
	m.Registry.GaugeFunc(prefix+"_controller_reconciling", "1 while this process reconciles, 0 on standby", func() float64 {
		if reconciling() {
			return 1
		}
		return 0
	})
	m.Registry.CounterFunc(prefix+"_controller_starts_total", "managers that were started; more than one means that it had to be started again", func() float64 { return float64(starts()) })
}

// watching counts what is waited for, by functions of the manager that was started last.
type watching struct {
	mu             sync.Mutex
	waits, watches func() int // nil before there is a manager
}

func (w *watching) counted(count func() func() int) func() float64 {
	return func() float64 {
		w.mu.Lock()
		now := count()
		w.mu.Unlock()
		if now == nil {
			return 0
		}
		return float64(now())
	}
}

func (m *Metrics) registerWatching() {
	m.Registry.GaugeFunc(prefix+"_waits", "StageSets that wait until objects are healthy or gone; none of them holds a worker",
		m.watching.counted(func() func() int { return m.watching.waits }))
	m.Registry.GaugeFunc(prefix+"_watches", "watches of objects that are waited for, or were a moment ago",
		m.watching.counted(func() func() int { return m.watching.watches }))
}

// Watching tells what counts the waits and the watches from now on.
func (m *Metrics) Watching(waits, watches func() int) {
	m.watching.mu.Lock()
	defer m.watching.mu.Unlock()
	m.watching.waits, m.watching.watches = waits, watches
}

// ReconcileEnded counts a reconcile.
func (m *Metrics) ReconcileEnded(reason string, took time.Duration) {
	m.reconciles.WithLabelValues(reason).Inc()
	m.reconcileSeconds.Observe(took.Seconds())
}

// StageReady tells whether a stage is Ready.
func (m *Metrics) StageReady(namespace, stageset, stage string, ready bool) {
	value := 0.0
	if ready {
		value = 1
	}
	m.stages.ready.WithLabelValues(namespace, stageset, stage).Set(value)
}

// StageTook records how long a stage took until it was Ready.
func (m *Metrics) StageTook(namespace, stageset, stage string, took time.Duration) {
	m.stages.seconds.Observe(took.Seconds())
	m.stages.last.WithLabelValues(namespace, stageset, stage).Set(took.Seconds())
}

// Applied counts applied objects by what became of them.
func (m *Metrics) Applied(change string, n int) {
	m.objects.applied.WithLabelValues(change).Add(float64(n))
}

// Pruned counts objects that were deleted.
func (m *Metrics) Pruned(n int) { m.objects.pruned.Add(float64(n)) }

// DriftCorrected counts objects that are as they were rendered again.
func (m *Metrics) DriftCorrected(n int) { m.objects.drift.Add(float64(n)) }

// ForgetStage removes what is known of one stage.
func (m *Metrics) ForgetStage(namespace, stageset, stage string) {
	m.stages.ready.DeleteLabelValues(namespace, stageset, stage)
	m.stages.last.DeleteLabelValues(namespace, stageset, stage)
}

// Forget removes what is known of a StageSet's stages.
func (m *Metrics) Forget(namespace, stageset string) {
	of := prometheus.Labels{"namespace": namespace, "stageset": stageset}
	m.stages.ready.DeletePartialMatch(of)
	m.stages.last.DeletePartialMatch(of)
}

// ForgetAll removes what is known of all stages, because another replica may tell from now on.
func (m *Metrics) ForgetAll() {
	m.stages.ready.Reset()
	m.stages.last.Reset()
}

// SpansLost counts a batch of spans that could not be sent.
func (m *Metrics) SpansLost() { m.spansLost.Inc() }

// Certificate counts a renewal of the webhook's certificate, or a failure.
func (m *Metrics) Certificate(renewed bool, err error) {
	if err != nil {
		m.certificates.failures.Inc()
	}
	if renewed {
		m.certificates.renewals.Inc()
	}
}

// Admission counts an answer of the webhook.
func (m *Metrics) Admission(outcome string) { m.admissions.WithLabelValues(outcome).Inc() }

const page = `# Metrics of ` + "`stageset-controller`" + `

<!-- Made from the program's table of metrics by ` + "`make generate`" + `; do not edit. -->

The stage controller serves metrics for Prometheus at ` + "`/metrics`" + ` on ` + "`--metrics-bind-address`" + `. Every replica has them; those
about stages come from the one that reconciles, and end with the StageSet.

Besides the metrics below there are those of controller-runtime and its libraries: ` + "`controller_runtime_*`" + `,
` + "`workqueue_*`" + `, ` + "`rest_client_*`" + `, ` + "`leader_election_*`" + `, ` + "`go_*`" + ` and ` + "`process_*`" + `.

`

// Page is the reference page.
func Page() string {
	m := New()
	m.Requests(noop.NewTracerProvider().Tracer(""))
	m.Controller(func() bool { return false }, func() int { return 0 })
	return page + m.Registry.Markdown()
}
