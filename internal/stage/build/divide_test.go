package build

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/artifact"
)

// TestBuild_PatchesInPortions gives what patching at once gives.
func TestBuild_PatchesInPortions(t *testing.T) {
	var text bytes.Buffer
	for i := range 50 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: %s\nmetadata: {name: n%d, namespace: s%d, labels: {l: x%d}}\ndata: {k: v}\n",
			[]string{"ConfigMap", "Secret"}[i%2], i/5, i%5, i%3)
	}
	merge := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n%d, namespace: s%d}\ndata: {m: %s}\n"
	patches := []kustomize.Patch{
		{Patch: `[{"op": "add", "path": "/data/all", "value": "x"}]`, Target: &kustomize.Selector{LabelSelector: "l=x1"}},
		{Patch: fmt.Sprintf(merge+"---\n"+merge, 0, 0, "first", 8, 2, "second")},
		{Patch: fmt.Sprintf(merge, 8, 2, "third")},
		{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n4, namespace: s0}\n$patch: delete\n"},
	}
	in := Input{Files: artifact.Files{"a.yaml": text.Bytes()}, Patches: patches}
	atOnce, err := build(t, in)
	if err != nil || len(atOnce) != 49 {
		t.Fatalf("%d objects, %v", len(atOnce), err)
	}
	b := New(Options{})
	for _, b.portion = range []int{7, 20} {
		inPortions, err := b.Build(t.Context(), "", giving(in))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(atOnce, inPortions); d != "" {
			t.Errorf("portions of %d: %s", b.portion, d)
		}
	}
	in.Patches = append(in.Patches, kustomize.Patch{Patch: fmt.Sprintf(merge, 8, 4, "missing"+"x")}, kustomize.Patch{
		Patch: fmt.Sprintf(merge, 77, 0, "missing"),
	})
	if _, err := b.Build(t.Context(), "", giving(in)); err == nil || !strings.Contains(err.Error(), "no matches for Id ConfigMap.v1.[noGrp]/n77.s0") {
		t.Errorf("%v, want that an object is missing", err)
	}
}

// TestBuild_RenamesAreFollowedEverywhere because such patches are not made in portions.
func TestBuild_RenamesAreFollowedEverywhere(t *testing.T) {
	in := Input{Files: artifact.Files{"a.yaml": []byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: old}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, envFrom: [{configMapRef: {name: old}}]}]}
`)}, Patches: []kustomize.Patch{{
		Patch:  `[{"op": "replace", "path": "/metadata/name", "value": "new"}]`,
		Target: &kustomize.Selector{Kind: "ConfigMap"},
	}}}
	atOnce, err := build(t, in)
	if err != nil {
		t.Fatal(err)
	}
	b := New(Options{})
	b.portion = 1
	inPortions, err := b.Build(t.Context(), "", giving(in))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(atOnce, inPortions); d != "" {
		t.Error(d)
	}
}

func TestBuild_RefusesWhatKustomizeTakesTooLongFor(t *testing.T) {
	in := kustomized(4_500)
	if _, err := build(t, in); err == nil || !strings.Contains(err.Error(), "too many for kustomize") {
		t.Errorf("%v, want that they are too many", err)
	}
	deep := manyDocuments(1_000)
	deep.Files["l0/a.yaml"] = deep.Files["a.yaml"]
	delete(deep.Files, "a.yaml")
	deep.Files["l0/kustomization.yaml"] = []byte("resources: [a.yaml]")
	for level := range 30 {
		deep.Files[fmt.Sprintf("l%d/kustomization.yaml", level+1)] = fmt.Appendf(nil, "resources: [../l%d]", level)
	}
	deep.Path = "l30"
	if _, err := build(t, deep); err == nil || !strings.Contains(err.Error(), "too many for kustomize") {
		t.Errorf("%v, want that they pass too many directories", err)
	}
}
