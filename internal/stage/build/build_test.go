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
			for range 3 {
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
