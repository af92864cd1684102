package obs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// TracingOptions say where spans go.
type TracingOptions struct {
	Endpoint    string // host:port of an OTLP gRPC collector; empty is no tracing
	Insecure    bool   // no TLS
	SampleRatio float64
	Service     string // name and release of the program
	Version     string
	Logger      *slog.Logger
	Failed      func() // called for each batch of spans that was lost, for a metric; may be nil
}

const (
	// exportTimeout bounds one attempt to reach the collector.
	exportTimeout = 5 * time.Second
	// batchDelay is how long a span waits for others at most.
	batchDelay = time.Second
	// maxQueued spans wait while the collector is slow; further ones are dropped, because nothing waits for room.
	maxQueued = 4096
)

// Tracing makes spans and sends them.
type Tracing struct {
	tracer   trace.Tracer
	shutdown func(context.Context) error
}

// StartTracing returns tracing to a collector, which need not be there yet, or, without an endpoint, tracing that does
// nothing. Nothing that makes spans ever waits for the collector.
func StartTracing(ctx context.Context, o TracingOptions) (*Tracing, error) {
	if o.Endpoint == "" {
		return &Tracing{tracer: noop.NewTracerProvider().Tracer(""), shutdown: func(context.Context) error { return nil }}, nil
	}
	// The credentials are given in both cases: an option that only allows plain text would lose to credentials that the
	// environment brings.
	security := credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	if o.Insecure {
		security = insecure.NewCredentials()
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(o.Endpoint),
		otlptracegrpc.WithTLSCredentials(security), otlptracegrpc.WithTimeout(exportTimeout))
	if err != nil {
		return nil, fmt.Errorf("starting tracing to %s: %w", o.Endpoint, err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithFromEnv(), resource.WithAttributes(
		attribute.String("service.name", o.Service), attribute.String("service.version", o.Version)))
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, errors.Join(fmt.Errorf("starting tracing: %w", err), exporter.Shutdown(ctx))
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.SampleRatio))),
		sdktrace.WithBatcher(&reporting{SpanExporter: exporter, options: o},
			sdktrace.WithBatchTimeout(batchDelay), sdktrace.WithExportTimeout(exportTimeout), sdktrace.WithMaxQueueSize(maxQueued)),
	)
	return &Tracing{tracer: provider.Tracer(o.Service), shutdown: provider.Shutdown}, nil
}

// Tracer makes spans.
func (t *Tracing) Tracer() trace.Tracer { return t.tracer }

// flushTimeout bounds how long the end of a program waits for the collector.
const flushTimeout = 3 * time.Second

// Shutdown sends what has not been sent. It returns after a few seconds whether the collector answers or not.
func (t *Tracing) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := t.shutdown(ctx); err != nil {
		return fmt.Errorf("sending the last spans: %w", err)
	}
	return nil
}

// reporting is an exporter that tells the log when the collector cannot be reached and when it can again, once each. It
// hides the error from the library, which would print it.
type reporting struct {
	sdktrace.SpanExporter
	options TracingOptions
	failing atomic.Bool
}

func (r *reporting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil:
		if !r.failing.Swap(true) {
			r.options.Logger.Warn("spans cannot be sent and are lost", "endpoint", r.options.Endpoint, "error", err.Error())
		}
		if r.options.Failed != nil {
			r.options.Failed()
		}
	case r.failing.Swap(false):
		r.options.Logger.Info("spans are sent again", "endpoint", r.options.Endpoint)
	}
	return nil
}
