package operator

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
)

// notebook is an Observer.
type notebook struct {
	mu        sync.Mutex
	ended     map[string]int
	published []int64
}

func (n *notebook) ReconcileEnded(kind, reason string, _ time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended == nil {
		n.ended = map[string]int{}
	}
	n.ended[kind+" "+reason]++
}

func (n *notebook) ArtifactPublished(bytes int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.published = append(n.published, bytes)
}

func (n *notebook) RetentionFailed() {}

func TestReconcile_IsTracedAndObserved(t *testing.T) {
	t.Parallel()
	const secret = "correct horse"
	spans := tracetest.NewSpanRecorder()
	notes := &notebook{}
	r := newRig(t, func(o *Options) {
		o.Observe = Observation{Observer: notes, Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")}
	})
	stop := r.start(t)
	r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: texts{"value": secret}}, library("lib", main("{}")))
	password := func(s *renderv1.JsonnetSnippet) {
		s.Spec.TLAs = []renderv1.Variable{secretVariable("p", "password", "value")}
	}
	good := snippet("good", main(`function(p) p`), password)
	bad := snippet("bad", main(`function(p) error "it is " + p`), password)
	r.Create(t, good, bad)
	r.awaitReason(t, good, renderv1.ReasonSynced)
	r.awaitReason(t, bad, renderv1.ReasonEvaluationFailed)
	l := library("lib", nil)
	l.Namespace = r.Namespace
	r.awaitLibrary(t, l, renderv1.ReasonAccepted)
	stop()

	for _, span := range spans.Ended() {
		if text := fmt.Sprint(span.Name(), span.Attributes(), span.Status(), span.Events()); strings.Contains(text, secret) {
			t.Errorf("the secret is in %s", text)
		}
	}
	want := []string{
		"withdraw", "suspend", "identify", "check", "locate", "collect", "order", "resolve", "compare", "load", "limit",
		"evaluate", "pack", "claim", "store", "publish", "remember",
	}
	if !tracedAs(spans.Ended(), "good", want, "") {
		t.Errorf("no run of the good snippet has the steps %v", want)
	}
	if !tracedAs(spans.Ended(), "bad", want[:12], renderv1.ReasonEvaluationFailed) {
		t.Errorf("no run of the bad snippet ends with its evaluation")
	}
	notes.mu.Lock()
	defer notes.mu.Unlock()
	for _, told := range []string{"JsonnetSnippet Synced", "JsonnetSnippet EvaluationFailed", "JsonnetLibrary Accepted"} {
		if notes.ended[told] == 0 {
			t.Errorf("the observer was not told of %s but of %v", told, notes.ended)
		}
	}
	if len(notes.published) != 1 || notes.published[0] <= 0 {
		t.Errorf("the observer was told of artifacts of %v bytes, want one", notes.published)
	}
}

// tracedAs says whether a run of a snippet has spans of these steps, of which the last one failed for the reason.
func tracedAs(spans []sdktrace.ReadOnlySpan, snippet string, steps []string, reason string) bool {
	for _, run := range spans {
		if run.Name() != "reconcile JsonnetSnippet" || !strings.Contains(fmt.Sprint(run.Attributes()), snippet) {
			continue
		}
		var names []string
		var last sdktrace.ReadOnlySpan
		for _, span := range spans {
			if span.Parent().SpanID() == run.SpanContext().SpanID() {
				names, last = append(names, span.Name()), span
			}
		}
		failed := last != nil && last.Status().Code == codes.Error
		if slices.Equal(names, steps) && failed == (reason != "") && (!failed || last.Status().Description == reason) {
			return true
		}
	}
	return false
}
