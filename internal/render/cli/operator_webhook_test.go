package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/render/admission"
)

// webhookService is the default of --webhook-service-name.
const webhookService = "renderer-webhook"

// webhook has the API server ask the webhook at a port of this machine about the snippets of some namespaces.
func (p *place) webhook(t *testing.T, port string, bundle []byte, namespaces ...string) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	path, at, none, fail := admission.Path, int32(number), admissionv1.SideEffectClassNone, admissionv1.Fail
	p.Create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: webhookService},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	})
	configuration := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: p.Namespace}, // names of the cluster are shared with other tests
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "snippets.render.stagewright.dev", SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{
				Service:  &admissionv1.ServiceReference{Namespace: p.Namespace, Name: webhookService, Path: &path, Port: &at},
				CABundle: bundle,
			},
			NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: append(namespaces, p.Namespace)},
			}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule: admissionv1.Rule{
					APIGroups: []string{"render.stagewright.dev"}, APIVersions: []string{"v1"}, Resources: []string{"jsonnetsnippets"},
				},
			}},
		}},
	}
	p.Create(t, configuration)
	t.Cleanup(func() {
		if err := p.Client.Delete(context.Background(), configuration); err != nil {
			t.Error(err)
		}
	})
	return configuration
}

// answers waits until the API server reaches the webhook and trusts it.
func (p *place) answers(t *testing.T) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		s := snippet("probe", "1")
		s.Namespace = p.Namespace
		return p.Client.Create(ctx, s, client.DryRunAll)
	})
}

// decides tries what the webhook has to refuse and to admit.
func (p *place) decides(t *testing.T, broken *renderv1.JsonnetSnippet) {
	t.Helper()
	source := snippet("far", "")
	source.Spec.Files, source.Spec.SourceRef = nil, &renderv1.SourceReference{Kind: "GitRepository", Name: "repo", Namespace: "elsewhere"}
	taken := snippet("taken", "std.extVar('cluster')")
	taken.Spec.ExternalVariables = []renderv1.Variable{variableOf("cluster", "mine")}
	for want, s := range map[string]*renderv1.JsonnetSnippet{
		"main.jsonnet:2:6: ":                                                    snippet("unparsable", "{\n  a: ]\n}"),
		"spec.sourceRef leads into namespace elsewhere":                         source,
		"spec.externalVariables[cluster] is set by the operator's command line": taken,
	} {
		s.Namespace = p.Namespace
		if err := p.Client.Create(t.Context(), s, client.DryRunAll); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", s.Name, err, want)
		}
	}
	// What was there before the webhook is not locked.
	p.Await(t, broken, func() error { // the operator writes it too
		broken.Labels = map[string]string{"a": "b"}
		return p.Client.Update(t.Context(), broken)
	})
	p.Await(t, broken, func() error {
		broken.Spec.Files["main.jsonnet"] = "[["
		err := p.Client.Update(t.Context(), broken)
		if apierrors.IsConflict(err) {
			return err
		}
		if err == nil {
			t.Error("what is broken was changed into what is broken")
		}
		return nil
	})
}

// served returns the certificate that a webhook presents.
func served(port string) (*x509.Certificate, error) {
	connection, err := tls.Dial("tcp", "127.0.0.1:"+port, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0], nil
}

