package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stagewright/stagewright/internal/artifact"
)

func configMap(name string) []byte {
	return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %q}\ndata: {key: value}\n", name)
}

func one(name string) Input { return Input{Files: artifact.Files{"a.yaml": configMap(name)}} }

func giving(in Input) func(context.Context) (Input, error) {
	return func(context.Context) (Input, error) { return in, nil }
}

func addKey() []kustomize.Patch {
	return []kustomize.Patch{{
		Patch: `[{"op": "add", "path": "/data/more", "value": "x"}]`, Target: &kustomize.Selector{Kind: "ConfigMap"},
	}}
}

func TestBuild_SameInputGivesSameBytes(t *testing.T) {
	files := artifact.Files{}
	for i := range 30 {
		name := fmt.Sprintf("n%d", i)
		files[fmt.Sprintf("dir%d/%s.yaml", i%7, name)] = configMap(name)
	}
	for name, in := range map[string]Input{
		"plain": {Files: files}, "patched": {Files: files, Patches: addKey()},
		"substituted": {Files: files, Substitute: map[string]string{"a": "b", "c": "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			var first []byte
			for range 5 {
				objects, err := build(t, in)
				if err != nil {
					t.Fatal(err)
				}
				text := asJSON(t, objects)
				if first == nil {
					first = text
				}
				if !bytes.Equal(first, text) {
					t.Fatal("another time it is different")
				}
			}
		})
	}
}

