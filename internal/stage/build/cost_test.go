package build

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/stagewright/stagewright/internal/artifact"
)

// deployments are many, each with some sixty values.
func deployments(n int) []byte {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: n%d}\nspec:\n", i)
		for v := range 60 {
			fmt.Fprintf(&text, "  v%d: b\n", v)
		}
	}
	return []byte(text.String())
}

// list is a field with entries.
func list(field string, n int, entry string) string {
	var text strings.Builder
	text.WriteString(field + ":\n")
	for i := range n {
		text.WriteString(strings.ReplaceAll(entry, "#", fmt.Sprint(i)) + "\n")
	}
	return text.String()
}

// preparing says what is wrong with a build, before kustomize is begun.
func preparing(t *testing.T, kustomization string, files artifact.Files, patches ...kustomize.Patch) error {
	t.Helper()
	in := Input{Files: artifact.Files{"a.yaml": deployments(100)}, Patches: patches}
	maps.Copy(in.Files, files)
	if kustomization != "" {
		in.Files["kustomization.yaml"] = []byte("resources: [a.yaml]\n" + kustomization)
	}
	l, err := survey(in.Files, ".")
	if err != nil {
		t.Fatal(err)
	}
	_, err = newKustomizeJobs(t.Context(), in, ".", l, defaultPortion, &counter{limits: New(Options{}).limits})
	return err
}

// TestKustomize_IsBounded: each of these would hold kustomize, and everybody who waits for it, for minutes to hours, or take
// gigabytes.
func TestKustomize_IsBounded(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	const patch = `[{"op": "add", "path": "/spec/#", "value": "x"}]`
	values := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {a: '" + big + "'}\n"
	fields := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: small}\ndata: {b: '" + strings.Repeat("$(X)", 1000) + "'}\n"
	keys := artifact.Files{"e": []byte(strings.Repeat("k=v\n", 100_000))}
	for name, test := range map[string]struct {
		kustomization string
		files         artifact.Files
	}{
		"patches":                 {list("patches", 2000, "- {patch: '"+patch+"', target: {kind: Deployment}}"), nil},
		"patches of any kind":     {list("patches", 2000, "- {patch: '"+patch+"', target: {name: 'n.*'}}"), nil},
		"patches in files":        {list("patches", 2000, "- {path: p.json, target: {kind: Deployment}}"), artifact.Files{"p.json": []byte(patch)}},
		"patches of one object":   {list("patches", 20_000, "- {patch: '"+patch+"', target: {name: n1}}"), nil},
		"patches by transformers": {list("transformers", 500, "- '{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, patch: a, target: {}}'"), nil},
		"images":                  {list("images", 5000, "- {name: i#, newTag: x}"), nil},
		"annotations":             {list("commonAnnotations", 20_000, "  k#: v"), nil},
		"annotations to sort":     {list("commonAnnotations", 600, "  k#: v"), artifact.Files{"a.yaml": deployments(400)}},
		"annotations with much":   {"commonAnnotations: {a: " + big + "}", artifact.Files{"a.yaml": deployments(4000)}},
		"replacements":            {list("replacements", 2000, "- {source: {name: n1, fieldPath: spec.v1}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.v2]}]}"), nil},
		"replacements with much": {
			"replacements: [{source: {name: big, fieldPath: data.a}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.*]}]}]",
			artifact.Files{"a.yaml": append(deployments(100), "---\n"+values...)},
		},
		"replacements in a file": {
			"replacements: [{path: r.yaml}]",
			artifact.Files{"a.yaml": append(deployments(100), "---\n"+values...), "r.yaml": []byte("[{source: {name: big, fieldPath: data.a}, targets: [{select: {}, fieldPaths: [spec.*]}]}]")},
		},
		"variables with much": {
			"vars: [{name: X, objref: {apiVersion: v1, kind: ConfigMap, name: big}, fieldref: {fieldpath: data.a}}]",
			artifact.Files{"a.yaml": []byte(values + "---\n" + fields)},
		},
		"literals":      {list("configMapGenerator: [{name: a, literals", 1, strings.Replace("["+strings.Repeat("a=b, ", 100_000)+"]}]", "\n", "", 1)), nil},
		"keys of files": {"secretGenerator: [{name: a, envs: [e]}]", keys},
	} {
		t.Run(name, func(t *testing.T) {
			err := preparing(t, test.kustomization, test.files)
			if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), "too many for kustomize") && !strings.Contains(err.Error(), "more than") {
				t.Errorf("%.300v, want an *Error that says how much it is", err)
			}
		})
	}
	t.Run("patches of the stage", func(t *testing.T) {
		patches := make([]kustomize.Patch, 2000)
		for i := range patches {
			patches[i] = kustomize.Patch{Patch: patch, Target: &kustomize.Selector{Kind: "Deployment"}}
		}
		for name, files := range map[string]artifact.Files{"few": nil, "many": {"a.yaml": deployments(2000)}} {
			if err := preparing(t, "", files, patches...); !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), "too many") {
				t.Errorf("%s: %.300v, want an *Error that says how much it is", name, err)
			}
		}
	})
}

