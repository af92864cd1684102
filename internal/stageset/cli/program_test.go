package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// asProgram makes the test binary be the program.
const asProgram = "STAGEWRIGHT_TEST_AS_STAGESET_CONTROLLER"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func loopback(t *testing.T) netip.AddrPort {
	t.Helper()
	return netip.MustParseAddrPort("127.0.0.1:80")
}

// process is a stage controller in a process of its own.
type process struct {
	*exec.Cmd
	exited chan struct{} // closed when it has; ended is how
	ended  error

	mu        sync.Mutex
	addresses map[string]string // by server
	log       []string
}

// start starts a stage controller for a namespace and waits until its servers are bound.
func start(t *testing.T, e *kubetest.Env, args ...string) *process {
	t.Helper()
	args = append([]string{
		"--kubeconfig=" + os.Getenv(kubetest.KubeconfigVariable), "--watch-namespaces=" + e.Namespace,
		"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0", "--gate-bind-address=127.0.0.1:0",
		"--enable-webhook=false",
	}, args...)
	p := &process{Cmd: exec.Command(os.Args[0], args...), exited: make(chan struct{}), addresses: map[string]string{}}
	p.Env = append(os.Environ(), asProgram+"=1", "POD_NAMESPACE="+e.Namespace)
	p.WaitDelay = 10 * time.Second
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.read(lines.Bytes())
		}
		p.ended = p.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("the log of process %d:\n%s", p.Process.Pid, p.text())
		}
	})
	kubetest.Eventually(t, func(context.Context) error {
		select {
		case <-p.exited:
			t.Fatalf("it ended: %v\n%s", p.ended, p.text())
		default:
		}
		if p.address("probes") == "" || p.address("gate") == "" || p.address("metrics") == "" {
			return errors.New("it does not serve")
		}
		return nil
	})
	return p
}

func (p *process) read(line []byte) {
	var parsed struct{ Msg, Server, Address string }
	p.mu.Lock()
	defer p.mu.Unlock()
	if json.Unmarshal(line, &parsed) == nil && parsed.Msg == "serving" {
		p.addresses[parsed.Server] = parsed.Address
	}
	p.log = append(p.log, string(line))
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

func (p *process) address(server string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addresses[server]
}

// shows waits until a path answers with a code and a text.
func (p *process) shows(t *testing.T, server, path string, code int, text string) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address(server)+path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if response.StatusCode != code || !strings.Contains(string(body), text) {
			return fmt.Errorf("%s: %d, want %d and %q (%w)", path, response.StatusCode, code, text, err)
		}
		return nil
	})
}

// end tells the process to end and waits until it has.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
		if p.ended != nil {
			t.Errorf("it ended with %v", p.ended)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

func stageSet(e *kubetest.Env, name string) *stagesv1.StageSet {
	return &stagesv1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.Namespace},
		Spec:       stagesv1.StageSetSpec{Suspend: true, Stages: []stagesv1.Stage{{Name: "app", SourceRef: stagesv1.SourceReference{Name: "app"}}}},
	}
}

func TestProgram_ServesAndEnds(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t, stagesv1.AddToScheme)
	p := start(t, e, "--object-level-kms")
	p.shows(t, "probes", "/healthz", http.StatusOK, "alive")
	p.shows(t, "probes", "/readyz", http.StatusOK, "ready")
	p.shows(t, "gate", "/gate/"+e.Namespace+"/shop/app", http.StatusServiceUnavailable, `"ready":false`)
	p.shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 1")
	p.shows(t, "metrics", "/metrics", http.StatusOK, `stageset_http_requests_total{code="503",method="GET",server="gate"}`)
	p.shows(t, "metrics", "/metrics", http.StatusOK, "rest_client_requests_total")
	if !strings.Contains(p.text(), "this release does not decrypt files yet") {
		t.Error("it does not say what it does not do")
	}
	p.end(t)
}

