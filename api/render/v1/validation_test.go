package v1_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// TestSnippet_TheAPIServerRefuses what could not be rendered, and says what is wrong.
func TestSnippet_TheAPIServerRefuses(t *testing.T) {
	const files = `files: {main.jsonnet: "{}"}, `
	for name, c := range map[string]struct {
		spec string
		want string // in the refusal, or "" where the object is accepted
	}{
		"the least":                {files, ""},
		"everything":               {`sourceRef: {kind: Bucket, name: x, namespace: other, path: a/b}, entryFile: a.jsonnet, libraries: [{name: a}, {name: a, namespace: b, importPath: c}], externalVariables: [{name: a, code: "1"}], tlas: [{name: a, value: ""}, {name: b, valueFrom: {secretKeyRef: {name: s, key: k}}}], output: source, interval: 24h, suspend: true, history: 50, serviceAccountName: z`, ""},
		"no files":                 {"", "exactly one of files and sourceRef is needed"},
		"files and a source":       {files + "sourceRef: {kind: Bucket, name: x}", "exactly one of files and sourceRef is needed"},
		"no entry among the files": {`files: {a.jsonnet: ""}`, "entryFile is not one of files"},
		"files without an entry":   {`files: {a.txt: ""}, output: source`, ""},
		"a name with a dot":        {`files: {main.jsonnet: "", ./a: ""}`, "names are relative paths"},
		"a path for an account":    {files + "serviceAccountName: ../a", "should match"},
		"a path for a source":      {"sourceRef: {kind: Bucket, name: a/b}", "should match"},
		"a path for a namespace":   {"sourceRef: {kind: Bucket, name: a, namespace: a/b}", "should match"},
		"a path for a library":     {files + "libraries: [{name: a/b}]", "should match"},
		"a path for a Secret":      {files + "tlas: [{name: a, valueFrom: {secretKeyRef: {name: a/b, key: k}}}]", "should match"},
		"a key that no Secret has": {files + "tlas: [{name: a, valueFrom: {secretKeyRef: {name: a, key: k/k}}}]", "should match"},
		"empty, as if left out":    {files + `serviceAccountName: "", libraries: [{name: a, namespace: "", importPath: ""}]`, ""},
		"a name with dots":         {`files: {main.jsonnet: "", ../a: ""}`, "names are relative paths without .."},
		"an absolute name":         {`files: {main.jsonnet: "", /a: ""}`, "names are relative paths"},
		"an entry with dots":       {"sourceRef: {kind: Bucket, name: x}, entryFile: a/../../b", "entryFile is relative and has no .."},
		"a path with dots":         {"sourceRef: {kind: Bucket, name: x, path: ..}", "path is relative and has no .."},
		"another kind of source":   {"sourceRef: {kind: HelmChart, name: x}", "supported values"},
		"libraries of one path":    {files + "libraries: [{name: a}, {name: b, importPath: a}]", "import paths are unique"},
		"a variable of nothing":    {files + "tlas: [{name: a}]", "exactly one of value, code and valueFrom is needed"},
		"a variable of two":        {files + `tlas: [{name: a, value: x, code: "1"}]`, "exactly one of value, code and valueFrom is needed"},
		"a value from nowhere":     {files + "tlas: [{name: a, valueFrom: {}}]", "exactly one of configMapKeyRef and secretKeyRef is needed"},
		"a variable twice":         {files + "externalVariables: [{name: a, value: x}, {name: a, value: z}]", "Duplicate value"},
		"too often":                {files + "interval: 29s", "interval is from 30s to 24h"},
		"too seldom":               {files + "interval: 24h1s", "interval is from 30s to 24h"},
		"once a day":               {files + "interval: 1d", `spec.interval in body should match '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$'`},
		"no history":               {files + "history: 0", "greater than or equal to 1"},
		"too much history":         {files + "history: 51", "less than or equal to 50"},
		"another output":           {files + "output: yaml", "supported values"},
	} {
		t.Run(name, func(t *testing.T) { checkVerdict(t, "JsonnetSnippet", c.spec, c.want) })
	}
}

func TestLibrary_TheAPIServerRefuses(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"files":              {`files: {a/b.libsonnet: "{}"}`, ""},
		"a source":           {"sourceRef: {kind: GitRepository, name: x}", ""},
		"nothing":            {"", "exactly one of files and sourceRef is needed"},
		"both":               {`files: {a: ""}, sourceRef: {kind: Bucket, name: x}`, "exactly one of files and sourceRef is needed"},
		"no files":           {"files: {}", "should have at least 1 properties"},
		"a name with dots":   {`files: {a/../b: ""}`, "names are relative paths without .."},
		"a name without end": {`files: {a/: ""}`, "names are relative paths"},
	} {
		t.Run(name, func(t *testing.T) { checkVerdict(t, "JsonnetLibrary", c.spec, c.want) })
	}
}

// checkVerdict creates an object and compares what the API server says.
func checkVerdict(t *testing.T, kind, spec, want string) {
	t.Helper()
	t.Parallel()
	env := kubetest.Start(t, v1.AddToScheme)
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("spec: {"+spec+"}"), &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(kind))
	object.SetName("test")
	object.SetNamespace(env.Namespace)
	err := env.Client.Create(t.Context(), object)
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && !apierrors.IsInvalid(err):
		t.Errorf("error = %v, want a refusal that says %q", err, want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refusal %q does not say %q", err, want)
	}
}

// TestSnippet_Defaults are those of the API server, and reach the Go type.
func TestSnippet_Defaults(t *testing.T) {
	env := kubetest.Start(t, v1.AddToScheme)
	snippet := &v1.JsonnetSnippet{
		ObjectMeta: metav1.ObjectMeta{Name: "test"},
		Spec: v1.JsonnetSnippetSpec{
			Files:     map[string]string{"main.jsonnet": "{}"},
			Libraries: []v1.LibraryReference{{Name: "a"}},
		},
	}
	env.Create(t, snippet)
	env.Await(t, snippet, func() error { return nil })
	if s := snippet.Spec; s.EntryFile != "main.jsonnet" || s.Output != v1.OutputRendered || s.History != 1 || s.Libraries[0].Kind != "JsonnetLibrary" {
		t.Errorf("spec = %+v", s)
	}
	snippet.Status.Revision = "sha256:0"
	if err := env.Client.Status().Update(t.Context(), snippet); err != nil {
		t.Errorf("updating the status: %v", err)
	}
	var list v1.JsonnetSnippetList
	if err := env.Client.List(t.Context(), &list, client.InNamespace(env.Namespace)); err != nil || len(list.Items) != 1 {
		t.Errorf("listing: %d items, %v", len(list.Items), err)
	}
}
