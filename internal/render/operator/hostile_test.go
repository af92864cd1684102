package operator

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	fluxtar "github.com/fluxcd/pkg/tar"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// runaways are programs and archives that would end or block a process that trusts them.
func runaways() map[string]string {
	return map[string]string{
		"endless":    `local f(x) = f(x + 1) tailstrict; f(0)`,
		"memory":     `std.foldl(function(a, i) a + a, std.range(1, 64), "xxxxxxxx")`,
		"deep":       `local f(n) = [f(n + 1)]; f(0)`,
		"nested":     strings.Repeat("[", 40_000),
		"locals":     strings.Repeat("local a = ", 30_000),
		"huge array": `std.makeArray(2000000000, function(i) i)`,
		"own import": `import "main.jsonnet"`,
	}
}

func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	compressor := gzip.NewWriter(&out)
	writer := tar.NewWriter(compressor)
	const size = 15 << 20
	zeros := make([]byte, size)
	for i := range 36 { // 540 MiB
		if err := writer.WriteHeader(&tar.Header{Name: fmt.Sprintf("f%d", i), Size: size, Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressor.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func escaping(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	compressor := gzip.NewWriter(&out)
	writer := tar.NewWriter(compressor)
	if err := writer.WriteHeader(&tar.Header{Name: "../../main.jsonnet", Size: 2, Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	_, _ = writer.Write([]byte("{}"))
	_ = writer.Close()
	_ = compressor.Close()
	return out.Bytes()
}

func TestHostile_OneTenantDoesNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Recheck = time.Minute; o.Concurrent = 8 })
	victim := r.NewNamespace(t)
	r.tenantIn(t, victim)
	r.start(t, victim)
	drip := r.archives.AddFiles(t, main("{}"))
	drip.URL = slowServer(t) + "/x.tar.gz"
	r.gitRepository(t, "bomb", r.archives.Add(bomb(t)))
	r.gitRepository(t, "escaping", r.archives.Add(escaping(t)))
	r.gitRepository(t, "drip", drip)
	for i := range 5 {
		for name, text := range runaways() {
			r.Create(t, snippet(fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", "-"), i), main(text)))
		}
		for _, name := range []string{"bomb", "escaping", "drip"} {
			r.Create(t, snippet(fmt.Sprintf("from-%s-%d", name, i), nil, fromGit(name, "")))
		}
	}
	// While all of that runs, another namespace's snippets are rendered.
	for i := range 3 {
		s := snippet(fmt.Sprintf("app-%d", i), main(fmt.Sprint(i)), func(s *renderv1.JsonnetSnippet) { s.Namespace = victim })
		began := time.Now()
		r.Create(t, s)
		r.awaitReason(t, s, renderv1.ReasonSynced)
		t.Logf("rendered beside 50 hostile snippets after %v", time.Since(began).Round(time.Millisecond))
	}
	var all renderv1.JsonnetSnippetList
	if err := r.Client.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	unfinished := 0
	for _, s := range all.Items {
		if s.Namespace == r.Namespace && meta.FindStatusCondition(s.Status.Conditions, "Ready") == nil {
			unfinished++
		}
		if s.Namespace == r.Namespace && meta.IsStatusConditionTrue(s.Status.Conditions, "Ready") {
			t.Errorf("%s is Ready", s.Name)
		}
	}
	if unfinished == 0 {
		t.Error("the hostile snippets were all done before: it is not shown that they hold up nobody")
	}
}

// slowServer answers, and then sends a byte now and then.
func slowServer(t *testing.T) string {
	t.Helper()
	done := make(chan struct{})
	server := newServer(t, func(w http.ResponseWriter, request *http.Request) {
		w.WriteHeader(http.StatusOK)
		for {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			select {
			case <-done:
				return
			case <-request.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	t.Cleanup(func() { close(done) })
	return server
}

func TestFlux_UnpacksWhatIsPublished(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	for name, c := range map[string]struct {
		output renderv1.Output
		want   texts
	}{
		"rendered": {renderv1.OutputRendered, texts{"rendered.json": "3\n"}},
		"source":   {renderv1.OutputSource, texts{"main.jsonnet": "1 + 2", "deep/er/a.txt": "a"}},
	} {
		s := snippet(name, texts{"main.jsonnet": "1 + 2", "deep/er/a.txt": "a"}, func(s *renderv1.JsonnetSnippet) { s.Spec.Output = c.output })
		r.Create(t, s)
		r.awaitReason(t, s, renderv1.ReasonSynced)
		announced := &sourcev1.ExternalArtifact{}
		if err := r.Client.Get(t.Context(), clientKey(s), announced); err != nil {
			t.Fatal(err)
		}
		at := announced.Status.Artifact
		archive, err := artifact.NewFetcher(kubetest.FastFetches()).Fetch(t.Context(), at.URL, at.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if at.Size == nil || *at.Size != int64(len(archive)) || !meta.IsStatusConditionTrue(announced.Status.Conditions, "Ready") {
			t.Errorf("%s: announced %+v with %v", name, at, announced.Status.Conditions)
		}
		directory := t.TempDir()
		if err := fluxtar.Untar(bytes.NewReader(archive), directory); err != nil {
			t.Fatal(err)
		}
		for path, want := range c.want {
			if got, err := os.ReadFile(filepath.Join(directory, path)); err != nil || string(got) != want {
				t.Errorf("%s: %s is %q, %v; want %q", name, path, got, err, want)
			}
		}
	}
}

func TestTenancy_NothingIsReadByTheOperatorsOwnIdentity(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.NewTenant(t, "powerless")
	r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: texts{"value": "hidden"}}, library("lib", main("{}")))
	r.gitRepository(t, "app", r.archives.AddFiles(t, main("{}")))
	r.start(t)
	for name, c := range map[string]struct {
		spec  func(*renderv1.JsonnetSnippetSpec)
		tried string
	}{
		"source":  {git("app", ""), `may not get gitrepositories.source.toolkit.fluxcd.io "app" in namespace ` + r.Namespace},
		"library": {uses("lib"), `may not get jsonnetlibraries.render.stagewright.dev "lib" in namespace ` + r.Namespace},
		"secret": {func(spec *renderv1.JsonnetSnippetSpec) {
			spec.TLAs = []renderv1.Variable{secretVariable("p", "password", "value")}
		}, `may not get secrets "password" in namespace ` + r.Namespace},
	} {
		s := snippet(name, main("{}"), func(s *renderv1.JsonnetSnippet) { s.Spec.ServiceAccountName = "powerless"; c.spec(&s.Spec) })
		r.Create(t, s)
		if message := r.awaitReason(t, s, renderv1.ReasonAccessDenied); !strings.Contains(message, c.tried) {
			t.Errorf("the message is %q, want %q in it", message, c.tried)
		}
	}
	if n := r.archives.Fetched.Load(); n != 0 {
		t.Errorf("the source was fetched %d times for somebody who may not read it", n)
	}
	for _, call := range r.calls.made() {
		if strings.Contains(call, "/secrets") && !strings.HasSuffix(call, "/secrets/password") {
			t.Errorf("the operator asked for %s", call)
		}
	}
	// The role that is given later is found out without anybody's doing.
	r.grant(t, "powerless", tenantRules()...)
	s := snippet("secret", nil)
	s.Namespace = r.Namespace
	r.awaitReason(t, s, renderv1.ReasonSynced)
}

func TestSecret_IsInNoStatusAndNoEvent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: texts{"value": "correct horse"}})
	s := snippet("app", main(`function(p) error "cannot log in with " + p + " or " + std.base64(p)`), func(s *renderv1.JsonnetSnippet) {
		s.Spec.TLAs = []renderv1.Variable{secretVariable("p", "password", "value")}
	})
	r.Create(t, s)
	message := r.awaitReason(t, s, renderv1.ReasonEvaluationFailed)
	if !strings.Contains(message, "cannot log in with … or …") || strings.Contains(message, "horse") {
		t.Errorf("the message is %q", message)
	}
}

func TestConceal(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		secrets []string
		want    string
	}{
		"as it is":            {"got hunter2!", []string{"hunter2"}, "got …!"},
		"with a line":         {"got hunter2!", []string{"hunter2\n"}, "got …!"},
		"escaped":             {`got "a\"bcd"`, []string{`a"bcd`}, `got "…"`},
		"base64":              {"got aHVudGVyMg==", []string{"hunter2"}, "got …"},
		"short":               {"line 12: got 12", []string{"12"}, "the evaluation failed, with a message that is not shown because it has the value of a Secret in it"},
		"not in it":           {"line 7", []string{"12"}, "line 7"},
		"empty":               {"line 7", []string{""}, "line 7"},
		"one begins another":  {"got hunter2-and-more", []string{"hunter2", "hunter2-and-more"}, "got …"},
		"one of its lines":    {"bad line MIIEvQIBADAN here", []string{"-----BEGIN-----\nMIIEvQIBADAN\n}\n"}, "bad line … here"},
		"a bracket is no key": {"missing }", []string{"{\n\"password\": \"hunter2\"\n}\n"}, "missing }"},
	} {
		if got := conceal(c.message, forms(c.secrets)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSecret_IsInNoLog(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var traced []string
	r := newRig(t, func(o *Options) {
		o.Evaluator = jsonnet.NewEngine(jsonnet.Config{Evaluator: eval.New(eval.Options{}), Trace: func(m jsonnet.TraceMessage) {
			mu.Lock()
			defer mu.Unlock()
			traced = append(traced, m.Text)
		}})
	})
	r.start(t)
	r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: texts{"value": "correct horse"}})
	open := snippet("open", main(`std.trace("nothing to hide", 1)`))
	secretive := snippet("secretive", main(`function(p) std.trace("it is " + std.asciiUpper(p), 1)`), func(s *renderv1.JsonnetSnippet) {
		s.Spec.TLAs = []renderv1.Variable{secretVariable("p", "password", "value")}
	})
	r.Create(t, open, secretive)
	r.awaitReason(t, open, renderv1.ReasonSynced)
	r.awaitReason(t, secretive, renderv1.ReasonSynced)
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"nothing to hide"}, traced); diff != "" {
		t.Error(diff)
	}
}
