package obs

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Requests observes what HTTP servers are asked: a metric and a span for each request. Neither has the query or a header,
// because those may hold secrets.
type Requests struct {
	tracer  trace.Tracer
	context propagation.TraceContext
	total   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// requestBuckets reach from a cached result to a slow download, in seconds.
var requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

// NewRequests adds the metrics of requests to a registry, under the prefix of its program, such as "renderer".
func NewRequests(registry *Registry, prefix string, tracer trace.Tracer) *Requests {
	return &Requests{
		tracer: tracer,
		total: registry.Counter(prefix+"_http_requests_total",
			"requests by server, method and status code; the code is aborted where the client left before an answer", "server", "method", "code"),
		seconds: registry.Histogram(prefix+"_http_request_duration_seconds",
			"how long requests took, in seconds, until the whole response was written", requestBuckets, "server"),
	}
}

// Observe returns a handler that observes another one on behalf of a server. A trace that the client began goes on.
func (q *Requests) Observe(server string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		method := knownMethod(r.Method)
		ctx := q.context.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := q.tracer.Start(ctx, method+" "+server, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
			attribute.String("http.request.method", method), attribute.String("url.path", r.URL.Path),
			attribute.String("server.name", server)))
		answer := &response{ResponseWriter: w}
		ended := false
		defer func() { // also when the handler panics, which is how it says that the client has left
			code := "aborted"
			if ended {
				code = strconv.Itoa(answer.code())
				span.SetAttributes(attribute.Int("http.response.status_code", answer.code()))
			}
			if !ended || answer.code() >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, code)
			}
			span.End()
			q.total.WithLabelValues(server, method, code).Inc()
			q.seconds.WithLabelValues(server).Observe(time.Since(began).Seconds())
		}()
		next.ServeHTTP(answer, r.WithContext(ctx))
		ended = true
	})
}

// methods are those that are told apart; a client can invent any number of others.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

func knownMethod(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "other"
}

// response remembers the status code.
type response struct {
	http.ResponseWriter
	status int
}

func (r *response) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

func (r *response) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK { // others are informational
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// ReadFrom lets the system send a file by itself, where the writer behind can.
func (r *response) ReadFrom(from io.Reader) (int64, error) { return io.Copy(r.ResponseWriter, from) }

// Unwrap lets http.ResponseController find what is behind.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
