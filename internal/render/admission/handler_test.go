package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
)

func files(names ...string) map[string]string {
	content := map[string]string{"main.jsonnet": "{}"}
	for i := 0; i < len(names); i += 2 {
		content[names[i]] = names[i+1]
	}
	return content
}

func variable(name, code string) renderv1.Variable { return renderv1.Variable{Name: name, Code: &code} }

func TestHandler_Decides(t *testing.T) {
	main := renderv1.JsonnetSnippetSpec{EntryFile: "main.jsonnet"}
	with := func(change func(*renderv1.JsonnetSnippetSpec)) renderv1.JsonnetSnippetSpec {
		spec := *main.DeepCopy()
		change(&spec)
		return spec
	}
	source := func(ref renderv1.SourceReference) renderv1.JsonnetSnippetSpec {
		return with(func(s *renderv1.JsonnetSnippetSpec) { s.SourceRef = &ref })
	}
	text := func(names ...string) renderv1.JsonnetSnippetSpec {
		return with(func(s *renderv1.JsonnetSnippetSpec) { s.Files = files(names...) })
	}
	from := func(v renderv1.VariableSource) renderv1.JsonnetSnippetSpec {
		return with(func(s *renderv1.JsonnetSnippetSpec) {
			s.Files, s.TLAs = files(), []renderv1.Variable{{Name: "v", ValueFrom: &v}}
		})
	}
	cases := map[string]struct {
		spec renderv1.JsonnetSnippetSpec
		want string // of the refusal; "" is admitted
	}{
		"a plain one": {text(), ""},
		"unparsable":  {text("lib/a.libsonnet", "{\n  a: 1,\n  b: ]\n}"), "spec.files: lib/a.libsonnet:3:6: "},
		"unparsable entry without the ending": {with(func(s *renderv1.JsonnetSnippetSpec) {
			s.EntryFile, s.Files = "main.js", map[string]string{"main.js": "{"}
		}), "spec.files: main.js:1:2: "},
		"an unknown variable is found, too": {text("main.jsonnet", "x"), "main.jsonnet:1:1: Unknown variable: x"},
		"what is no Jsonnet":                {text("logo.svg", "<svg"), ""},
		"nested too deeply":                 {text("main.jsonnet", strings.Repeat("[", 40_000)), "main.jsonnet:1:1001: more than 1000 brackets are nested here"},
		"several":                           {text("a.jsonnet", "{", "b.jsonnet", "["), "spec.files: a.jsonnet:1:2: Unexpected: end of file while parsing field definition; spec.files: b.jsonnet:1:2: Unexpected end of file"},
		"code of a variable": {with(func(s *renderv1.JsonnetSnippetSpec) {
			s.Files, s.TLAs = files(), []renderv1.Variable{variable("replicas", "1 +")}
		}), "spec.tlas: replicas:1:4: "},
		"a taken variable": {with(func(s *renderv1.JsonnetSnippetSpec) {
			s.Files, s.ExternalVariables = files(), []renderv1.Variable{variable("cluster", "1")}
		}), "spec.externalVariables[cluster] is set by the operator's command line"},
		"a source nearby":           {source(renderv1.SourceReference{Kind: "GitRepository", Name: "repo", Namespace: "team-a"}), ""},
		"a source far away":         {source(renderv1.SourceReference{Kind: "GitRepository", Name: "repo", Namespace: "team-b"}), "spec.sourceRef leads into namespace team-b"},
		"a source of no name":       {source(renderv1.SourceReference{Kind: "Bucket", Name: "Repo_1"}), `spec.sourceRef.name "Repo_1" is not the name of an object`},
		"a source of another group": {source(renderv1.SourceReference{APIVersion: "v1", Kind: "GitRepository", Name: "repo"}), `spec.sourceRef.apiVersion "v1"`},
		"its own artifact":          {source(renderv1.SourceReference{Kind: "ExternalArtifact", Name: "snippet"}), "spec.sourceRef is the snippet's own artifact"},
		"another artifact":          {source(renderv1.SourceReference{Kind: "ExternalArtifact", Name: "other"}), ""},
		"a library far away": {with(func(s *renderv1.JsonnetSnippetSpec) {
			s.Files, s.Libraries = files(), []renderv1.LibraryReference{{Name: "a"}, {Name: "b", Namespace: "team-b"}}
		}), "spec.libraries[1] leads into namespace team-b"},
		"a namespace that is none": {with(func(s *renderv1.JsonnetSnippetSpec) {
			s.Files, s.Libraries = files(), []renderv1.LibraryReference{{Name: "a", Namespace: "Team/B"}}
		}), `spec.libraries[0].namespace "Team/B" is not the name of a namespace`},
		"an account that is none": {with(func(s *renderv1.JsonnetSnippetSpec) {
			s.Files, s.ServiceAccountName = files(), "system:admin"
		}), `spec.serviceAccountName "system:admin"`},
		"a key that is none": {from(renderv1.VariableSource{SecretKeyRef: &renderv1.KeyReference{Name: "s", Key: "a/b"}}), `spec.tlas[v].valueFrom: "a/b" is not a key`},
		"a key":              {from(renderv1.VariableSource{ConfigMapKeyRef: &renderv1.KeyReference{Name: "s", Key: "a.b"}}), ""},
	}
	handler := Handler(Options{
		ExternalVariables: []string{"cluster"}, NoCrossNamespaceRefs: true, Logger: slog.New(slog.DiscardHandler),
		Timing: Timing{Patience: time.Minute, Parse: time.Minute},
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			response := post(t, handler, admissionv1.Create, snippet(c.spec), nil)
			got := message(response)
			if response.Allowed != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("allowed %t, message %q; want %q", response.Allowed, got, c.want)
			}
		})
	}
}

