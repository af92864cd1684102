package kubeconfig

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// server is an API server that notes what it is sent.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []http.Header
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, r.Header.Clone())
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"kind":"ConfigMapList","apiVersion":"v1","items":[]}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) authority() string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func file(cluster, user string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: remote
contexts: [{name: remote, context: {cluster: remote, user: remote}}, {name: other, context: {cluster: remote, user: other}}]
clusters: [{name: remote, cluster: %s}]
users: [{name: remote, user: %s}, {name: other, user: {tokenFile: /not/used}}]
`, cluster, user)
}

// list makes a client of a configuration and sends one request.
func list(t *testing.T, config *rest.Config) error {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	return err
}

// TestLoad_RefusesWhatIsOfTheController: whatever would read the controller's disk or run a program is refused, and the
// server that waits for the controller's token hears nothing.
func TestLoad_RefusesWhatIsOfTheController(t *testing.T) {
	s := newServer(t)
	directory := t.TempDir()
	token := filepath.Join(directory, "token") // as a pod has it
	ran := filepath.Join(directory, "ran")
	if err := os.WriteFile(token, []byte("token-of-the-controller"), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := fmt.Sprintf("{server: %q, certificate-authority-data: %s}", s.URL, s.authority())
	exec := fmt.Sprintf("{apiVersion: client.authentication.k8s.io/v1, command: touch, args: [%q], interactiveMode: Never}", ran)
	for name, c := range map[string]struct {
		cluster, user string
		field         string
	}{
		"token file":             {cluster, fmt.Sprintf("{tokenFile: %q}", token), "users[].user.tokenFile"},
		"token and token file":   {cluster, fmt.Sprintf("{token: abc, tokenFile: %q}", token), "users[].user.tokenFile"},
		"program":                {cluster, "{exec: " + exec + "}", "users[].user.exec"},
		"token and program":      {cluster, "{token: abc, exec: " + exec + "}", "users[].user.exec"},
		"auth provider":          {cluster, "{auth-provider: {name: oidc, config: {idp-issuer-url: x}}}", "users[].user.auth-provider"},
		"certificate file":       {cluster, fmt.Sprintf("{client-certificate: %q, client-key-data: YWJj}", token), "users[].user.client-certificate"},
		"key file":               {cluster, fmt.Sprintf("{client-certificate-data: YWJj, client-key: %q}", token), "users[].user.client-key"},
		"authority file":         {fmt.Sprintf("{server: %q, certificate-authority: %q}", s.URL, token), "{token: abc}", "clusters[].cluster.certificate-authority"},
		"both authorities":       {fmt.Sprintf("{server: %q, certificate-authority: %q, certificate-authority-data: %s}", s.URL, token, s.authority()), "{token: abc}", "clusters[].cluster.certificate-authority"},
		"socket":                 {"{server: 'unix:///var/run/x.sock'}", "{token: abc}", "clusters[].cluster.server"},
		"file as server":         {"{server: 'file:///etc/passwd'}", "{token: abc}", "clusters[].cluster.server"},
		"no scheme":              {"{server: 'example.com:6443'}", "{token: abc}", "clusters[].cluster.server"},
		"no server":              {"{}", "{token: abc}", "clusters[].cluster.server"},
		"proxy that is a file":   {fmt.Sprintf("{server: %q, proxy-url: 'file:///etc/passwd'}", s.URL), "{token: abc}", "clusters[].cluster.proxy-url"},
		"proxy that is a word":   {fmt.Sprintf("{server: %q, proxy-url: 'proxy'}", s.URL), "{token: abc}", "clusters[].cluster.proxy-url"},
		"authority and no check": {fmt.Sprintf("{server: %q, certificate-authority-data: %s, insecure-skip-tls-verify: true}", s.URL, s.authority()), "{token: abc}", "clusters[].cluster.insecure-skip-tls-verify"},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := Load([]byte(file(c.cluster, c.user)), Options{})
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Field != c.field || config != nil {
				t.Errorf("config %v, error %v, want %s refused", config != nil, err, c.field)
			}
			if err != nil && strings.Contains(err.Error(), directory) {
				t.Errorf("the error repeats a value: %v", err)
			}
		})
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests were made", len(s.requests))
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program was run")
	}
}

func TestLoad_RefusesWhatIsNoKubeconfig(t *testing.T) {
	for name, c := range map[string]struct{ text, field string }{
		"empty":        {"", "file"},
		"too long":     {strings.Repeat("#", maxSize+1), "file"},
		"no YAML":      {"token: hunter2: x", "file"},
		"another kind": {"apiVersion: v1\nkind: Secret\ndata: {token: hunter2}", "file"},
		"no base64":    {file("{server: 'https://a', certificate-authority-data: 'hunter2!'}", "{}"), "file"},
		"no context":   {"apiVersion: v1\nkind: Config\n", "current-context"},
		"lost context": {"apiVersion: v1\nkind: Config\ncurrent-context: hunter2\n", "current-context"},
		"lost cluster": {"apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: hunter2, user: a}}]\n", "contexts[].context.cluster"},
		"lost user":    {"apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: hunter2}}]\nclusters: [{name: a, cluster: {server: 'https://a'}}]\n", "contexts[].context.user"},
	} {
		_, err := Load([]byte(c.text), Options{})
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Field != c.field {
			t.Errorf("%s: error %v, want %s refused", name, err, c.field)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error repeats a value: %v", name, err)
		}
	}
}

// TestLoad_SendsOnlyWhatIsInIt: whatever credentials the controller has, a server hears only those of the kubeconfig.
func TestLoad_SendsOnlyWhatIsInIt(t *testing.T) {
	// What a pod has, and what else a library might look at.
	directory := t.TempDir()
	own := filepath.Join(directory, "config")
	if err := os.WriteFile(own, []byte(file("{server: 'https://own.example.com'}", "{token: token-of-the-controller}")), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", own)
	t.Setenv("KUBERNETES_SERVICE_HOST", "own.example.com")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	t.Setenv("KUBERNETES_MASTER", "https://own.example.com")
	s := newServer(t)
	cluster := fmt.Sprintf("{server: %q, certificate-authority-data: %s}", s.URL, s.authority())
	account := types.NamespacedName{Namespace: "shop", Name: "deployer"}
	for name, c := range map[string]struct {
		cluster, user string
		options       Options
		want          map[string]string
	}{
		"token":    {cluster, "{token: theirs}", Options{UserAgent: "stages"}, map[string]string{"Authorization": "Bearer theirs", "User-Agent": "stages"}},
		"password": {cluster, "{username: a, password: b}", Options{}, map[string]string{"Authorization": "Basic YTpi"}},
		"nothing":  {cluster, "{}", Options{}, map[string]string{"Authorization": ""}},
		"account":  {cluster, "{token: theirs}", Options{Account: account}, map[string]string{"Impersonate-User": "system:serviceaccount:shop:deployer"}},
		"as":       {cluster, "{token: theirs, as: jane, as-groups: [admins]}", Options{}, map[string]string{"Impersonate-User": "jane", "Impersonate-Group": "admins"}},
		"account wins": {
			cluster, "{token: theirs, as: jane, as-groups: [admins]}",
			Options{Account: account},
			map[string]string{"Impersonate-User": "system:serviceaccount:shop:deployer", "Impersonate-Group": ""},
		},
		"unverified": {fmt.Sprintf("{server: %q, insecure-skip-tls-verify: true}", s.URL), "{token: theirs}", Options{}, map[string]string{"Authorization": "Bearer theirs"}},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := Load([]byte(file(c.cluster, c.user)), c.options)
			if err != nil {
				t.Fatal(err)
			}
			tls := config.TLSClientConfig
			if config.BearerTokenFile != "" || tls.CertFile != "" || tls.KeyFile != "" || tls.CAFile != "" || config.ExecProvider != nil ||
				config.AuthProvider != nil || config.QPS != -1 || config.Timeout != 0 {
				t.Errorf("config = %+v", config)
			}
			s.requests = nil
			if err := list(t, config); err != nil {
				t.Fatal(err)
			}
			if len(s.requests) != 1 {
				t.Fatalf("%d requests", len(s.requests))
			}
			for header, want := range c.want {
				if got := s.requests[0].Get(header); got != want {
					t.Errorf("%s = %q, want %q", header, got, want)
				}
			}
			if strings.Contains(fmt.Sprint(s.requests), "of-the-controller") {
				t.Error("the controller's own token was sent")
			}
		})
	}
}

func TestLoad_VerifiesTheServer(t *testing.T) {
	s := newServer(t)
	config, err := Load([]byte(file(fmt.Sprintf("{server: %q}", s.URL), "{token: theirs}")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := list(t, config); err == nil || len(s.requests) != 0 {
		t.Errorf("error %v after %d requests, want a server that is not trusted", err, len(s.requests))
	}
}

// TestLoad_CopiesNoUnknownField fails when a new version of client-go knows another way to name credentials, which is then
// to be refused or copied.
func TestLoad_CopiesNoUnknownField(t *testing.T) {
	if n := reflect.TypeFor[rest.TLSClientConfig]().NumField(); n != 9 {
		t.Errorf("a TLS configuration has %d fields, and not the 9 that are known", n)
	}
}

func TestFromSecret(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{"value": []byte("a"), "value.yaml": []byte("b"), "prod": []byte("c")}}
	for name, c := range map[string]struct {
		key, without, want string
	}{
		"default": {"", "", "a"}, "second default": {"", "value", "b"}, "named": {"prod", "", "c"},
	} {
		of := secret.DeepCopy()
		delete(of.Data, c.without)
		if got, err := FromSecret(of, c.key); string(got) != c.want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := FromSecret(secret, "lost"); err == nil || !strings.Contains(err.Error(), `no key "lost"`) {
		t.Errorf("error = %v", err)
	}
}

func TestKey_DiffersWithAllThatCounts(t *testing.T) {
	account := func(namespace, name string) Options {
		return Options{Account: types.NamespacedName{Namespace: namespace, Name: name}}
	}
	keys := map[string]bool{}
	for _, key := range []string{
		Key([]byte("a"), Options{}), Key([]byte("b"), Options{}), Key([]byte("a"), account("a", "bc")), Key([]byte("a"), account("ab", "c")),
	} {
		keys[key] = true
	}
	if len(keys) != 4 {
		t.Errorf("%d keys for 4 different things", len(keys))
	}
	if first, second := Key([]byte("a"), Options{}), Key([]byte("a"), Options{}); first != second {
		t.Error("two keys for the same")
	}
}
