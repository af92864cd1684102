package health

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

var (
	deployments = appsv1.SchemeGroupVersion.WithKind("Deployment")
	jobs        = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	configMaps  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

func podTemplate(labels map[string]any, more map[string]any) map[string]any {
	spec := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "registry.example.com/shop:1"}}}
	for key, value := range more {
		spec[key] = value
	}
	return map[string]any{"metadata": map[string]any{"labels": labels}, "spec": spec}
}

func TestLook_DeploymentBecomesReadyAndWakes(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	app := map[string]any{"app": "shop"}
	deployment := f.object(deployments, "shop", map[string]any{"spec": map[string]any{
		"replicas": int64(2), "selector": map[string]any{"matchLabels": app}, "template": podTemplate(app, nil),
	}})
	f.Create(t, deployment)
	f.lookUntil(t, f.wait(targetOf(deployment)), isReady)
	if n := len(f.waits); n != 0 {
		t.Errorf("%d waits are left", n)
	}
}

func TestLook_JobFails(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	job := f.object(jobs, "migrate", map[string]any{"spec": map[string]any{
		"activeDeadlineSeconds": int64(1),
		"template": podTemplate(nil, map[string]any{
			"restartPolicy": "Never", "nodeSelector": map[string]any{"there-is": "no-such-node"},
		}),
	}})
	f.Create(t, job)
	report := f.lookUntil(t, f.wait(targetOf(job)), func(r Report) bool { return r.Failed > 0 })
	if report.First.Name != "migrate" || report.Status.State != Failed {
		t.Errorf("report = %+v", report)
	}
}

func TestLook_WhatIsReadyNeedsNoWatch(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{})
	var targets []Target
	for _, name := range []string{"a", "b", "c"} {
		object := f.object(configMaps, name, nil)
		f.Create(t, object)
		targets = append(targets, targetOf(object))
	}
	if report := f.look(t, f.wait(targets...)); !report.Ready {
		t.Fatalf("report = %+v", report)
	}
	if p.count("list") != 1 || p.count("watch") != 0 || f.Len() != 0 {
		t.Errorf("%d lists and %d watches for three objects of a kind, want 1 and 0; %d are kept",
			p.count("list"), p.count("watch"), f.Len())
	}
}

func TestLook_AgainAsksNobody(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{})
	kind := shops(t, e)
	shop := f.object(kind, "a", nil)
	f.Create(t, shop)
	setReady(t, e, shop, metav1.ConditionFalse, "closed")
	wait := f.wait(targetOf(shop))
	report := f.look(t, wait)
	if report.Ready || report.Pending != 1 || report.Status != (Status{InProgress, "closed"}) || report.Recheck != 0 {
		t.Fatalf("report = %+v", report)
	}
	f.awaitOpen(t, p, 1)
	lists, gets := p.count("list"), p.count("get")
	for range 10 {
		f.look(t, wait)
	}
	if p.count("list") != lists || p.count("get") != gets || p.count("watch") != 1 {
		t.Errorf("looking again asks: %d lists, %d gets, %d watches", p.count("list")-lists, p.count("get")-gets, p.count("watch"))
	}
	before := f.woken(f.user)
	setReady(t, e, shop, metav1.ConditionTrue, "open")
	f.awaitWake(t, before)
	if report := f.look(t, wait); !report.Ready {
		t.Errorf("report = %+v", report)
	}
	if p.count("list") != lists {
		t.Error("what the watch has told was listed again")
	}
}

// TestLook_ChangeBeforeTheWatch: what happens between the list and the watch is not lost.
func TestLook_ChangeBeforeTheWatch(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{})
	shop := f.object(shops(t, e), "a", nil)
	f.Create(t, shop)
	setReady(t, e, shop, metav1.ConditionFalse, "closed")
	wait := f.wait(targetOf(shop))
	changed := make(chan struct{})
	p.set(func(verb string) *metav1.Status {
		if verb == "watch" {
			<-changed
		}
		return nil
	})
	if report := f.look(t, wait); report.Ready {
		t.Fatalf("report = %+v", report)
	}
	setReady(t, e, shop, metav1.ConditionTrue, "open")
	close(changed)
	f.awaitWake(t, 0)
	if report := f.look(t, wait); !report.Ready {
		t.Errorf("report = %+v", report)
	}
}