func TestHandler_AllowsCrossNamespaceReferencesWhereTheyAre(t *testing.T) {
	handler := Handler(Options{Logger: slog.New(slog.DiscardHandler)})
	spec := renderv1.JsonnetSnippetSpec{SourceRef: &renderv1.SourceReference{Kind: "GitRepository", Name: "repo", Namespace: "team-b"}}
	if response := post(t, handler, admissionv1.Create, snippet(spec), nil); !response.Allowed {
		t.Error(message(response))
	}
}

// TestHandler_NeverLocksAnObject: what became wrong by another flag or release can still be labelled, finalized and mended.
func TestHandler_NeverLocksAnObject(t *testing.T) {
	broken, mended := renderv1.JsonnetSnippetSpec{Files: files("a.jsonnet", "{")}, renderv1.JsonnetSnippetSpec{Files: files()}
	labelled, deleted := snippet(broken), snippet(renderv1.JsonnetSnippetSpec{Files: files("b.jsonnet", "[")})
	labelled.Labels = map[string]string{"a": "b"}
	now := metav1.Now()
	deleted.DeletionTimestamp = &now
	cases := map[string]struct {
		operation   admissionv1.Operation
		object, old *renderv1.JsonnetSnippet
		allowed     bool
	}{
		"the spec is unchanged":       {admissionv1.Update, labelled, snippet(broken), true},
		"it is being deleted":         {admissionv1.Update, deleted, snippet(broken), true},
		"it is mended":                {admissionv1.Update, snippet(mended), snippet(broken), true},
		"it is broken":                {admissionv1.Update, snippet(broken), snippet(mended), false},
		"a deletion, if one is asked": {admissionv1.Delete, nil, snippet(broken), true},
	}
	handler := Handler(Options{Logger: slog.New(slog.DiscardHandler)})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if response := post(t, handler, c.operation, c.object, c.old); response.Allowed != c.allowed {
				t.Errorf("allowed %t: %s", response.Allowed, message(response))
			}
		})
	}
}

// TestHandler_HostileSourcesKeepNobodyWaiting: while the parser hangs on the objects of one namespace, those of others are
// decided, and those of the same one are admitted unparsed after a moment.
func TestHandler_HostileSourcesKeepNobodyWaiting(t *testing.T) {
	release := make(chan struct{})
	parsing := make(chan struct{}, 100)
	v := &validator{turns: webhookserve.NewTurns(2), options: Options{Timing: Timing{Patience: 10 * time.Millisecond, Parse: 20 * time.Millisecond}}}
	v.parse = func(_, content string) error {
		if content == "hang" {
			parsing <- struct{}{}
			<-release
		}
		if content == "wrong" {
			return fmt.Errorf("wrong")
		}
		return nil
	}
	ask := func(v *validator, namespace, content string) admission.Response {
		object := snippet(renderv1.JsonnetSnippetSpec{EntryFile: "a", Files: map[string]string{"a": content}})
		raw, err := json.Marshal(object)
		if err != nil {
			t.Error(err)
		}
		return v.handler().Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Operation: admissionv1.Create, Namespace: namespace, Object: runtime.RawExtension{Raw: raw},
		}})
	}
	var requests sync.WaitGroup
	for range 20 {
		requests.Go(func() {
			if response := ask(v, "hostile", "hang"); !response.Allowed || len(response.Warnings) != 1 {
				t.Errorf("%+v", response)
			}
		})
	}
	<-parsing
	patient := *v // with the same turns; a healthy object may take the time it needs
	patient.options.Timing = Timing{Patience: time.Minute, Parse: time.Minute}
	if response := ask(&patient, "healthy", "wrong"); response.Allowed {
		t.Error("what another namespace parses is not looked at")
	}
	requests.Wait()
	if n := len(parsing); n != 0 {
		t.Errorf("%d more objects of one namespace were parsed at a time", n)
	}
	close(release)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		left := v.turns.Namespaces()
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d turns are never given back", left)
		}
	}
}

func TestHandler_RefusesWhatIsNoReview(t *testing.T) {
	handler := Handler(Options{Logger: slog.New(slog.DiscardHandler)})
	cases := map[string]struct {
		method, path, body string
		code               int
	}{
		"another path": {http.MethodPost, "/", "{}", http.StatusNotFound},
		"a GET":        {http.MethodGet, Path, "", http.StatusMethodNotAllowed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
			if recorder.Code != c.code {
				t.Errorf("status %d, want %d", recorder.Code, c.code)
			}
		})
	}
}

func snippet(spec renderv1.JsonnetSnippetSpec) *renderv1.JsonnetSnippet {
	return &renderv1.JsonnetSnippet{ObjectMeta: metav1.ObjectMeta{Name: "snippet", Namespace: "team-a"}, Spec: spec}
}

func message(response *admissionv1.AdmissionResponse) string {
	if response.Result == nil {
		return ""
	}
	return response.Result.Message
}

// post sends a review as the API server does.
func post(
	t *testing.T, handler http.Handler, operation admissionv1.Operation, object, old *renderv1.JsonnetSnippet,
) *admissionv1.AdmissionResponse {
	t.Helper()
	request := &admissionv1.AdmissionRequest{UID: "1", Operation: operation, Namespace: "team-a"}
	for _, part := range []struct {
		from *renderv1.JsonnetSnippet
		to   *runtime.RawExtension
	}{{object, &request.Object}, {old, &request.OldObject}} {
		if part.from == nil {
			continue
		}
		raw, err := json.Marshal(part.from)
		if err != nil {
			t.Fatal(err)
		}
		part.to.Raw = raw
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	post := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
	post.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(recorder, post)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil || review.Response == nil {
		t.Fatalf("%v: %s", err, recorder.Body)
	}
	return review.Response
}
