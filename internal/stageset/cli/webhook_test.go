package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stageset/admission"
)

// webhookService is the default of --webhook-service-name.
const webhookService = "stageset-controller-webhook"

// freePort is one that nobody listens on, and the flag for it.
func freePort(t *testing.T) (port int32, flag string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := net.SplitHostPort(listener.Addr().String())
	if err := errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(number), "--webhook-port=" + text
}

// webhook applies the manifest of the repository, for the test's namespace and a port of this machine.
func webhook(t *testing.T, e *kubetest.Env, port int32, bundle []byte) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	content, err := os.ReadFile("../../../config/webhook/stageset-controller.yaml")
	if err != nil {
		t.Fatal(err)
	}
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(content, configuration); err != nil {
		t.Fatal(err)
	}
	configuration.Name = e.Namespace // names of the cluster are shared with other tests
	hook := &configuration.Webhooks[0]
	hook.ClientConfig.CABundle = bundle
	hook.ClientConfig.Service.Namespace, hook.ClientConfig.Service.Port = e.Namespace, &port
	hook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: e.Namespace}}
	e.Create(t, configuration, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: webhookService},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	})
	t.Cleanup(func() {
		if err := e.Client.Delete(context.Background(), configuration); err != nil {
			t.Error(err)
		}
	})
	return configuration
}

// TestWebhook_ItsManifestsFitTheDefaults: an API server that does not find the webhook refuses every StageSet.
func TestWebhook_ItsManifestsFitTheDefaults(t *testing.T) {
	var configuration admissionv1.ValidatingWebhookConfiguration
	var service corev1.Service
	for name, object := range map[string]any{"stageset-controller.yaml": &configuration, "stageset-controller-service.yaml": &service} {
		content, err := os.ReadFile("../../../config/webhook/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(content, object); err != nil {
			t.Fatal(err)
		}
	}
	flags := defaults().webhook
	asked := configuration.Webhooks[0].ClientConfig.Service
	if service.Name != flags.ServiceName || asked.Name != service.Name || asked.Namespace != service.Namespace || *asked.Path != admission.Path {
		t.Errorf("the API server asks %+v, the Service is %s/%s", asked, service.Namespace, service.Name)
	}
	if port := service.Spec.Ports[0]; port.Port != *asked.Port || port.TargetPort.IntValue() != flags.Port {
		t.Errorf("the API server asks port %d, the Service leads from %d to %s", *asked.Port, port.Port, port.TargetPort.String())
	}
}

// far is a StageSet whose source is in another namespace.
func far(e *kubetest.Env, name string) *stagesv1.StageSet {
	set := stageSet(e, name)
	set.Spec.Stages[0].SourceRef.Namespace = "elsewhere"
	return set
}

// warned collects what the API server warns of.
type warned struct {
	mu    sync.Mutex
	texts []string
}

func (w *warned) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warned) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

// decides tries what the webhook has to refuse, to warn of and to admit.
func decides(t *testing.T, e *kubetest.Env, existing *stagesv1.StageSet) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		return e.Client.Create(ctx, stageSet(e, "probe"), client.DryRunAll)
	})
	broken := stageSet(e, "broken")
	broken.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{
		Exprs: []stagesv1.HealthExpressions{{APIVersion: "v1", Kind: "ConfigMap", Current: "data.state =="}},
	}
	for want, set := range map[string]*stagesv1.StageSet{
		"spec.stages[0].sourceRef.namespace: Forbidden":        far(e, "far"),
		"spec.stages[0].readyChecks.exprs[0].current: Invalid": broken,
	} {
		if err := e.Client.Create(t.Context(), set, client.DryRunAll); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", set.Name, err, want)
		}
	}
	heard := &warned{}
	config := rest.CopyConfig(e.Config)
	config.WarningHandler = heard
	listening, err := client.New(config, client.Options{Scheme: e.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	later := stageSet(e, "later")
	later.Spec.RollbackOnFailure = true
	if err := listening.Create(t.Context(), later, client.DryRunAll); err != nil {
		t.Error(err)
	}
	if want := "spec.rollbackOnFailure: this release does not roll back yet"; !strings.Contains(heard.all(), want) {
		t.Errorf("the warnings are %q, want %q", heard.all(), want)
	}
	// What was there before the webhook is not locked.
	e.Await(t, existing, func() error { // the controller writes it too
		existing.Labels = map[string]string{"a": "b"}
		return e.Client.Update(t.Context(), existing)
	})
}

// TestWebhook_WithItsOwnCertificate: with the manifest of the repository, the API server trusts the certificate that the
// process made and refuses what is wrong by its field.
func TestWebhook_WithItsOwnCertificate(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t, stagesv1.AddToScheme)
	existing := far(e, "existing")
	e.Create(t, existing)
	port, flag := freePort(t)
	configuration := webhook(t, e, port, nil)
	p := start(t, e, "--enable-webhook", "--webhook-cert-mode=self-signed", "--webhook-validating-config-name="+configuration.Name,
		flag, "--no-cross-namespace-refs")
	decides(t, e, existing)
	p.Shows(t, "metrics", "/metrics", http.StatusOK, `stageset_admissions_total{outcome="denied"} 2`)
	p.Stop(t)
}

// TestWebhook_WithAMountedCertificate, which is replaced while it serves.
func TestWebhook_WithAMountedCertificate(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t, stagesv1.AddToScheme)
	existing := far(e, "existing")
	e.Create(t, existing)
	directory := t.TempDir()
	mount := func() []byte {
		_, certificate, key := kubetest.NewAuthority(t, webhookService+"."+e.Namespace+".svc")
		for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
			temporary := filepath.Join(directory, "new")
			if err := errors.Join(os.WriteFile(temporary, content, 0o600), os.Rename(temporary, filepath.Join(directory, name))); err != nil {
				t.Fatal(err)
			}
		}
		return certificate
	}
	port, flag := freePort(t)
	configuration := webhook(t, e, port, mount())
	p := start(t, e, "--enable-webhook", "--webhook-cert-dir="+directory, flag, "--no-cross-namespace-refs")
	decides(t, e, existing)

	second := mount()
	e.Await(t, configuration, func() error {
		configuration.Webhooks[0].ClientConfig.CABundle = second
		return e.Client.Update(t.Context(), configuration)
	})
	kubetest.Eventually(t, func(ctx context.Context) error { // only the new certificate is trusted now
		var now admissionv1.ValidatingWebhookConfiguration
		if err := e.Client.Get(ctx, client.ObjectKeyFromObject(configuration), &now); err != nil {
			return err
		}
		if !slices.Equal(now.Webhooks[0].ClientConfig.CABundle, second) {
			return errors.New("the bundle is another one")
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(second)
		connection, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))), &tls.Config{RootCAs: roots})
		if err != nil {
			return err
		}
		return connection.Close()
	})
	decides(t, e, existing)
	p.Stop(t)
}