// TestKustomize_WhatPeopleHave: bounds must not stop what is used, if slowly.
func TestKustomize_WhatPeopleHave(t *testing.T) {
	const patch = `[{"op": "add", "path": "/spec/x", "value": "x"}]`
	dashboard := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: board}\ndata: {a: '" + strings.Repeat("x", 500_000) + "'}\n"
	umbrella := artifact.Files{}
	apps := "resources:\n"
	for i := range 100 {
		apps += fmt.Sprintf("- app%d\n", i)
		umbrella[fmt.Sprintf("app%d/kustomization.yaml", i)] = []byte("resources: [a.yaml]\n" + list("patches", 5, "- {patch: '"+patch+"', target: {kind: Deployment}}"))
		umbrella[fmt.Sprintf("app%d/a.yaml", i)] = deployments(20)
	}
	for name, test := range map[string]struct {
		kustomization string
		files         artifact.Files
	}{
		"many patches of single objects": {list("patches", 500, "- {patch: '"+patch+"', target: {kind: Deployment, name: n#}}"), artifact.Files{"a.yaml": deployments(1000)}},
		"some patches of all objects":    {list("patches", 10, "- {patch: '"+patch+"', target: {kind: Deployment}}"), artifact.Files{"a.yaml": deployments(1000)}},
		"images and labels":              {list("images", 50, "- {name: i#, newTag: x}") + list("commonLabels", 10, "  k#: v"), artifact.Files{"a.yaml": deployments(2000)}},
		"a file of keys":                 {"configMapGenerator: [{name: a, envs: [e]}]", artifact.Files{"e": []byte(strings.Repeat("k=v\n", 10_000))}},
		"replacements beside long texts": {
			list("replacements", 20, "- {source: {name: n1, fieldPath: spec.v1}, targets: [{select: {kind: Deployment, name: n2}, fieldPaths: [spec.v2]}]}"),
			artifact.Files{"a.yaml": append(deployments(300), dashboard...)},
		},
	} {
		if err := preparing(t, test.kustomization, test.files); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	umbrella["kustomization.yaml"] = []byte(apps)
	if err := preparing(t, "", umbrella); err != nil {
		t.Errorf("an umbrella: %v", err)
	}
	for n, patches := range map[int]int{4000: 2, 1000: 10} {
		of := make([]kustomize.Patch, patches)
		for i := range of {
			of[i] = kustomize.Patch{Patch: patch, Target: &kustomize.Selector{Kind: "Deployment"}}
		}
		if err := preparing(t, "", artifact.Files{"a.yaml": deployments(n)}, of...); err != nil {
			t.Errorf("%d objects with %d patches: %v", n, patches, err)
		}
	}
}
