package stageset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// secretRef names the Secret with a kubeconfig.
func secretRef(name string) *fluxmeta.KubeConfigReference {
	return &fluxmeta.KubeConfigReference{SecretRef: &fluxmeta.SecretKeyReference{Name: name}}
}

// kubeconfigOf is the file for a configuration with a token, which can be changed before.
func kubeconfigOf(t testing.TB, config *rest.Config, changes ...func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) string {
	t.Helper()
	ca := config.CAData
	if len(ca) == 0 && config.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(config.CAFile); err != nil {
			t.Fatal(err)
		}
	}
	cluster := &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: ca}
	user := &clientcmdapi.AuthInfo{Token: config.BearerToken}
	for _, change := range changes {
		change(cluster, user)
	}
	file := clientcmdapi.NewConfig()
	file.Clusters["c"], file.AuthInfos["u"] = cluster, user
	file.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	text, err := clientcmd.Write(*file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// putKubeconfig makes or changes the Secret "remote".
func (r *rig) putKubeconfig(t testing.TB, text string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "remote", Namespace: r.Namespace}}
	err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)
	secret.Data = map[string][]byte{"value": []byte(text)}
	if err != nil {
		r.Create(t, secret)
	} else if err := r.Client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// remoteSet is a StageSet whose kubeconfig is read by an account that may do that and nothing else here.
func (r *rig) remoteSet(t testing.TB, stages ...string) *stagesv1.StageSet {
	t.Helper()
	r.NewTenant(t, "reader", may("get list watch", "secrets"))
	set := stageSet("shop", stages...)
	set.Spec.ServiceAccountName = "reader"
	set.Spec.KubeConfig = secretRef("remote")
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
	return set
}

func TestRemote_AllThatIsAppliedIsInTheOtherCluster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own := &ownRequests{}
	own.record(r)
	// The other cluster is this one, under an identity that may do nothing but act for the account.
	gateway := r.NewTenant(t, "gateway")
	r.allowImpersonation(t, "gateway", "reader")
	set := r.remoteSet(t, "base", "app")
	r.putKubeconfig(t, kubeconfigOf(t, gateway.Config))
	r.publish(t, "base", configMap("base", "1"), configMap("gone", "1"))
	r.publish(t, "app", deployment("web", 1))
	r.Create(t, set)
	r.start(t)
	message := r.awaitReason(t, set, stagesv1.ReasonAccessDenied)
	want := "ServiceAccount " + r.Namespace + "/reader of the cluster in Secret " + r.Namespace + "/remote may not get configmaps"
	if !strings.Contains(message, want) {
		t.Errorf("the message is %q, want %q in it", message, want)
	}
	r.grant(t, "reader")
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	base := r.publish(t, "base", configMap("base", "2"))
	r.awaitApplied(t, set, "base", base)
	if got := r.configMaps(t); len(got) != 1 || got["base"] != "2" {
		t.Errorf("the ConfigMaps are %v", got)
	}
	r.wantTornDown(t, set, own)
}

// allowImpersonation lets one account act as another one, in the whole cluster until the test ends.
func (r *rig) allowImpersonation(t testing.TB, who, as string) {
	t.Helper()
	name := r.Namespace + "-" + who
	objects := []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{as}, Verbs: []string{"impersonate"},
		}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: who, Namespace: r.Namespace}},
		},
	}
	r.Create(t, objects...)
	t.Cleanup(func() {
		for _, object := range objects {
			if err := r.Client.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		}
	})
}

// trap is a server that must not be asked anything.
func trap(t *testing.T) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		asked.Add(1)
		t.Errorf("it was asked %s %s, with Authorization %t", request.Method, request.URL, request.Header.Get("Authorization") != "")
		http.Error(w, "no", http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestRemote_AKubeconfigThatReachesForFilesOrProgramsIsRefused(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("the-controllers-own"), 0o600); err != nil {
		t.Fatal(err)
	}
	type change = func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
	for name, c := range map[string]struct {
		change change
		words  string
	}{
		"tokenFile":   {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.TokenFile = token }, "users[].user.tokenFile"},
		"client-key":  {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.ClientKey = token }, "users[].user.client-key"},
		"client-cert": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.ClientCertificate = token }, "users[].user.client-certificate"},
		"authority":   {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthority = token }, "certificate-authority"},
		"auth-provider": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "gcp"}
		}, "auth-provider"},
		"exec": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Exec = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: "touch", Args: []string{token + ".run"}, InteractiveMode: "Never"}
		}, "users[].user.exec"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			address, asked := trap(t)
			good := kubeconfigOf(t, r.NewTenant(t, "deployer", everything()).Config)
			r.putKubeconfig(t, kubeconfigOf(t, &rest.Config{Host: address, BearerToken: "inline"}, c.change))
			set := r.remoteSet(t, "base")
			set.Spec.ServiceAccountName, set.Spec.Interval = "", &metav1.Duration{Duration: 5 * time.Second}
			r.publish(t, "base", configMap("base", "1"))
			r.Create(t, set)
			r.start(t)
			message := r.awaitReason(t, set, stagesv1.ReasonInvalidSpec)
			if !strings.Contains(message, c.words) || strings.Contains(message, token) {
				t.Errorf("the message is %q", message)
			}
			r.wire.quiet(t)
			if asked.Load() > 0 {
				t.Error("its server was asked")
			}
			if _, err := os.Stat(token + ".run"); err == nil {
				t.Error("the program was run")
			}
			r.putKubeconfig(t, good) // and it goes on with one that is right
			r.awaitReason(t, set, stagesv1.ReasonSucceeded)
		})
	}
}

