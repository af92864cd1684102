package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/render/server"
)

// operatorProcess is a renderer with an operator, in a process of its own.
type operatorProcess struct {
	*exec.Cmd
	exited chan struct{} // closed when it has; ended is how
	ended  error

	mu        sync.Mutex
	addresses map[string]string // by server
	log       []string
}

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
	o := &operatorProcess{Cmd: exec.Command(os.Args[0], args...), exited: make(chan struct{}), addresses: map[string]string{}}
	o.Env = append(append(os.Environ(), asRenderer+"=1"), p.env...)
	o.WaitDelay = 10 * time.Second
	stderr, err := o.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			o.read(lines.Bytes())
		}
		o.ended = o.Wait()
		close(o.exited)
	}()
	t.Cleanup(func() {
		_ = o.Process.Kill()
		<-o.exited
		if t.Failed() {
			t.Logf("the log of process %d:\n%s", o.Process.Pid, strings.Join(o.lines(), "\n"))
		}
	})
	kubetest.Eventually(t, func(context.Context) error {
		select {
		case <-o.exited:
			t.Fatalf("the renderer ended: %v\n%s", o.ended, strings.Join(o.lines(), "\n"))
		default:
		}
		if o.address("management") == "" || o.address("jsonnet") == "" || o.address("storage") == "" {
			return errors.New("it does not serve")
		}
		return nil
	})
	return o
}

func (o *operatorProcess) read(line []byte) {
	var parsed struct{ Msg, Server, Address string }
	o.mu.Lock()
	defer o.mu.Unlock()
	if json.Unmarshal(line, &parsed) == nil && parsed.Msg == "serving" {
		o.addresses[parsed.Server] = parsed.Address
	}
	o.log = append(o.log, string(line))
}

func (o *operatorProcess) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.log...)
}

func (o *operatorProcess) address(server string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.addresses[server]
}

// get asks one of the process's servers.
func (o *operatorProcess) get(ctx context.Context, server, path string) (code int, body string, err error) {
	return ask(ctx, "http://"+o.address(server)+path)
}

func ask(ctx context.Context, url string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// state waits until /operator says what is wanted.
func (o *operatorProcess) state(t *testing.T, code int, status string) server.OperatorState {
	t.Helper()
	var state server.OperatorState
	kubetest.Eventually(t, func(ctx context.Context) error {
		got, body, err := o.get(ctx, "management", "/operator")
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
	kubetest.Eventually(t, func(ctx context.Context) error {
		got, body, err := o.get(ctx, "management", path)
		if err == nil && got != code {
			err = fmt.Errorf("%s is %d %s, want %d", path, got, body, code)
		}
		return err
	})
}

// stop sends a signal and waits for the end.
func (o *operatorProcess) stop(t *testing.T) {
	t.Helper()
	if err := o.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-o.exited:
		if o.ended != nil {
			t.Errorf("the renderer ended with %v", o.ended)
		}
	case <-time.After(time.Minute):
		t.Error("the renderer does not end")
	}
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
	if code, body, err := ask(t.Context(), s.Status.ArtifactURL); err != nil || code != http.StatusOK || body == "" {
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
		_, served, err := o.get(ctx, "metrics", "/metrics")
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
	compareMetrics(t, metrics)
	o.stop(t)
}

// compareMetrics compares what is served with the reference page. A metric with labels appears with its first value.
func compareMetrics(t *testing.T, served string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/renderer-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented, found := map[string]string{}, map[string]string{} // from name to kind
	labelled := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `renderer_") && len(cells) == 4 {
			name := strings.Trim(cells[0], "|` ")
			documented[name], labelled[name] = cells[1], strings.TrimSpace(cells[2]) != ""
		}
	}
	for line := range strings.Lines(served) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "# TYPE renderer_") && len(fields) == 4 {
			found[fields[2]] = fields[3]
		}
	}
	for name, kind := range documented {
		if found[name] != kind && (found[name] != "" || !labelled[name]) {
			t.Errorf("%s is served as %q, documented as %s", name, found[name], kind)
		}
	}
	for name := range found {
		if documented[name] == "" {
			t.Errorf("%s is served and not documented", name)
		}
	}
	if len(documented) < 20 {
		t.Errorf("only %d metrics are documented", len(documented))
	}
}

func variableOf(name, value string) renderv1.Variable {
	return renderv1.Variable{Name: name, Value: &value}
}
