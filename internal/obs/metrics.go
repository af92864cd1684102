package obs

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Family describes one metric.
type Family struct {
	Name   string
	Kind   string // counter, gauge or histogram
	Labels []string
	Help   string // one sentence or two, lower case, without a full stop
}

// Registry makes metrics and keeps their descriptions, from which the reference page is made.
type Registry struct {
	registry *prometheus.Registry
	families []Family
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{registry: prometheus.NewRegistry()} }

// Counter adds a counter.
func (r *Registry) Counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.add(c, Family{name, "counter", labels, help})
	return c
}

// CounterFunc adds a counter that something else counts.
func (r *Registry) CounterFunc(name, help string, value func() float64) {
	r.add(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value), Family{name, "counter", nil, help})
}

// Gauge adds a gauge.
func (r *Registry) Gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	r.add(g, Family{name, "gauge", labels, help})
	return g
}

// GaugeFunc adds a gauge that is read when it is asked for.
func (r *Registry) GaugeFunc(name, help string, value func() float64) {
	r.add(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value), Family{name, "gauge", nil, help})
}

// Histogram adds a histogram.
func (r *Registry) Histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	r.add(h, Family{name, "histogram", labels, help})
	return h
}

// add panics when a name is taken, which is a mistake in the program that each start would show.
func (r *Registry) add(c prometheus.Collector, f Family) {
	r.registry.MustRegister(c)
	r.families = append(r.families, f)
}

// Families returns the descriptions in the order in which the metrics were added.
func (r *Registry) Families() []Family { return append([]Family(nil), r.families...) }

// Gatherer gives what is in the registry now.
func (r *Registry) Gatherer() prometheus.Gatherer { return r.registry }

// MetricsPath is where metrics are served.
const MetricsPath = "/metrics"

// maxScrapes is how many scrapes are answered at a time; more than one is rare.
const maxScrapes = 4

// Handler serves the registry's metrics together with others' at MetricsPath.
func (r *Registry) Handler(others ...prometheus.Gatherer) http.Handler {
	metrics := promhttp.HandlerFor(append(prometheus.Gatherers{r.registry}, others...), promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		ErrorHandling:       promhttp.ContinueOnError, // one collector that fails must not hide the rest
	})
	mux := http.NewServeMux()
	mux.Handle("GET "+MetricsPath, metrics)
	return mux
}

// Markdown is the table of the families, as the reference page shows it.
func (r *Registry) Markdown() string {
	var b strings.Builder
	b.WriteString("| Metric | Kind | Labels | Meaning |\n|---|---|---|---|\n")
	for _, f := range r.families {
		labels := make([]string, len(f.Labels))
		for i, label := range f.Labels {
			labels[i] = "`" + label + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Kind, strings.Join(labels, ", "), f.Help)
	}
	return b.String()
}