func TestLook_DeletedObjectIsMissing(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	kind := shops(t, f.Env)
	open, closed := f.object(kind, "open", nil), f.object(kind, "closed", nil)
	f.Create(t, open, closed)
	setReady(t, f.Env, open, metav1.ConditionTrue, "")
	setReady(t, f.Env, closed, metav1.ConditionFalse, "closed")
	wait := f.wait(targetOf(open), targetOf(closed))
	if report := f.look(t, wait); report.Pending != 1 || report.First.Name != "closed" {
		t.Fatalf("report = %+v", report)
	}
	if err := f.Client.Delete(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	f.awaitWake(t, 0)
	report := f.look(t, wait)
	if report.Pending != 2 || report.First.Name != "open" || report.Status != (Status{Missing, "it does not exist"}) {
		t.Errorf("report = %+v", report)
	}
	again := f.object(kind, "open", nil)
	before := f.woken(f.user)
	f.Create(t, again)
	f.awaitWake(t, before)
}

func TestLook_GoneIsWaitedFor(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	object := f.object(configMaps, "a", nil)
	object.SetFinalizers([]string{"example.com/keep"})
	f.Create(t, object)
	target := targetOf(object)
	target.Gone = true
	wait := f.wait(target)
	if report := f.look(t, wait); report.Ready || report.Status != (Status{InProgress, "it still exists"}) {
		t.Fatalf("report = %+v", report)
	}
	before := f.woken(f.user)
	if err := f.Client.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	f.awaitWake(t, before) // its message is another one
	want := Status{InProgress, "it is being deleted and waits for example.com/keep"}
	if report := f.look(t, wait); report.Ready || report.Status != want {
		t.Errorf("report = %+v", report)
	}
	before = f.woken(f.user)
	if err := f.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	f.awaitWake(t, before)
	if report := f.look(t, wait); !report.Ready {
		t.Errorf("report = %+v", report)
	}
}

// TestLook_GoneIsWhatIsNotOurs: an object made anew, or handed over, or without our labels is not waited for.
func TestLook_GoneIsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	for name, change := range map[string]string{
		"another-owner": `{"metadata":{"labels":{"stages.stagewright.dev/name":"other"}}}`,
		"no-labels":     `{"metadata":{"labels":null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, e, nil, WatcherOptions{})
			object := f.object(configMaps, name, nil)
			f.Create(t, object)
			target := targetOf(object)
			target.Gone = true
			if report := f.look(t, f.wait(target)); report.Ready {
				t.Fatalf("report = %+v", report)
			}
			if err := f.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(change))); err != nil {
				t.Fatal(err)
			}
			f.awaitWake(t, 0)
			if report := f.look(t, f.wait(target)); !report.Ready {
				t.Errorf("woken: report = %+v", report)
			}
			if report := f.look(t, f.wait(target)); !report.Ready {
				t.Errorf("listed: report = %+v", report)
			}
		})
	}
	t.Run("another-uid", func(t *testing.T) {
		f := start(t, e, nil, WatcherOptions{})
		object := f.object(configMaps, "anew", nil)
		f.Create(t, object)
		target := targetOf(object)
		target.Gone, target.Entry.UID = true, "the one before"
		if report := f.look(t, f.wait(target)); !report.Ready {
			t.Errorf("report = %+v", report)
		}
	})
}

func TestLook_LabelsAreTakenAway(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	shop := f.object(shops(t, f.Env), "a", nil)
	f.Create(t, shop)
	setReady(t, f.Env, shop, metav1.ConditionFalse, "closed")
	wait := f.wait(targetOf(shop))
	f.look(t, wait)
	if err := f.Client.Patch(t.Context(), shop, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":null}}`))); err != nil {
		t.Fatal(err)
	}
	f.awaitWake(t, 0)
	report := f.look(t, wait)
	if report.Status != (Status{InProgress, "closed"}) || report.Recheck == 0 {
		t.Fatalf("report = %+v, want one that is looked at again: no watch tells of it", report)
	}
	setReady(t, f.Env, shop, metav1.ConditionTrue, "open")
	f.lookUntil(t, wait, isReady)
}

func TestLook_ForeignIsWatchedByName(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	shop := f.object(shops(t, f.Env), "a", nil)
	shop.SetLabels(nil)
	target := Target{Entry: targetOf(shop).Entry, Foreign: true}
	if report := f.look(t, f.wait(target)); report.Status.State != Missing || report.Recheck != 0 {
		t.Fatalf("report = %+v", report)
	}
	f.Create(t, shop)
	setReady(t, f.Env, shop, metav1.ConditionTrue, "open")
	f.lookUntil(t, f.wait(target), isReady)
}

