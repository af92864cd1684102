package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/obs/obstest"
	"github.com/stagewright/stagewright/internal/render/server"
)

// operatorProcess is a renderer with an operator, in a process of its own.
type operatorProcess struct{ *kubetest.Process }

// place is where operators of a test work.
type place struct {
	*kubetest.Env
	kubeconfig string
	storage    string // directory
	port       string // of the storage server in the base URL
	env        []string
}

// newPlace returns a namespace with an account that snippets can publish with.
func newPlace(t *testing.T) *place {
	t.Helper()
	e := kubetest.Start(t, renderv1.AddToScheme)
	e.NewTenant(t, "publisher", rbacv1.PolicyRule{
		APIGroups: []string{"source.toolkit.fluxcd.io"}, Resources: []string{"externalartifacts", "externalartifacts/status"},
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	})
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return &place{Env: e, kubeconfig: os.Getenv(kubetest.KubeconfigVariable), storage: t.TempDir(), port: port}
}

// start starts an operator and waits until all its servers are bound. Only the first one of a place gets the port of its
// base URL.
func (p *place) start(t *testing.T, args ...string) *operatorProcess {
	t.Helper()
	args = append([]string{
		"--enable-gitops-integration", "--kubeconfig=" + p.kubeconfig, "--watch-namespaces=" + p.Namespace,
		"--leader-election-namespace=" + p.Namespace, "--default-service-account=publisher", "--storage-path=" + p.storage,
		"--storage-base-url=http://127.0.0.1:" + p.port + "/artifacts", "--storage-listen-address=127.0.0.1", "--storage-port=" + p.port,
		"--metrics-bind-address=127.0.0.1:0", "--port=0", "--management-port=0", "--shutdown-delay=0",
	}, args...)
	environment := append([]string{asRenderer + "=1"}, p.env...)
	return &operatorProcess{kubetest.StartProcess(t, args, environment, "management", "jsonnet", "storage")}
}

// state waits until /operator says what is wanted.
func (o *operatorProcess) state(t *testing.T, code int, status string) server.OperatorState {
	t.Helper()
	var state server.OperatorState
	kubetest.Eventually(t, func(ctx context.Context) error {
		got, body, err := o.Get(ctx, "management", "/operator")
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &state); err != nil {
			return err
		}
		if got != code || state.Status != status {
			return fmt.Errorf("/operator is %d %s, want %d %s", got, body, code, status)
		}
		return nil
	})
	return state
}

// probe waits until a probe answers with a code.
func (o *operatorProcess) probe(t *testing.T, path string, code int) {
	t.Helper()
	o.Shows(t, "management", path, code, "")
}

// snippet makes a JsonnetSnippet of one file.
func snippet(name, text string) *renderv1.JsonnetSnippet {
	return &renderv1.JsonnetSnippet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       renderv1.JsonnetSnippetSpec{Files: map[string]string{"main.jsonnet": text}},
	}
}

// published waits until a snippet's newest spec is published and can be fetched.
func (p *place) published(t *testing.T, s *renderv1.JsonnetSnippet) {
	t.Helper()
	p.Await(t, s, func() error {
		ready := meta.FindStatusCondition(s.Status.Conditions, renderv1.ReadyCondition)
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != s.Generation {
			return fmt.Errorf("Ready is %+v at generation %d", ready, s.Generation)
		}
		return nil
	})
	if code, body, err := kubetest.Get(t.Context(), s.Status.ArtifactURL); err != nil || code != http.StatusOK || body == "" {
		t.Errorf("%s: status %d, %v", s.Status.ArtifactURL, code, err)
	}
}

// through returns the place behind a proxy.
func (p *place) through(t *testing.T) (*place, *kubetest.Proxy) {
	t.Helper()
	proxy := kubetest.NewProxy(t, p.kubeconfig)
	behind := *p
	behind.kubeconfig = proxy.Kubeconfig
	return &behind, proxy
}

// TestOperator_PublishesASnippet, and tells about itself: probes, /operator, metrics, and an end that loses nothing.
func TestOperator_PublishesASnippet(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.start(t)
	p.Create(t, snippet("hello", "{ hello: 'world' }"))
	o.state(t, http.StatusOK, "reconciling")
	o.probe(t, "/ready", http.StatusOK)
	s := snippet("hello", "")
	s.Namespace = p.Namespace
	p.published(t, s)
	if want := "http://127.0.0.1:" + p.port + "/artifacts/" + p.Namespace + "/hello/"; !strings.HasPrefix(s.Status.ArtifactURL, want) {
		t.Errorf("the artifact is at %s, want it below %s", s.Status.ArtifactURL, want)
	}
	var metrics string
	kubetest.Eventually(t, func(ctx context.Context) error { // a reconcile is counted after the status is written
		_, served, err := o.Get(ctx, "metrics", "/metrics")
		if err != nil {
			return err
		}
		metrics = served
		for _, want := range []string{
			`renderer_reconciles_total{kind="JsonnetSnippet",reason="Synced"}`, "renderer_operator_reconciling 1",
			"renderer_operator_starts_total 1", `renderer_storage_operation_duration_seconds_count{operation="put",result="ok"}`,
			`renderer_http_requests_total{code="200",method="GET",server="storage"}`, "renderer_evaluations_limit ",
			"controller_runtime_reconcile_total", "rest_client_requests_total", "leader_election_master_status", "go_goroutines", "process_start_time_seconds",
		} {
			if !strings.Contains(served, want) {
				return fmt.Errorf("no %s among the metrics", want)
			}
		}
		if strings.Contains(served, "renderer_artifact_bytes_count 0\n") { // a reconcile that loses a race counts again
			return errors.New("no artifact is counted")
		}
		return nil
	})
	obstest.CompareMetrics(t, metrics, "../../../docs/reference/renderer-metrics.md", "renderer_", 20)
	o.Stop(t)
}

func variableOf(name, value string) renderv1.Variable {
	return renderv1.Variable{Name: name, Value: &value}
}
