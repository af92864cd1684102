package crdwatch

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// counting counts what is read.
type counting struct {
	client.Reader
	reads int
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.reads++
	return c.Reader.Get(ctx, key, object, options...)
}

func TestReportsGeneration_IsReadFromTheDefinition(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	reader := &counting{Reader: e.Client}
	s := NewSchemas(reader, e.Client.RESTMapper())
	now := time.Now()
	s.now = func() time.Time { return now }
	group := e.Namespace + ".example.com"
	ask := func(kind schema.GroupVersionKind) bool {
		t.Helper()
		reports, err := s.ReportsGeneration(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		return reports
	}
	kind := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Shop"}
	if ask(kind) || reader.reads != 0 {
		t.Error("a kind that does not exist reports")
	}
	if ask(schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}) {
		t.Error("a kind without a definition reports")
	}
	definition := crd(group)
	status := map[string]any{"type": "object", "properties": map[string]any{
		"observedGeneration": map[string]any{"type": "integer"},
		"conditions":         map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	}}
	setSchema(definition, map[string]any{"type": "object", "properties": map[string]any{"status": status}})
	e.Create(t, definition)
	t.Cleanup(func() { _ = client.IgnoreNotFound(e.Client.Delete(context.Background(), definition)) })
	kubetest.Eventually(t, func(ctx context.Context) error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		return e.Client.List(ctx, list, client.InNamespace(e.Namespace))
	})
	now = now.Add(schemaAge)
	reader.reads = 0
	for range 2 {
		if !ask(kind) {
			t.Error("a kind with both fields does not report")
		}
	}
	if reader.reads != 1 {
		t.Errorf("%d reads for the same question, want 1", reader.reads)
	}
	if other := (schema.GroupVersionKind{Group: group, Version: "v2", Kind: "Shop"}); ask(other) {
		t.Error("a version that does not exist reports")
	}
}

func TestReportsGeneration_NeedsBothFields(t *testing.T) {
	integer, list := map[string]any{"type": "integer"}, map[string]any{"type": "array"}
	for name, c := range map[string]struct {
		status map[string]any
		want   bool
	}{
		"both":            {map[string]any{"observedGeneration": integer, "conditions": list}, true},
		"only generation": {map[string]any{"observedGeneration": integer}, false},
		"only conditions": {map[string]any{"conditions": list}, false},
		"nothing":         {nil, false},
	} {
		definition := crd("example.com")
		setSchema(definition, map[string]any{"properties": map[string]any{"status": map[string]any{"properties": c.status}}})
		if got, err := reportsGeneration(definition, "v1"); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got, err := reportsGeneration(definition, "v2"); got || err != nil {
			t.Errorf("%s: another version: %v, %v", name, got, err)
		}
	}
}

func setSchema(definition *unstructured.Unstructured, content map[string]any) {
	spec, _ := definition.Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	version, _ := versions[0].(map[string]any)
	version["schema"] = map[string]any{"openAPIV3Schema": content}
}