func asJSON(t *testing.T, objects []*unstructured.Unstructured) []byte {
	t.Helper()
	text, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBuild_DoesNotChangeTheFiles(t *testing.T) {
	in := Input{Files: artifact.Files{"a.yaml": configMap("${x}")}, Patches: addKey(), Substitute: map[string]string{"x": "a"}}
	before := string(in.Files["a.yaml"])
	for range 2 {
		if _, err := build(t, in); err != nil {
			t.Fatal(err)
		}
	}
	if after := string(in.Files["a.yaml"]); after != before {
		t.Error(cmp.Diff(before, after))
	}
}

func TestBuild_IsBounded(t *testing.T) {
	many := strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 20)
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'n'; c++ {
		laughs += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	merges := "a: &a {k0: 1, k1: 1}\n"
	for c := 'b'; c < 'z'; c++ {
		merges += fmt.Sprintf("%c: &%c {<<: [*%c, *%c, *%c], x: 1}\n", c, c, c-1, c-1, c-1)
	}
	diamond := artifact.Files{"kustomization.yaml": []byte("resources: [l0]")}
	for level := range 20 {
		next := fmt.Sprintf("resources: [../l%d, ../m%d]", level+1, level+1)
		diamond[fmt.Sprintf("l%d/kustomization.yaml", level)] = []byte(next)
		diamond[fmt.Sprintf("m%d/kustomization.yaml", level)] = []byte(next)
	}
	diamond["l20/kustomization.yaml"], diamond["m20/kustomization.yaml"] = []byte("{}"), []byte("{}")
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, test := range map[string]struct {
		in   Input
		want string
	}{
		"objects of YAML":       {Input{Files: artifact.Files{"a.yaml": []byte(many)}}, "more than 10 objects"},
		"objects of JSON":       {Input{Files: artifact.Files{"a.json": []byte("[" + strings.Repeat(`{"apiVersion":"v1","kind":"A"},`, 20) + "null]")}}, "more than 10 objects"},
		"bytes of YAML":         {Input{Files: artifact.Files{"a.yaml": []byte(object + "data: {a: " + strings.Repeat("x", 300_000) + "}")}}, "more than 100000 bytes"},
		"bytes of JSON":         {Input{Files: artifact.Files{"a.json": []byte(`{"apiVersion":"v1","kind":"A","a":"` + strings.Repeat("x", 300_000) + `"}`)}}, "more than 100000 bytes"},
		"bytes of both":         {Input{Files: artifact.Files{"a.yaml": []byte(object + "data: {a: " + strings.Repeat("x", 150_000) + "}")}}, "more than 100000 bytes"},
		"bytes by substitution": {Input{Files: artifact.Files{"a.yaml": []byte(object + "data: {a: '" + strings.Repeat("${x}", 1000) + "'}")}, Substitute: map[string]string{"x": strings.Repeat("y", 1000)}}, "more than 100000 bytes"},
		"tiny values":           {Input{Files: artifact.Files{"a.json": []byte(`[` + strings.Repeat("[],", 100_000) + `null]`)}}, "more than 100000 bytes"},
		"aliases":               {Input{Files: artifact.Files{"a.yaml": []byte(laughs)}}, "aliases make too much"},
		"merges":                {Input{Files: artifact.Files{"a.yaml": []byte(merges)}}, "aliases make too much"},
		"aliases in a kustomization": {
			Input{Files: artifact.Files{"kustomization.yaml": []byte(laughs)}}, "aliases make too much",
		},
		"aliases in a resource": {
			Input{Files: artifact.Files{"kustomization.yaml": []byte("resources: [a.yaml]"), "a.yaml": []byte(laughs)}}, "aliases make too much",
		},
		"aliases in a patch file": {
			Input{Files: artifact.Files{"kustomization.yaml": []byte("patches: [{path: a.yaml}]"), "a.yaml": []byte(laughs)}}, "aliases make too much",
		},
		"aliases in a patch": {
			Input{Files: artifact.Files{"a.yaml": configMap("a")}, Patches: []kustomize.Patch{{Patch: laughs}}}, "aliases make too much",
		},
		"depth of YAML":        {Input{Files: artifact.Files{"a.yaml": []byte("a: " + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000))}}, "nested more than"},
		"depth of JSON":        {Input{Files: artifact.Files{"a.json": []byte(strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000))}}, "nested more than"},
		"no end of YAML":       {Input{Files: artifact.Files{"a.yaml": []byte("a: " + strings.Repeat("[", 100_000))}}, "depth"},
		"no end of JSON":       {Input{Files: artifact.Files{"a.json": []byte(strings.Repeat("[", 100_000))}}, "depth"},
		"included directories": {Input{Files: diamond}, "more than 1000 directories"},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{MaxObjects: 10, MaxBytes: 100_000})
			_, err := b.Build(t.Context(), "", giving(test.in))
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, new(*Error)) {
				t.Errorf("%v, want an *Error with %q", err, test.want)
			}
		})
	}
}

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
	for _, b.portion = range []int{1, 7, 20} {
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

func TestBuild_KeepsWhatItBuilt(t *testing.T) {
	b := New(Options{})
	asked := 0
	in := func(context.Context) (Input, error) {
		asked++
		return one("a"), nil
	}
	for _, key := range []string{"k", "k", "other", "k"} {
		if objects, err := b.Build(t.Context(), key, in); err != nil || len(objects) != 1 {
			t.Fatalf("%d objects, %v", len(objects), err)
		}
	}
	if asked != 2 {
		t.Errorf("built %d times, want once for each key", asked)
	}
}

func TestBuild_WithoutCacheOrKeyBuildsAgain(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		key     string
	}{"no cache": {Options{CacheBytes: -1}, "k"}, "small cache": {Options{CacheBytes: 10}, "k"}, "no key": {Options{}, ""}} {
		t.Run(name, func(t *testing.T) {
			b := New(test.options)
			asked := 0
			for range 2 {
				_, err := b.Build(t.Context(), test.key, func(context.Context) (Input, error) {
					asked++
					return one("a"), nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if asked != 2 {
				t.Errorf("built %d times, want twice", asked)
			}
		})
	}
}

// TestBuild_OneAtATimeForAKey also shows that one who gives up, or cannot read, takes nobody with it.
func TestBuild_OneAtATimeForAKey(t *testing.T) {
	for name, fail := range map[string]error{"gives up": context.Canceled, "cannot read": errors.New("no connection")} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{})
			inside, proceed := make(chan struct{}), make(chan struct{})
			var wait sync.WaitGroup
			wait.Go(func() {
				_, err := b.Build(context.Background(), "k", func(context.Context) (Input, error) {
					close(inside)
					<-proceed
					return Input{}, fail
				})
				if !errors.Is(err, fail) {
					t.Errorf("the first: %v, want %v", err, fail)
				}
			})
			<-inside
			var asked atomic.Int64
			for range 10 {
				wait.Go(func() {
					objects, err := b.Build(context.Background(), "k", func(context.Context) (Input, error) {
						asked.Add(1)
						return one("a"), nil
					})
					if err != nil || len(objects) != 1 {
						t.Errorf("another: %d objects, %v", len(objects), err)
					}
				})
			}
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := b.Build(ended, "k", giving(one("a"))); !errors.Is(err, context.Canceled) {
				t.Errorf("one whose time is over waits: %v", err)
			}
			close(proceed)
			wait.Wait()
			if n := asked.Load(); n != 1 {
				t.Errorf("the others built %d times, want once", n)
			}
		})
	}
}

