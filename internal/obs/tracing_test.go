package obs_test

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/stagewright/stagewright/internal/obs"
	"github.com/stagewright/stagewright/internal/obs/obstest"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestTracing_DeliversARequest to a real receiver, as part of the client's trace, and without what may be a secret.
func TestTracing_DeliversARequest(t *testing.T) {
	collector := obstest.Start(t, nil)
	tracing := start(t, obs.TracingOptions{Endpoint: collector.Address, Insecure: true, SampleRatio: 1})
	handler := obs.NewRequests(obs.NewRegistry(), "demo", tracing.Tracer()).Observe("front", http.NotFoundHandler())
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/some/path?password=hunter2", nil)
	request.Header.Set("Traceparent", parent)
	request.Header.Set("Authorization", "Bearer hunter2")
	handler.ServeHTTP(httptest.NewRecorder(), request)
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	span, err := collector.Find("GET front", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(span.GetTraceId()); got != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("trace %s", got)
	}
	if got := hex.EncodeToString(span.GetParentSpanId()); got != "b7ad6b7169203331" {
		t.Errorf("parent %s", got)
	}
	if text := span.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "/some/path") ||
		!strings.Contains(text, "404") {
		t.Errorf("span %s", text)
	}
}

func TestTracing_SamplesWhatNobodyElseDecided(t *testing.T) {
	cases := map[string]struct {
		ratio   float64
		sampled bool // by the client
		want    int
	}{
		"none":                    {0, false, 0},
		"all":                     {1, false, 1},
		"the client has the word": {0, true, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			collector := obstest.Start(t, nil)
			tracing := start(t, obs.TracingOptions{Endpoint: collector.Address, Insecure: true, SampleRatio: c.ratio})
			handler := obs.NewRequests(obs.NewRegistry(), "demo", tracing.Tracer()).Observe("front", http.NotFoundHandler())
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			if c.sampled {
				request.Header.Set("Traceparent", parent)
			}
			handler.ServeHTTP(httptest.NewRecorder(), request)
			if err := tracing.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := len(collector.Spans()); got != c.want {
				t.Errorf("%d spans, want %d", got, c.want)
			}
		})
	}
}

// TestTracing_OfACollectorThatSaysNothing: spans are made without waiting, more of them than the queue holds; the end
// comes by itself, and the log tells once.
func TestTracing_OfACollectorThatSaysNothing(t *testing.T) {
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // it accepts, because the system does, and never answers
	var log lines
	tracing := start(t, obs.TracingOptions{
		Endpoint: silent.Addr().String(), Insecure: true, SampleRatio: 1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	for range 20_000 {
		_, span := tracing.Tracer().Start(t.Context(), "work")
		span.End()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := tracing.Shutdown(ctx); err == nil {
		t.Error("the shutdown says that all was sent")
	}
	if ctx.Err() != nil {
		t.Error("the shutdown did not end by itself")
	}
}

func TestTracing_WithoutACollectorIsTold(t *testing.T) {
	gone, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := gone.Addr().String()
	_ = gone.Close()
	var log lines
	failed := make(chan struct{}, 100)
	tracing := start(t, obs.TracingOptions{
		Endpoint: address, Insecure: true, SampleRatio: 1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Failed: func() { failed <- struct{}{} },
	})
	_, span := tracing.Tracer().Start(t.Context(), "work")
	span.End()
	select {
	case <-failed:
	case <-time.After(time.Minute):
		t.Fatal("nobody was told")
	}
	if !strings.Contains(log.text(), "spans cannot be sent") {
		t.Errorf("log: %s", log.text())
	}
	_ = tracing.Shutdown(t.Context())
}

func TestTracing_WithoutAnEndpointDoesNothing(t *testing.T) {
	tracing := start(t, obs.TracingOptions{SampleRatio: 1})
	if _, span := tracing.Tracer().Start(t.Context(), "work"); span.IsRecording() {
		t.Error("a span is recorded for nobody")
	}
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTracing_InsecureWinsOverTheEnvironment: a certificate that the environment names must not bring TLS back.
func TestTracing_InsecureWinsOverTheEnvironment(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_INSECURE", "false")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:1")
	collector := obstest.Start(t, nil)
	tracing := start(t, obs.TracingOptions{Endpoint: collector.Address, Insecure: true, SampleRatio: 1})
	_, span := tracing.Tracer().Start(t.Context(), "work")
	span.End()
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := collector.Find("work", func(*tracev1.Span) bool { return true }); err != nil {
		t.Error(err)
	}
}

func start(t *testing.T, o obs.TracingOptions) *obs.Tracing {
	t.Helper()
	o.Service = "demo"
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	tracing, err := obs.StartTracing(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return tracing
}

// lines is a log that can be read while it is written.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
