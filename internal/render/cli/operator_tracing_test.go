package cli

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/obs/obstest"
)

// TestOperator_SendsSpans of requests and of reconciles to a real receiver, in plain text and over TLS with a private
// authority. What is a secret is in none of them.
func TestOperator_SendsSpans(t *testing.T) {
	t.Parallel()
	pair, certificate, _ := kubetest.NewAuthority(t)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		certificate *tls.Certificate
		args, env   []string
	}{
		"insecure": {nil, []string{"--tracing-insecure"}, nil},
		"TLS":      {pair, nil, []string{"SSL_CERT_FILE=" + roots}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			collector := obstest.Start(t, c.certificate)
			p := newPlace(t)
			p.env = c.env
			o := p.start(t, append(c.args, "--tracing-endpoint="+collector.Address, "--snippet-directory="+directoryOf(t, "http", "function(token) 1"))...)
			s := snippet("hello", "std.extVar('v')")
			secret := "hunter2"
			s.Spec.ExternalVariables = append(s.Spec.ExternalVariables, variableOf("v", secret))
			p.Create(t, s)
			p.published(t, s)

			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+o.Address("jsonnet")+"/jsonnet/http?token="+secret, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			o.Stop(t) // which sends the rest

			span, err := collector.Find("GET jsonnet", nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(span.GetTraceId()); got != "0af7651916cd43dd8448eb211c80319c" {
				t.Errorf("the request is part of trace %s", got)
			}
			children, roots := 0, 0
			var reconcile *tracev1.Span
			for _, span := range collector.Spans() {
				if strings.Contains(span.String(), secret) {
					t.Errorf("a secret in %s", span)
				}
				if strings.HasPrefix(strings.ToLower(span.GetName()), "reconcile") {
					reconcile = span
					roots++
				}
			}
			if reconcile == nil {
				_, err := collector.Find("reconcile", nil)
				t.Fatal(err)
			}
			for _, span := range collector.Spans() {
				for _, other := range collector.Spans() {
					if bytes.Equal(span.GetParentSpanId(), other.GetSpanId()) && len(span.GetParentSpanId()) > 0 &&
						strings.HasPrefix(strings.ToLower(other.GetName()), "reconcile") {
						children++
					}
				}
			}
			if children == 0 {
				t.Errorf("%d reconciles have no spans of steps", roots)
			}
		})
	}
}

// TestOperator_WithoutItsCollectorWorksAndEnds: nothing waits for spans to be sent.
func TestOperator_WithoutItsCollectorWorksAndEnds(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	p := newPlace(t)
	o := p.start(t, "--tracing-endpoint="+silent.Addr().String(), "--tracing-insecure")
	s := snippet("hello", "1")
	p.Create(t, s)
	p.published(t, s)
	o.Stop(t)
}
