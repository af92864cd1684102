package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// settle waits until the operator has nothing more to do.
func (r *rig) settle(t testing.TB) {
	t.Helper()
	const quiet = 15
	last, same := "", 0
	kubetest.Eventually(t, func(context.Context) error {
		now := fmt.Sprint(r.calls.apiReads.Load(), r.calls.writes(), r.engine.Counters())
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
		if same < quiet {
			return errors.New("the operator is still at work: " + now)
		}
		return nil
	})
}

func TestChange_OfEachInput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	lib := library("lib", texts{"a.libsonnet": `"library 1"`})
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: texts{"size": "config 1"}}
	password := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: texts{"value": "secret 1"}}
	r.Create(t, lib, settings, password)
	program := func(n int) texts {
		return texts{"deploy/main.jsonnet": fmt.Sprintf(`function(c, s) ["source %d", import "lib/a.libsonnet", c, s]`, n)}
	}
	repository := r.gitRepository(t, "app", r.archives.AddFiles(t, program(1)))
	s := snippet("app", nil, fromGit("app", "deploy"), func(s *renderv1.JsonnetSnippet) {
		uses("lib")(&s.Spec)
		s.Spec.TLAs = []renderv1.Variable{configVariable("c", "settings", "size"), secretVariable("s", "password", "value")}
	})
	r.Create(t, s)
	r.awaitRendered(t, s, "secret 1")

	edit(t, r, lib, func(l *renderv1.JsonnetLibrary) { l.Spec.Files = texts{"a.libsonnet": `"library 2"`} })
	r.awaitRendered(t, s, "library 2")
	edit(t, r, settings, func(c *corev1.ConfigMap) { c.Data["size"] = "config 2" })
	r.awaitRendered(t, s, "config 2")
	edit(t, r, password, func(p *corev1.Secret) { p.Data["value"] = []byte("secret 2") })
	r.awaitRendered(t, s, "secret 2")
	r.announce(t, repository, r.archives.AddFiles(t, program(2)))
	r.awaitRendered(t, s, "source 2")
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.TLAs[0] = renderv1.Variable{Name: "c", Value: new("spec 2")} })
	r.awaitRendered(t, s, "spec 2")
}

func TestChange_WhatWasMissingAppears(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Recheck = 1 << 40 }) // so that only watches help
	r.start(t)
	s := snippet("app", nil, fromGit("app", ""), func(s *renderv1.JsonnetSnippet) {
		uses("lib")(&s.Spec)
		s.Spec.TLAs = []renderv1.Variable{configVariable("c", "settings", "size")}
	})
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonSourceNotReady)
	r.gitRepository(t, "app", r.archives.AddFiles(t, main(`function(c) c + importstr "lib/a.txt"`)))
	r.awaitReason(t, s, renderv1.ReasonLibraryNotFound)
	r.Create(t, library("lib", texts{"a.txt": "library"}))
	r.awaitReason(t, s, renderv1.ReasonSourceNotReady)
	r.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: texts{"size": "large "}})
	r.awaitRendered(t, s, "large library")
}

func TestChange_OfALibraryRendersItsImportersAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	lib := library("lib", texts{"a.libsonnet": "1"})
	r.Create(t, lib, library("other", texts{"a.libsonnet": "1"}))
	var importers []*renderv1.JsonnetSnippet
	for i := range 12 {
		used := "other"
		if i < 3 {
			used = "lib"
		}
		s := snippet(fmt.Sprintf("app-%d", i), main(fmt.Sprintf(`[%d, import "%s/a.libsonnet"]`, i, used)),
			func(s *renderv1.JsonnetSnippet) { uses(used)(&s.Spec) })
		r.Create(t, s)
		if i < 3 {
			importers = append(importers, s)
		}
		r.awaitReason(t, s, renderv1.ReasonSynced)
	}
	r.settle(t)
	before := r.engine.Counters().Evaluations
	edit(t, r, lib, func(l *renderv1.JsonnetLibrary) { l.Spec.Files = texts{"a.libsonnet": "2222"} })
	for _, s := range importers {
		r.awaitRendered(t, s, "2222")
	}
	r.settle(t)
	if n := r.engine.Counters().Evaluations - before; n != 3 {
		t.Errorf("%d evaluations for 3 importers", n)
	}
}

