// Package obstest runs a real OTLP gRPC receiver for tests, and compares metrics with their reference.
package obstest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// Collector keeps the spans that it receives.
type Collector struct {
	collectorv1.UnimplementedTraceServiceServer
	Address string // host:port

	mu    sync.Mutex
	spans []*tracev1.Span
}

// Start runs a collector until the test ends. Without a certificate it speaks plain text.
func Start(t testing.TB, certificate *tls.Certificate) *Collector {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var options []grpc.ServerOption
	if certificate != nil {
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(certificate)))
	}
	server := grpc.NewServer(options...)
	c := &Collector{Address: listener.Addr().String()}
	collectorv1.RegisterTraceServiceServer(server, c)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // it is stopped
	}()
	t.Cleanup(func() {
		server.Stop()
		<-ended
	})
	return c
}

// Export is what programs call.
func (c *Collector) Export(
	_ context.Context, request *collectorv1.ExportTraceServiceRequest,
) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// Spans returns what was received.
func (c *Collector) Spans() []*tracev1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*tracev1.Span(nil), c.spans...)
}

// Find returns a span of a name that satisfies a condition, which may be nil; its error lists the names there are.
func (c *Collector) Find(name string, condition func(*tracev1.Span) bool) (*tracev1.Span, error) {
	names := map[string]int{}
	for _, span := range c.Spans() {
		if span.GetName() == name && (condition == nil || condition(span)) {
			return span, nil
		}
		names[span.GetName()]++
	}
	return nil, fmt.Errorf("there is no such span %q; received: %v", name, names)
}