func TestBuild_SharesWhatIsWrongWithManifests(t *testing.T) {
	b := New(Options{})
	inside, proceed := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _ = b.Build(context.Background(), "k", func(context.Context) (Input, error) {
			close(inside)
			<-proceed
			return one(""), nil
		})
	})
	<-inside
	wait.Go(func() {
		close(proceed) // the one below waits already, or finds nothing and builds: it says the same
		_, err := b.Build(context.Background(), "k", giving(one("")))
		if !errors.As(err, new(*Error)) {
			t.Errorf("%v, want an *Error", err)
		}
	})
	wait.Wait()
}

func TestBuild_SurvivesALostPilot(t *testing.T) {
	b := New(Options{})
	func() {
		defer func() { _ = recover() }()
		_, _ = b.Build(t.Context(), "k", func(context.Context) (Input, error) { panic("lost") })
	}()
	if objects, err := b.Build(t.Context(), "k", giving(one("a"))); err != nil || len(objects) != 1 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

func TestBuild_WaitForKustomizeEndsWithTheContext(t *testing.T) {
	for name, occupy := range map[string]func(*Builder){
		"slots": func(b *Builder) {
			for range cap(b.slots) {
				b.slots <- struct{}{}
			}
		},
		"library": func(b *Builder) { b.lock <- struct{}{} },
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{})
			occupy(b)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				in := one("a")
				in.Patches = addKey()
				_, err := b.Build(ctx, "k", giving(in))
				done <- err
			}()
			if _, err := b.Build(t.Context(), "", giving(one("a"))); err != nil {
				t.Errorf("one that needs no kustomize: %v", err)
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want that of the context", err)
			}
		})
	}
}

func TestBuild_NamespacesOfKindsThatOthersKnow(t *testing.T) {
	in := func(ask func(schema.GroupKind) (bool, bool)) Input {
		return Input{Namespace: "shop", Namespaced: ask, Files: artifact.Files{"a.yaml": []byte(
			"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n",
		)}}
	}
	b := New(Options{})
	for _, test := range []struct {
		name              string
		namespaced, known bool
		want              string
	}{
		{"unknown is asked again", false, false, ""},
		{"namespaced", true, true, "shop"},
		{"kept", false, true, "shop"}, // the answer is not asked for any more
	} {
		objects, err := b.Build(t.Context(), "k", giving(in(func(kind schema.GroupKind) (bool, bool) {
			if kind != (schema.GroupKind{Group: "example.com", Kind: "Thing"}) {
				t.Errorf("asked for %v", kind)
			}
			return test.namespaced, test.known
		})))
		if err != nil {
			t.Fatal(err)
		}
		if got := objects[0].GetNamespace(); got != test.want {
			t.Errorf("%s: namespace %q, want %q", test.name, got, test.want)
		}
	}
}

func TestRedact_FindsAllForms(t *testing.T) {
	secrets := []string{"hunter2", "line\nbreak", `quo"te`, "", " ", "hunter2and"}
	for name, text := range map[string]string{
		"as it is": "a hunter2 b", "the longest": "hunter2and", "joined": "linebreak", "spaced": "line break",
		"quoted": fmt.Sprintf("%q", `quo"te`), "escaped": fmt.Sprintf("%q", "line\nbreak"),
	} {
		clean := redact(text, secrets)
		for _, rest := range []string{"hunter", "and", "break", "te\""} {
			if strings.Contains(clean, rest) && rest != `te"` || !strings.Contains(clean, "***") {
				t.Errorf("%s: %s", name, clean)
			}
		}
	}
}

func TestError_HidesSecretsThatLibrariesQuote(t *testing.T) {
	const secret = "hunter2-is-the-password"
	in := Input{
		Files: artifact.Files{"kustomization.yaml": []byte("resources: [" + secret + ".yaml]\nnamePrefix: 7")}, Secrets: []string{secret},
	}
	_, err := build(t, in)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, want an error without the secret", err)
	}
	in.Files = artifact.Files{"a.yaml": fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {%s: 1, %s: 2}", secret, secret)}
	if _, err = build(t, in); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, want an error without the secret", err)
	}
}
