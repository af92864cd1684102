package obs

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

func TestHandler_ServesItsOwnMetricsAndOthers(t *testing.T) {
	registry, other := NewRegistry(), NewRegistry()
	registry.Counter("demo_jobs_total", "jobs by kind", "kind").WithLabelValues("x").Add(3)
	registry.GaugeFunc("demo_limit", "how many at a time", func() float64 { return 7 })
	other.CounterFunc("other_total", "of another library", func() float64 { return 1 })
	server := httptest.NewServer(registry.Handler(other.Gatherer()))
	defer server.Close()

	cases := map[string]struct {
		path string
		code int
		want []string
	}{
		"metrics":      {"/metrics", http.StatusOK, []string{`demo_jobs_total{kind="x"} 3`, "demo_limit 7", "other_total 1"}},
		"nothing else": {"/", http.StatusNotFound, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			code, body := get(t, server.URL+c.path)
			if code != c.code {
				t.Errorf("status %d, want %d", code, c.code)
			}
			for _, line := range c.want {
				if !strings.Contains(body, line+"\n") {
					t.Errorf("no line %q in\n%s", line, body)
				}
			}
		})
	}
}

func TestHandler_ShowsTheRestWhenACollectorFails(t *testing.T) {
	registry := NewRegistry()
	registry.Gauge("demo_up", "one").WithLabelValues().Set(1)
	failing := prometheus.NewRegistry()
	failing.MustRegister(collectorFunc(func(metrics chan<- prometheus.Metric) {
		metrics <- prometheus.NewInvalidMetric(prometheus.NewDesc("bad", "", nil, nil), io.ErrUnexpectedEOF)
	}))
	server := httptest.NewServer(registry.Handler(failing))
	defer server.Close()
	if code, body := get(t, server.URL+"/metrics"); code != http.StatusOK || !strings.Contains(body, "demo_up 1") {
		t.Errorf("status %d, body %s", code, body)
	}
}

type collectorFunc func(chan<- prometheus.Metric)

func (collectorFunc) Describe(chan<- *prometheus.Desc)           {}
func (f collectorFunc) Collect(metrics chan<- prometheus.Metric) { f(metrics) }

func TestMarkdown_HasARowForEachFamily(t *testing.T) {
	registry := NewRegistry()
	registry.Counter("demo_jobs_total", "jobs by kind and outcome", "kind", "outcome")
	registry.Histogram("demo_seconds", "how long they took", []float64{1, 2})
	want := "| Metric | Kind | Labels | Meaning |\n|---|---|---|---|\n" +
		"| `demo_jobs_total` | counter | `kind`, `outcome` | jobs by kind and outcome |\n" +
		"| `demo_seconds` | histogram |  | how long they took |\n"
	if diff := cmp.Diff(want, registry.Markdown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestObserve_CountsByServerMethodAndCode(t *testing.T) {
	registry := NewRegistry()
	requests := NewRequests(registry, "demo", noop.NewTracerProvider().Tracer(""))
	handler := requests.Observe("front", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			panic(http.ErrAbortHandler)
		case "/early":
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		default:
			_, _ = io.WriteString(w, "hello")
		}
	}))
	for _, request := range [][2]string{{"GET", "/"}, {"GET", "/early"}, {"BREW", "/"}, {"GET", "/gone"}} {
		func() {
			defer func() { _ = recover() }()
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(request[0], request[1], nil))
		}()
	}
	server := httptest.NewServer(registry.Handler())
	defer server.Close()
	_, body := get(t, server.URL+"/metrics")
	for _, want := range []string{
		`demo_http_requests_total{code="200",method="GET",server="front"} 1`,
		`demo_http_requests_total{code="418",method="GET",server="front"} 1`,
		`demo_http_requests_total{code="200",method="other",server="front"} 1`,
		`demo_http_requests_total{code="aborted",method="GET",server="front"} 1`,
		`demo_http_request_duration_seconds_count{server="front"} 4`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no line %q in\n%s", want, body)
		}
	}
}

// TestObserve_KeepsWhatWritersCan: deadlines and files sent by the system.
func TestObserve_KeepsWhatWritersCan(t *testing.T) {
	requests := NewRequests(NewRegistry(), "demo", noop.NewTracerProvider().Tracer(""))
	problems := make(chan error, 1)
	server := httptest.NewServer(requests.Observe("front", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problems <- http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
		_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader("copied"))
	})))
	defer server.Close()
	if _, body := get(t, server.URL); body != "copied" {
		t.Errorf("body %q", body)
	}
	if err := <-problems; err != nil {
		t.Error(err)
	}
}

func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestObserve_GivesTheHandlerTheClientsTrace(t *testing.T) {
	requests := NewRequests(NewRegistry(), "demo", noop.NewTracerProvider().Tracer(""))
	var got trace.SpanContext
	handler := requests.Observe("front", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = trace.SpanContextFromContext(r.Context())
	}))
	request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", nil)
	request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	handler.ServeHTTP(httptest.NewRecorder(), request)
	if got.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("trace %s", got.TraceID())
	}
}