// TestProgram_ReplicasTakeTurns: one reconciles, both serve, and the lease is free as soon as its holder ends.
func TestProgram_ReplicasTakeTurns(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t, stagesv1.AddToScheme)
	first := start(t, e, "--leader-elect")
	first.shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 1")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "stageset-controller.stagewright.dev"}}
	e.Await(t, lease, func() error { return nil })
	holder := *lease.Spec.HolderIdentity

	second := start(t, e, "--leader-elect")
	second.shows(t, "probes", "/readyz", http.StatusOK, "ready")
	second.shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 0")
	set := stageSet(e, "shop")
	e.Create(t, set)
	e.Await(t, set, func() error { return nil })
	set.Status = stagesv1.StageSetStatus{
		ObservedGeneration: set.Generation,
		LastApplied:        &stagesv1.Snapshot{ID: "1", Revisions: []stagesv1.StageRevision{{Stage: "app", Revision: "r1"}}},
		Stages:             []stagesv1.StageStatus{{Name: "app", Phase: stagesv1.PhaseReady, AppliedRevision: "r1"}},
	}
	if err := e.Client.Status().Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*process{first, second} {
		p.shows(t, "gate", "/gate/"+e.Namespace+"/shop/app", http.StatusOK, `{"ready":true,"phase":"Ready","revision":"r1"}`)
	}
	first.end(t)
	second.shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 1")
	e.Await(t, lease, func() error {
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == holder {
			return errors.New("the lease is not the second replica's")
		}
		return nil
	})
	second.end(t)
}

// webhookService is the default of --webhook-service-name.
const webhookService = "stageset-controller-webhook"

// TestProgram_WebhookOfTheManifest: with the manifest of the repository, the API server trusts the certificate that the
// process made and refuses what is wrong by its field.
func TestProgram_WebhookOfTheManifest(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t, stagesv1.AddToScheme)
	content, err := os.ReadFile("../../../config/webhook/stageset-controller.yaml")
	if err != nil {
		t.Fatal(err)
	}
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(content, configuration); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	at := int32(port)
	configuration.Name = e.Namespace // names of the cluster are shared with other tests
	hook := &configuration.Webhooks[0]
	hook.ClientConfig.Service.Namespace, hook.ClientConfig.Service.Port = e.Namespace, &at
	hook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: e.Namespace}}
	existing := stageSet(e, "existing")
	existing.Spec.Stages[0].SourceRef.Namespace = "elsewhere"
	e.Create(t, existing, configuration, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: webhookService},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	})
	t.Cleanup(func() {
		if err := e.Client.Delete(context.Background(), configuration); err != nil {
			t.Error(err)
		}
	})
	p := start(t, e, "--enable-webhook", "--webhook-cert-mode=self-signed", "--webhook-validating-config-name="+configuration.Name,
		fmt.Sprintf("--webhook-port=%d", port), "--no-cross-namespace-refs")
	kubetest.Eventually(t, func(ctx context.Context) error {
		return e.Client.Create(ctx, stageSet(e, "probe"), client.DryRunAll)
	})
	far := stageSet(e, "far")
	far.Spec.Stages[0].SourceRef.Namespace = "elsewhere"
	if err := e.Client.Create(t.Context(), far); err == nil || !strings.Contains(err.Error(), "spec.stages[0].sourceRef.namespace: Forbidden") {
		t.Errorf("a reference into another namespace: %v", err)
	}
	e.Await(t, existing, func() error { return nil })
	existing.Labels = map[string]string{"a": "b"}
	if err := e.Client.Update(t.Context(), existing); err != nil {
		t.Errorf("labelling what was there before: %v", err)
	}
	p.shows(t, "metrics", "/metrics", http.StatusOK, `stageset_admissions_total{outcome="denied"} 1`)
	p.end(t)
}

// TestProgram_WithoutACertificateSaysSo: the webhook is on by default, and needs a directory with a certificate.
func TestProgram_WithoutACertificateSaysSo(t *testing.T) {
	e := kubetest.Start(t)
	directory := filepath.Join(t.TempDir(), "none")
	code, _, stderr := run(t, nil, "--kubeconfig="+os.Getenv(kubetest.KubeconfigVariable), "--watch-namespaces="+e.Namespace,
		"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0", "--gate-bind-address=", "--webhook-cert-dir="+directory)
	if code != 1 || !strings.Contains(stderr, "--webhook-cert-dir") {
		t.Errorf("%d %s", code, stderr)
	}
}