func TestUnchanged_NothingIsEvaluatedOrWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stop := r.start(t)
	lib := library("lib", texts{"a.libsonnet": "1"})
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: texts{"size": "1"}}
	password := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: texts{"value": "secret"}}
	r.Create(t, lib, settings, password)
	files := texts{"app/main.jsonnet": `function(c, s) [import "lib/a.libsonnet", c, s]`}
	repository := r.gitRepository(t, "app", r.archives.AddFiles(t, files))
	s := snippet("app", nil, fromGit("app", "app"), func(s *renderv1.JsonnetSnippet) {
		uses("lib")(&s.Spec)
		s.Spec.TLAs = []renderv1.Variable{configVariable("c", "settings", "size"), secretVariable("s", "password", "value")}
	})
	broken := snippet("broken", main(`error "always"`))
	r.Create(t, s, broken)
	r.awaitReason(t, s, renderv1.ReasonSynced)
	r.awaitReason(t, broken, renderv1.ReasonEvaluationFailed)
	r.settle(t)

	label := func(o client.Object) { o.SetLabels(texts{"touched": "yes"}) }
	version := s.ResourceVersion
	for _, wake := range []struct {
		name string
		by   func()
	}{
		{"a label of the snippet", func() { edit(t, r, s, func(s *renderv1.JsonnetSnippet) { label(s) }); version = s.ResourceVersion }},
		{"a label of the library", func() { edit(t, r, lib, func(l *renderv1.JsonnetLibrary) { label(l) }) }},
		{"a label of the ConfigMap", func() { edit(t, r, settings, func(c *corev1.ConfigMap) { label(c) }) }},
		{"a label of the Secret", func() { edit(t, r, password, func(p *corev1.Secret) { label(p) }) }},
		{"another key of the ConfigMap", func() { edit(t, r, settings, func(c *corev1.ConfigMap) { c.Data["other"] = "1" }) }},
		{"the source's health", func() {
			before := repository.DeepCopy()
			repository.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Succeeded", LastTransitionTime: metav1.Now()}}
			if err := r.Client.Status().Patch(t.Context(), repository, client.MergeFrom(before)); err != nil {
				t.Fatal(err)
			}
		}},
		{"a commit beside the snippet's directory", func() {
			files["README.md"] = "changed"
			r.announce(t, repository, r.archives.AddFiles(t, files))
		}},
		{"another manager", func() { stop(); r.start(t) }},
	} {
		evaluations, writes := r.engine.Counters().Evaluations, r.calls.writes()
		wake.by()
		r.settle(t)
		if n := r.engine.Counters().Evaluations - evaluations; n != 0 && wake.name != "another manager" {
			t.Errorf("%s: %d evaluations", wake.name, n)
		}
		if n := r.calls.writes() - writes; n != 0 {
			t.Errorf("%s: %d writes", wake.name, n)
		}
	}
	if err := r.Client.Get(t.Context(), clientKey(s), s); err != nil || s.ResourceVersion != version {
		t.Errorf("the snippet has been written: version %s, was %s, %v", s.ResourceVersion, version, err)
	}
}

func TestUnchanged_RestartEvaluatesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stop := r.start(t)
	r.gitRepository(t, "app", r.archives.AddFiles(t, main(`{}`)))
	s := snippet("app", nil, fromGit("app", ""))
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonSynced)
	r.settle(t)
	stop()

	r.engine = newEngine(r.engineLimits()) // as after a restart, with empty caches
	r.options.Evaluator = r.engine
	writes, fetched := r.calls.writes(), r.archives.Fetched.Load()
	r.start(t)
	r.settle(t)
	if n := r.engine.Counters().Evaluations; n != 0 {
		t.Errorf("%d evaluations", n)
	}
	if n := r.calls.writes() - writes; n != 0 {
		t.Errorf("%d writes", n)
	}
	if n := r.archives.Fetched.Load() - fetched; n != 0 {
		t.Errorf("%d fetches of an artifact that has not changed", n)
	}
}

func TestRequest_IsHandledAndReported(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	s := snippet("app", main("{}"))
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonSynced)
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Annotations = texts{fluxmeta.ReconcileRequestAnnotation: "now"} })
	r.Await(t, s, func() error {
		if s.Status.LastHandledReconcileAt != "now" {
			return errors.New("the request is not reported")
		}
		return nil
	})
}

