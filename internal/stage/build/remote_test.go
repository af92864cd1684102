package build

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	fluxkustomize "github.com/fluxcd/pkg/kustomize"

	"github.com/stagewright/stagewright/internal/artifact"
)

// outside counts what leaves the process: requests to its address, and programs called git.
type outside struct {
	address  string
	requests atomic.Int64
	marker   string
}

func watchOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{marker: filepath.Join(t.TempDir(), "git-was-run")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.requests.Add(1)
		fmt.Fprint(w, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: remote}\n")
	}))
	t.Cleanup(server.Close)
	o.address = server.URL
	programs := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho run >>%q\nexit 1\n", o.marker)
	if err := os.WriteFile(filepath.Join(programs, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	return o
}

func (o *outside) reached() bool {
	_, err := os.Stat(o.marker)
	return err == nil || o.requests.Load() > 0
}

// TestOutside_IsReachedByKustomizeItself shows that the tests below could fail.
func TestOutside_IsReachedByKustomizeItself(t *testing.T) {
	for name, location := range map[string]string{"file": "/a.yaml", "repository": "/a/b.git"} {
		t.Run(name, func(t *testing.T) {
			o := watchOutside(t)
			files := newFileSystem()
			files.put("/a/kustomization.yaml", []byte("resources: ["+o.address+location+"]"))
			_, _ = fluxkustomize.Build(files, "/a")
			if !o.reached() {
				t.Error("nothing was reached")
			}
		})
	}
}

func TestBuild_ReachesNothingOutsideOfTheArtifact(t *testing.T) {
	fields := map[string]string{
		"resources":             "resources: [%q]",
		"resources, other case": "Resources: [%q]",
		"bases":                 "bases: [%q]",
		"components":            "components: [%q]",
		"crds":                  "crds: [%q]",
		"configurations":        "configurations: [%q]",
		"openapi":               "openapi: {path: %q}",
		"patches":               "patches: [{path: %q}]",
		"patchesJson6902":       "patchesJson6902: [{path: %q, target: {kind: ConfigMap, version: v1, name: a}}]",
		"patchesStrategicMerge": "patchesStrategicMerge: [%q]",
		"replacements":          "replacements: [{path: %q}]",
		"config map files":      "configMapGenerator: [{name: a, files: [%q]}]",
		"config map keys":       `configMapGenerator: [{name: a, files: ["k=%s"]}]`,
		"config map envs":       "configMapGenerator: [{name: a, envs: [%q]}]",
		"config map env":        "configMapGenerator: [{name: a, env: %q}]",
		"secret files":          "secretGenerator: [{name: a, files: [%q]}]",
		"secret envs":           "secretGenerator: [{name: a, envs: [%q]}]",
		"generators":            "generators: [%q]",
		"transformers":          "transformers: [%q]",
		"validators":            "validators: [%q]",
		"inline plugin":         `generators: ["{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: a}, files: [\"%s\"]}"]`,
		"inline patch plugin":   `transformers: ["{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, path: \"%s\"}"]`,
	}
	o := watchOutside(t)
	locations := []string{
		o.address + "/a.yaml", strings.Replace(o.address, "http", "HTTP", 1) + "/a.yaml", o.address + "/a/b.git",
		"https://github.com/a/b", "github.com/a/b//c?ref=v1", "GitHub.com:a/b", "git@github.com:a/b.git", "git::https://x/y/z",
		"ssh://git@x/y/z", "file:///a/b", "someone@x.example.com:a/b.git", "../../../a", "/etc/passwd",
		"dir/" + o.address + "/a.yaml",
	}
	for field, form := range fields {
		t.Run(field, func(t *testing.T) {
			for _, location := range locations {
				text := fmt.Sprintf(form, location)
				objects, err := build(t, Input{Files: artifact.Files{
					"x/kustomization.yaml": []byte(text),
					"x/a.yaml":             []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
				}, Path: "x"})
				if err == nil {
					t.Errorf("%s: %d objects, want an error", text, len(objects))
				}
			}
		})
	}
	if o.reached() {
		t.Errorf("%d requests, or git was run", o.requests.Load())
	}
}

// TestBuild_TakesNamesOfFilesForFiles has directories whose names kustomize would take for repositories.
func TestBuild_TakesNamesOfFilesForFiles(t *testing.T) {
	o := watchOutside(t)
	for _, name := range []string{"someone@x.example.com:a/b", "a.git", "x/_git/y"} {
		objects, err := build(t, Input{Files: artifact.Files{
			"kustomization.yaml":         fmt.Appendf(nil, "resources: [%q]", name),
			name + "/kustomization.yaml": []byte("resources: [a.yaml]"),
			name + "/a.yaml":             []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
		}})
		if err != nil || len(objects) != 1 {
			t.Errorf("%s: %d objects, %v", name, len(objects), err)
		}
	}
	if o.reached() {
		t.Error("git was run")
	}
}

// FuzzConfine looks at what a kustomization becomes: no location is left that could be anything but a path.
func FuzzConfine(f *testing.F) {
	for _, seed := range []string{
		"resources: [a.yaml, https://x/y, b]", "Components: [b]", "bases: [b]\npatchesStrategicMerge: ['{a: b}']",
		"configMapGenerator: [{name: a, files: [k=a.yaml, a.yaml], env: a.yaml}]", "patches: [{path: a.yaml}]",
		"generators: ['{apiVersion: builtin, kind: PrefixTransformer}']", "openapi: {path: a.yaml}", "crds: [b/../a.yaml]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := artifact.Files{
			"kustomization.yaml":   []byte(text),
			"a.yaml":               []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
			"b/kustomization.yaml": []byte("resources: []"),
		}
		c := &counter{limits: limits{objects: 100, bytes: 1 << 20}}
		job, err := ofKustomization(files, ".", nil, c)
		if err != nil {
			return
		}
		check := newConfiner(artifact.Files{"kustomization.yaml": job.files.files["/artifact/kustomization.yaml"]}, c)
		found, err := check.load(".")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		k := found.content
		var locations []string
		locations = append(append(append(locations, k.Resources...), k.Components...), k.Crds...)
		locations = append(locations, k.Configurations...)
		for _, p := range k.Patches {
			if p.Path != "" {
				locations = append(locations, p.Path)
			}
		}
		for _, g := range k.ConfigMapGenerator {
			locations = append(locations, g.EnvSources...)
			for _, source := range g.FileSources {
				_, location, _ := strings.Cut(source, "=")
				locations = append(locations, location)
			}
		}
		for _, location := range locations {
			if !strings.HasPrefix(location, "./") && !strings.HasPrefix(location, "../") {
				t.Errorf("%q is left", location)
			}
		}
	})
}