func TestWebhook_WithAMountedCertificate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	broken := snippet("broken", "{")
	p.Create(t, broken)
	directory, port := t.TempDir(), mustFreePort(t)
	host := webhookService + "." + p.Namespace + ".svc"
	mount := func() []byte {
		_, certificate, key := kubetest.NewAuthority(t, host)
		for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
			temporary := filepath.Join(directory, "new")
			if err := errors.Join(os.WriteFile(temporary, content, 0o600), os.Rename(temporary, filepath.Join(directory, name))); err != nil {
				t.Fatal(err)
			}
		}
		return certificate
	}
	first := mount()
	o := p.start(t, "--enable-webhook", "--webhook-cert-dir="+directory, "--webhook-port="+port, "--ext-var=cluster=secret-value")
	configuration := p.webhook(t, port, first)
	p.answers(t)
	p.decides(t, broken)

	before, err := served(port)
	if err != nil {
		t.Fatal(err)
	}
	second := mount()
	kubetest.Eventually(t, func(context.Context) error {
		after, err := served(port)
		if err == nil && bytes.Equal(before.Raw, after.Raw) {
			err = errors.New("the old certificate is served")
		}
		return err
	})
	p.Await(t, configuration, func() error {
		configuration.Webhooks[0].ClientConfig.CABundle = second
		return p.Client.Update(t.Context(), configuration)
	})
	p.answers(t)
	o.Stop(t)
}

// TestWebhook_WithItsOwnCertificate, on every replica, whoever leads.
func TestWebhook_WithItsOwnCertificate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	broken := snippet("broken", "{")
	p.Create(t, broken)
	port := mustFreePort(t)
	configuration := p.webhook(t, port, nil)
	args := []string{
		"--enable-webhook", "--webhook-cert-mode=self-signed", "--webhook-validating-config-name=" + configuration.Name,
		"--ext-var=cluster=secret-value",
	}
	o := p.start(t, append(args, "--webhook-port="+port)...)
	p.answers(t)
	p.decides(t, broken)

	other := mustFreePort(t)
	standby := p.start(t, append(args, "--webhook-port="+other, "--storage-port="+mustFreePort(t))...)
	standby.state(t, http.StatusOK, "standby")
	for _, at := range []string{port, other} {
		p.Await(t, configuration, func() error {
			certificate, err := served(at)
			if err != nil {
				return err
			}
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
			_, err = certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: webhookService + "." + p.Namespace + ".svc"})
			return err
		})
	}
	standby.Stop(t)
	o.Stop(t)
}

// TestWebhook_HostileObjectsKeepNobodyWaiting: one namespace sends what takes the parser longest, as fast as it can.
// Meanwhile the objects of another one are all decided, and what is wrong with them is found.
func TestWebhook_HostileObjectsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	neighbour := p.NewNamespace(t)
	port := mustFreePort(t)
	configuration := p.webhook(t, port, nil, neighbour)
	o := p.start(t, "--enable-webhook", "--webhook-cert-mode=self-signed", "--webhook-validating-config-name="+configuration.Name, "--webhook-port="+port)
	p.answers(t)

	worst := map[string]string{
		"brackets":  strings.Repeat("[", 900_000),
		"locals":    strings.Repeat("local x = 1; ", 1_990) + "x" + strings.Repeat(" + x", 1_900),
		"variables": "local x = 1; [" + strings.Repeat("x, ", 300_000) + "x]",
	}
	var ended atomic.Bool
	var sent atomic.Int64
	var senders sync.WaitGroup
	for name, text := range worst {
		senders.Go(func() {
			for !ended.Load() {
				s := snippet(name, text)
				s.Namespace = p.Namespace
				_ = p.Client.Create(t.Context(), s, client.DryRunAll) // whatever the answer
				sent.Add(1)
			}
		})
	}
	slowest := time.Duration(0)
	for n := 0; n < 100 || sent.Load() < 20; n++ {
		began := time.Now()
		for text, refused := range map[string]bool{fmt.Sprintf("{ n: %d }", n): false, fmt.Sprintf("{ n: %d", n): true} {
			s := snippet("healthy", text)
			s.Namespace = neighbour
			if err := p.Client.Create(t.Context(), s, client.DryRunAll); (err != nil) != refused {
				t.Errorf("%s: %v", text, err)
			}
		}
		slowest = max(slowest, time.Since(began)/2)
		if t.Failed() {
			break
		}
	}
	ended.Store(true)
	senders.Wait()
	t.Logf("%d hostile objects; the slowest pair of others took %s each", sent.Load(), slowest)
	o.Stop(t)
}

func mustFreePort(t *testing.T) string {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