func TestArtifact_IsRestoredWhenChangedOrDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	s := snippet("app", main("{}"))
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonSynced)
	announced := &sourcev1.ExternalArtifact{}
	if err := r.Client.Get(t.Context(), clientKey(s), announced); err != nil {
		t.Fatal(err)
	}
	good := announced.Status.Artifact.URL
	evaluations := r.engine.Counters().Evaluations
	restored := func() {
		t.Helper()
		kubetest.Eventually(t, func(ctx context.Context) error {
			got := &sourcev1.ExternalArtifact{}
			if err := r.Client.Get(ctx, clientKey(s), got); err != nil {
				return err
			}
			if got.Status.Artifact == nil || got.Status.Artifact.URL != good || got.Spec.SourceRef == nil || len(got.OwnerReferences) != 1 {
				return fmt.Errorf("it is %+v", got)
			}
			return nil
		})
	}
	announced.Status.Artifact.URL = "http://elsewhere.example.com/a.tar.gz"
	if err := r.Client.Status().Update(t.Context(), announced); err != nil {
		t.Fatal(err)
	}
	restored()
	edit(t, r, announced, func(a *sourcev1.ExternalArtifact) { a.Spec.SourceRef = nil })
	restored()
	edit(t, r, announced, func(a *sourcev1.ExternalArtifact) { a.OwnerReferences = nil })
	restored()
	if err := r.Client.Delete(t.Context(), announced); err != nil {
		t.Fatal(err)
	}
	restored()
	if n := r.engine.Counters().Evaluations - evaluations; n != 0 {
		t.Errorf("%d evaluations to restore what is stored", n)
	}
	// Files that are gone from the storage take one.
	if err := r.local.DeleteAll(t.Context(), (&scope{snippet: s}).ref()); err != nil {
		t.Fatal(err)
	}
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Annotations = texts{fluxmeta.ReconcileRequestAnnotation: "look"} })
	r.awaitRendered(t, s, "{ }")
}

func TestChain_SnippetRendersWhatAnotherPublishes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	first := snippet("first", texts{"main.jsonnet": `import "v.libsonnet"`, "v.libsonnet": `"one"`}, func(s *renderv1.JsonnetSnippet) {
		s.Spec.Output = renderv1.OutputSource
	})
	second := snippet("second", nil, func(s *renderv1.JsonnetSnippet) {
		s.Spec.SourceRef = &renderv1.SourceReference{Kind: "ExternalArtifact", Name: "first"}
	})
	r.Create(t, second, first)
	r.awaitRendered(t, second, "one")
	edit(t, r, first, func(s *renderv1.JsonnetSnippet) { s.Spec.Files["v.libsonnet"] = `"two"` })
	r.awaitRendered(t, second, "two")

	// A circle of two is found by both.
	edit(t, r, first, func(s *renderv1.JsonnetSnippet) {
		s.Spec.Files, s.Spec.SourceRef = nil, &renderv1.SourceReference{Kind: "ExternalArtifact", Name: "second"}
	})
	if message := r.awaitReason(t, first, renderv1.ReasonDependencyCycle); !strings.Contains(message, "/first uses "+r.Namespace+"/second uses") {
		t.Errorf("the message is %q", message)
	}
}

func TestChange_IsLookedForWhereWatchingIsForbidden(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rules := tenantRules()
	rules[4].Verbs = []string{"get"}
	r.NewTenant(t, "blind", rules...)
	r.start(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: texts{"size": "1"}}
	r.Create(t, settings)
	s := snippet("app", main(`function(c) "size " + c`), func(s *renderv1.JsonnetSnippet) {
		s.Spec.ServiceAccountName = "blind"
		s.Spec.TLAs = []renderv1.Variable{configVariable("c", "settings", "size")}
	})
	r.Create(t, s)
	r.awaitRendered(t, s, "size 1")
	edit(t, r, settings, func(c *corev1.ConfigMap) { c.Data["size"] = "2" })
	r.awaitRendered(t, s, "size 2")
}

// TestChange_IsLookedForAfterAFailureToo: nothing tells that the value has been corrected.
func TestChange_IsLookedForAfterAFailureToo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rules := tenantRules()
	rules[4].Verbs = []string{"get"}
	r.NewTenant(t, "blind", rules...)
	r.start(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: texts{"size": "large"}}
	r.Create(t, settings)
	s := snippet("app", main(`function(c) "size " + std.parseInt(c)`), func(s *renderv1.JsonnetSnippet) {
		s.Spec.ServiceAccountName = "blind"
		s.Spec.TLAs = []renderv1.Variable{configVariable("c", "settings", "size")}
	})
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonEvaluationFailed)
	edit(t, r, settings, func(c *corev1.ConfigMap) { c.Data["size"] = "2" })
	r.awaitRendered(t, s, "size 2")
}

func TestSelector_OthersDoNotExist(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.selector = labels.SelectorFromSet(texts{"team": "shop"})
	r.start(t)
	ours := snippet("ours", main("1"), func(s *renderv1.JsonnetSnippet) { s.Labels = texts{"team": "shop"} })
	theirs := snippet("theirs", main("1"))
	r.Create(t, theirs, ours)
	r.awaitReason(t, ours, renderv1.ReasonSynced)
	r.settle(t)
	if err := r.Client.Get(t.Context(), clientKey(theirs), theirs); err != nil || len(theirs.Status.Conditions) > 0 {
		t.Errorf("the other one has %v, %v", theirs.Status.Conditions, err)
	}
}