func TestLook_OldGenerationIsInProgress(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	shop := f.object(shops(t, f.Env), "a", nil)
	f.Create(t, shop)
	setReady(t, f.Env, shop, metav1.ConditionTrue, "open")
	target := targetOf(shop)
	target.Generation++
	if report := f.look(t, f.wait(target)); report.Status != (Status{InProgress, "what was applied is not seen yet"}) {
		t.Fatalf("report = %+v", report)
	}
	// Who looks again, for some other reason, does not know any more what was applied.
	again := target
	again.Generation = 0
	if report := f.look(t, f.wait(again)); report.Status != (Status{InProgress, "what was applied is not seen yet"}) {
		t.Fatalf("report of a second look = %+v", report)
	}
	shop.Object["spec"] = map[string]any{"size": int64(2)}
	if err := f.Client.Update(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	report := f.lookUntil(t, f.wait(target), func(r Report) bool { return r.Status.Message != "what was applied is not seen yet" })
	if report.Ready {
		t.Errorf("report = %+v, although the controller has not observed it", report)
	}
	setReady(t, f.Env, shop, metav1.ConditionTrue, "open")
	f.lookUntil(t, f.wait(target), isReady)
}

func TestLook_KindThatDoesNotExistYet(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	kind := schema.GroupVersionKind{Group: f.Namespace + ".example.com", Version: "v1", Kind: "Shop"}
	shop := f.object(kind, "a", nil)
	target := targetOf(shop)
	report := f.look(t, f.wait(target))
	if report.Status.State != Missing || report.Recheck == 0 {
		t.Fatalf("report = %+v", report)
	}
	gone := target
	gone.Gone = true
	if report := f.look(t, f.wait(gone)); !report.Ready {
		t.Errorf("report = %+v, want that nothing of it exists", report)
	}
	define(t, f.Env, kind)
	f.Create(t, shop)
	setReady(t, f.Env, shop, metav1.ConditionTrue, "open")
	f.lookUntil(t, f.wait(target), isReady)
}

// TestLook_VersionThatIsNotServed: an object that was recorded with an old version of its API still exists.
func TestLook_VersionThatIsNotServed(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	shop := f.object(shops(t, f.Env), "a", nil)
	f.Create(t, shop)
	target := targetOf(shop)
	target.Entry.Version, target.Gone = "v1alpha1", true
	if report := f.look(t, f.wait(target)); report.Ready {
		t.Errorf("report = %+v", report)
	}
}

func TestForget_EndsTheWatchAfterAWhile(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{Idle: 100 * time.Millisecond})
	kind := shops(t, e)
	shop := f.object(kind, "a", nil)
	f.Create(t, shop)
	setReady(t, e, shop, metav1.ConditionFalse, "closed")
	wait := f.wait(targetOf(shop))
	f.look(t, wait)
	other := types.NamespacedName{Namespace: e.Namespace, Name: "other"}
	theirs := wait
	theirs.Owner.Name = "other"
	if _, err := f.Look(t.Context(), other, theirs); err != nil {
		t.Fatal(err)
	}
	f.awaitOpen(t, p, 1)
	if f.Len() != 1 {
		t.Errorf("%d watches for two users of one kind and namespace", f.Len())
	}
	f.Forget(f.user)
	setReady(t, e, shop, metav1.ConditionTrue, "open")
	kubetest.Eventually(t, func(context.Context) error {
		if f.woken(other) == 0 {
			return errors.New("the other user is not told any more")
		}
		return nil
	})
	if f.woken(f.user) != 0 {
		t.Error("a user that was forgotten is woken")
	}
	f.Forget(other)
	f.awaitOpen(t, p, 0)
	kubetest.Eventually(t, func(context.Context) error {
		if f.Len() != 0 {
			return errors.New("the watch is kept")
		}
		return nil
	})
}

func TestLook_TooManyWatches(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{MaxWatches: 1})
	shop := f.object(shops(t, e), "a", nil)
	gone := f.object(configMaps, "b", nil)
	f.Create(t, shop, gone)
	setReady(t, e, shop, metav1.ConditionFalse, "closed")
	leaving := targetOf(gone)
	leaving.Gone = true
	wait := f.wait(targetOf(shop), leaving)
	report := f.look(t, wait)
	if report.Pending != 2 || report.Recheck != firstRecheck || f.Len() != 1 {
		t.Fatalf("report = %+v with %d watches", report, f.Len())
	}
	if err := f.Client.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	f.lookUntil(t, wait, func(r Report) bool { return r.Pending == 1 })
}

func TestLook_ErrorLeavesNothing(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{})
	p.set(func(verb string) *metav1.Status {
		if verb == "list" {
			return &metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError}
		}
		return nil
	})
	_, err := f.Look(t.Context(), f.user, f.wait(targetOf(f.object(configMaps, "a", nil))))
	if denied := (*cluster.DeniedError)(nil); err == nil || errors.As(err, &denied) {
		t.Errorf("error = %v", err)
	}
	if f.Len() != 0 || len(f.waits) != 0 {
		t.Errorf("%d watches and %d waits are left", f.Len(), len(f.waits))
	}
}

func TestReport_FailedOnesComeFirst(t *testing.T) {
	of := func(name string, s Status) *interest {
		return &interest{
			part: &part{}, target: Target{Entry: inventory.Entry{ID: inventory.ID{Name: name}}},
			known: &record{exists: true, assessment: assessment{Status: s}},
		}
	}
	w := &wait{interests: []*interest{
		of("a", Status{State: Current}), of("b", Status{InProgress, "slow"}), of("c", Status{Failed, "broken"}), of("d", Status{Failed, "too"}),
	}}
	got := w.report(time.Now())
	want := Report{Pending: 3, Failed: 2, First: inventory.ID{Name: "c"}, Status: Status{Failed, "broken"}}
	if got != want {
		t.Errorf("report = %+v, want %+v", got, want)
	}
}

func TestRecheck_GrowsUpToALimit(t *testing.T) {
	var r recheck
	now := time.Now()
	for _, seconds := range []int{1, 2, 4, 8, 16, 30, 30} {
		want := time.Duration(seconds) * time.Second
		if got := r.next(now); got != want {
			t.Errorf("in %v, want %v", got, want)
		}
		if got := r.next(now.Add(time.Millisecond)); got != want-time.Millisecond {
			t.Errorf("a look for another reason makes it %v", got)
		}
		now = now.Add(want)
	}
}