// TestRemote_EachSecretIsCalledByItsName: two tenants may have the same kubeconfig, and neither is told of the other's Secret.
func TestRemote_EachSecretIsCalledByItsName(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1", BearerToken: "token"}
	own, err := client.NewWithWatch(config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	c := &clusters{own: own, remotes: lru.New(keptRemotes)}
	data := []byte(kubeconfigOf(t, config))
	for _, namespace := range []string{"one", "two"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "of-" + namespace}, Data: map[string][]byte{"value": data}}
		made, err := c.remote(secret, "", types.NamespacedName{})
		if err != nil {
			t.Fatal(err)
		}
		want := namespace + "/of-" + namespace
		if !strings.HasSuffix(made.Identity, " "+want) || made.reach.cluster != want {
			t.Errorf("it acts as %s in cluster %s, want those of Secret %s", made.Identity, made.reach.cluster, want)
		}
	}
}

func TestRemote_WhatIsWrongWithTheReferenceIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("base", "1"))
	set := r.remoteSet(t, "base")
	r.Create(t, set)
	r.start(t)
	r.awaitMessage(t, set, stagesv1.ReasonInvalidSpec, "Secret "+r.Namespace+"/remote does not exist")
	r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "remote"}, StringData: map[string]string{"other": "x"}})
	r.awaitMessage(t, set, stagesv1.ReasonInvalidSpec, `has no key "value"`)
	// Nothing but the Secret changes, and the interval is far away: the account's watch tells of it.
	r.putKubeconfig(t, "not a kubeconfig")
	r.awaitMessage(t, set, stagesv1.ReasonInvalidSpec, "kubeconfig")
	edit(t, r, set, func(set *stagesv1.StageSet) {
		set.Spec.KubeConfig = &fluxmeta.KubeConfigReference{ConfigMapRef: &fluxmeta.LocalObjectReference{Name: "cloud"}}
	})
	r.awaitMessage(t, set, stagesv1.ReasonInvalidSpec, "configMapRef is not supported")
}

// newSilentServer is a server that takes connections and says nothing.
func newSilentServer(t testing.TB) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var held []net.Conn
		for {
			connection, err := listener.Accept()
			if err != nil {
				for _, c := range held {
					_ = c.Close()
				}
				return
			}
			held = append(held, connection)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return "http://" + listener.Addr().String()
}

// With one worker, a StageSet whose cluster does not answer would hold it until it gives up. Whether another one comes
// first is seen without a clock: the silent one has no condition yet, because nothing is known of it.
func TestRemote_AClusterThatDoesNotAnswerHoldsNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Concurrent = 1 })
	r.putKubeconfig(t, kubeconfigOf(t, &rest.Config{Host: newSilentServer(t), BearerToken: "inline"}))
	lost := r.remoteSet(t, "base")
	lost.Name = "lost"
	r.publish(t, "base", configMap("base", "1"))
	r.publish(t, "near", configMap("near", "1"))
	r.Create(t, lost)
	r.start(t)
	r.Await(t, lost, func() error {
		if len(lost.Finalizers) == 0 {
			return fmt.Errorf("its turn has not come")
		}
		return nil
	})
	near := stageSet("near", "near")
	r.Create(t, near)
	r.awaitReason(t, near, stagesv1.ReasonSucceeded)
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(lost), lost); err != nil {
		t.Fatal(err)
	}
	if n := len(lost.Status.Conditions); n > 0 {
		t.Logf("the silent cluster was given up before the other StageSet was ready: %+v", lost.Status.Conditions)
	}
	r.awaitMessage(t, lost, stagesv1.ReasonProgressing, "the cluster in Secret "+r.Namespace+"/remote does not answer")
}

func TestReach_RemembersWhetherAClusterAnswers(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	woken := make(chan client.ObjectKey, 8)
	p := &probes{wake: func(user client.ObjectKey) { woken <- user }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	user := client.ObjectKey{Namespace: "shop", Name: "web"}
	known := &reach{cluster: "shop/remote", address: server.URL + "/version", next: http.DefaultTransport}
	check := func(now time.Time) error { return known.check(p, user, now) }
	kubetest.Eventually(t, func(context.Context) error {
		if !p.run(func(context.Context) {}) {
			return fmt.Errorf("the probes were not started")
		}
		return nil
	})
	asked := func(now time.Time) {
		t.Helper()
		if err := check(now); !errors.As(err, &askingError{}) {
			t.Fatalf("error %v, want that it is asked", err)
		}
		select {
		case got := <-woken:
			if got != user {
				t.Errorf("%s was woken", got)
			}
		case <-t.Context().Done():
			t.Fatal("nobody was woken")
		}
	}
	asked(time.Now())
	if err := check(time.Now()); err != nil {
		t.Errorf("after an answer: %v", err)
	}
	down.Store(true)
	later := time.Now().Add(2 * freshFor)
	asked(later)
	if err := check(time.Now()); err == nil || !strings.Contains(err.Error(), "the cluster in Secret shop/remote does not answer") {
		t.Errorf("after none: %v", err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	down.Store(false)
	if response, err := known.RoundTrip(request); err == nil {
		_ = response.Body.Close()
		t.Error("a request was sent right after one that got no answer")
	}
}
