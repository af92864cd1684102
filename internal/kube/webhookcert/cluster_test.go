package webhookcert

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

func TestPublish_ReplicasAtOnceKeepEachOthersAuthorities(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	none := admissionv1.SideEffectClassNone
	webhook := func(name, service string) admissionv1.ValidatingWebhook {
		return admissionv1.ValidatingWebhook{
			Name: name, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{
				Service: &admissionv1.ServiceReference{Name: service, Namespace: "team"},
			},
			Rules: []admissionv1.RuleWithOperations{{ // of a kind that nobody uses
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule: admissionv1.Rule{
					APIGroups: []string{"none.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"nothings"},
				},
			}},
		}
	}
	configuration := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: e.Namespace}, // names of the cluster are shared with other tests
		Webhooks: []admissionv1.ValidatingWebhook{
			webhook("ours.example.com", "shop-webhook"), webhook("foreign.example.com", "other"),
		},
	}
	e.Create(t, configuration)
	t.Cleanup(func() {
		if err := e.Client.Delete(context.Background(), configuration); err != nil {
			t.Error(err)
		}
	})

	replicas := make([]*SelfSigned, 4)
	var group sync.WaitGroup
	for i := range replicas {
		self := newReplica(t, e.Client, time.Hour)
		self.options.Configuration = configuration.Name
		replicas[i] = self
		group.Go(func() { _ = self.Start(t.Context()) })
	}
	t.Cleanup(group.Wait) // after the test's context
	e.Await(t, configuration, func() error {
		for i, self := range replicas {
			certificate, err := self.GetCertificate(nil)
			if err != nil {
				return err
			}
			if err := verify(t, certificate, configuration.Webhooks[0].ClientConfig.CABundle, "shop-webhook.team.svc"); err != nil {
				return fmt.Errorf("replica %d: %w", i, err)
			}
		}
		return nil
	})
	if foreign := configuration.Webhooks[1]; len(foreign.ClientConfig.CABundle) > 0 || len(foreign.Rules) != 1 {
		t.Errorf("a webhook of another service was changed: %v", foreign)
	}
	if rules := configuration.Webhooks[0].Rules; len(rules) != 1 {
		t.Errorf("the rules of the webhook are now %v", rules)
	}
}

func TestMounted_FollowsTheSwapOfASecret(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	first := mount(t, directory, "..1")
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(directory, name)); err != nil {
			t.Fatal(err)
		}
	}
	watcher, err := Mounted(directory)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() { _ = watcher.WithWatchInterval(50 * time.Millisecond).Start(t.Context()) })
	t.Cleanup(group.Wait)
	serves := func(want []byte) error {
		certificate, err := watcher.GetCertificate(nil)
		if err == nil && !bytes.Equal(certificate.Certificate[0], want) {
			err = fmt.Errorf("another certificate is served")
		}
		return err
	}
	if err := serves(first); err != nil {
		t.Error(err)
	}
	second := mount(t, directory, "..2")
	kubetest.Eventually(t, func(context.Context) error { return serves(second) })
}

// mount puts a pair into a directory of its own and swaps the link to it, as the kubelet does.
func mount(t *testing.T, directory, version string) []byte {
	t.Helper()
	made, err := issue("shop-webhook", "team", time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(made.serving.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Mkdir(filepath.Join(directory, version), 0o700),
		os.WriteFile(filepath.Join(directory, version, "tls.crt"), encode(made.serving.Certificate[0]), 0o600),
		os.WriteFile(filepath.Join(directory, version, "tls.key"),
			pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600),
		os.Symlink(version, filepath.Join(directory, "..tmp")),
		os.Rename(filepath.Join(directory, "..tmp"), filepath.Join(directory, "..data")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return made.serving.Certificate[0]
}

func TestMounted_EmptyDirectoryIsAnError(t *testing.T) {
	if _, err := Mounted(t.TempDir()); err == nil {
		t.Error("no error")
	}
}
