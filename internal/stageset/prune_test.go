package stageset

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// census is who is there: the UIDs of all ConfigMaps of the namespace, by name.
type census map[string]types.UID

func (r *rig) census(t testing.TB) census {
	t.Helper()
	var list corev1.ConfigMapList
	if err := r.Client.List(t.Context(), &list, client.InNamespace(r.Namespace)); err != nil {
		t.Fatal(err)
	}
	found := census{}
	for _, item := range list.Items {
		found[item.Name] = item.UID
	}
	return found
}

// wantGone says that of those who were there exactly some are gone, and that nobody was replaced. Others may have come.
func (r *rig) wantGone(t testing.TB, before census, gone ...string) {
	t.Helper()
	want := maps.Clone(before)
	for _, name := range gone {
		delete(want, name)
	}
	got := r.census(t)
	for name := range got {
		if _, ok := before[name]; !ok {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who is there: %s", diff)
	}
}

// deletions are the names of the objects of requests that delete, in their order. Inventories are left out.
func deletions(requests []string) []string {
	var names []string
	for _, what := range requests {
		if strings.HasPrefix(what, "DELETE ") && !strings.Contains(what, "/stageinventories/") {
			names = append(names, path.Base(what))
		}
	}
	return names
}

// awaitSettled waits until a StageSet has applied all that its sources publish now, as its spec is now.
func (r *rig) awaitSettled(t testing.TB, set *stagesv1.StageSet) {
	t.Helper()
	r.Await(t, set, func() error {
		if !r.settledAt(set) || set.Status.LastApplied.Generation != set.Generation || len(set.Status.LastApplied.Revisions) != len(set.Spec.Stages) {
			return fmt.Errorf("not settled at generation %d: run %+v, conditions %+v", set.Generation, set.Status.Run, set.Status.Conditions)
		}
		return nil
	})
}

// settle starts the controller with a StageSet and waits until it is settled.
func (r *rig) settle(t testing.TB, set *stagesv1.StageSet) census {
	t.Helper()
	r.Create(t, set)
	r.awaitSettled(t, set)
	r.wire.take()
	return r.census(t)
}

// together lets a StageSet see what is published all at once.
func (r *rig) together(t testing.TB, set *stagesv1.StageSet, publish func()) {
	t.Helper()
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Suspend = true })
	r.awaitReason(t, set, stagesv1.ReasonSuspended)
	publish()
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Suspend = false })
}

// numbered are manifests of ConfigMaps.
func numbered(prefix string, n int) []string {
	var manifests []string
	for i := range n {
		manifests = append(manifests, configMap(fmt.Sprintf("%s-%d", prefix, i), "1"))
	}
	return manifests
}

func TestPrune_RenamedStageKeepsItsObjects(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("a", "1"), configMap("b", "1"))
	r.publish(t, "app", configMap("c", "1"))
	r.start(t)
	set := stageSet("shop", "base", "app")
	before := r.settle(t, set)
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Stages[0].Name = "core" })
	r.digests.Store("core", r.digest("base"))
	r.awaitSettled(t, set)
	r.wantGone(t, before)
	if gone := deletions(r.wire.take()); len(gone) > 0 {
		t.Errorf("deleted were %v", gone)
	}
	want := []string{"app: c__ConfigMap", "core: a__ConfigMap", "core: b__ConfigMap"}
	if diff := cmp.Diff(want, r.recorded(t, set)); diff != "" {
		t.Error(diff)
	}
	var names []string
	for _, stage := range set.Status.Stages {
		names = append(names, stage.Name)
	}
	if diff := cmp.Diff([]string{"core", "app"}, names); diff != "" {
		t.Errorf("stages of the status: %s", diff)
	}
}

func TestPrune_ObjectMovesBetweenStages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ late bool }{"built at once": {}, "with a stage that is built late": {late: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "one", configMap("settings", "1"), configMap("down", "1"))
			r.publish(t, "two", configMap("up", "1"), configMap("two", "1"))
			set := stageSet("shop", "one", "two")
			if test.late {
				set.Spec.Stages[1].PostBuild = &stagesv1.PostBuild{
					SubstituteFrom: []stagesv1.SubstituteReference{{Kind: "ConfigMap", Name: "settings"}},
				}
			}
			r.start(t)
			before := r.settle(t, set)
			r.together(t, set, func() {
				r.publish(t, "one", configMap("settings", "1"), configMap("up", "1"))
				r.publish(t, "two", configMap("down", "1"), configMap("two", "1"))
			})
			r.awaitSettled(t, set)
			r.wantGone(t, before)
			if gone := deletions(r.wire.take()); len(gone) > 0 {
				t.Errorf("deleted were %v", gone)
			}
			want := []string{"one: settings__ConfigMap", "one: up__ConfigMap", "two: down__ConfigMap", "two: two__ConfigMap"}
			if diff := cmp.Diff(want, r.recorded(t, set)); diff != "" {
				t.Error(diff)
			}
			// What both leave is gone in the end, wherever it was first.
			r.publish(t, "one", configMap("settings", "1"))
			r.publish(t, "two", configMap("two", "1"))
			r.awaitSettled(t, set)
			r.wantGone(t, before, "up", "down")
		})
	}
}

// TestPrune_ObjectThatIsDroppedOnItsWay: it has left one stage and not arrived in the other when nobody renders it any more.
func TestPrune_ObjectThatIsDroppedOnItsWay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "one", configMap("kept", "1"), configMap("moving", "1"))
	r.publish(t, "two", deployment("web", 0))
	r.publish(t, "three", configMap("three", "1"))
	r.start(t)
	set := stageSet("shop", "one", "two", "three")
	before := r.settle(t, set)
	r.together(t, set, func() {
		r.publish(t, "two", stuck("web"))
		r.publish(t, "one", configMap("kept", "1"))
		r.publish(t, "three", configMap("three", "1"), configMap("moving", "1"))
	})
	r.awaitWaiting(t, set, "two")
	r.wantGone(t, before)
	r.publish(t, "three", configMap("three", "1"))
	r.publish(t, "two", deployment("web", 0))
	r.awaitSettled(t, set)
	r.wantGone(t, before, "moving")
}

func TestPrune_WhatIsToBeKeptIsReleased(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec   func(*stagesv1.StageSet)
		change func(*corev1.ConfigMap)
		says   string
	}{
		"prune is off": {
			spec: func(set *stagesv1.StageSet) { set.Spec.Stages[0].Prune = ptr(false) }, says: "prune is off",
		},
		"annotated": {
			change: func(c *corev1.ConfigMap) {
				metav1.SetMetaDataAnnotation(&c.ObjectMeta, stagesv1.PruneAnnotation, stagesv1.Disabled)
			},
			says: "annotated",
		},
		"labelled by another owner": {
			change: func(c *corev1.ConfigMap) { c.Labels[stagesv1.NameLabel] = "other" }, says: "it belongs to StageSet",
		},
		"without our labels": {
			change: func(c *corev1.ConfigMap) { c.Labels = nil }, says: "does not carry the labels",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "base", configMap("a", "1"), configMap("b", "1"))
			set := stageSet("shop", "base")
			if test.spec != nil {
				test.spec(set)
			}
			stop := r.start(t)
			before := r.settle(t, set)
			stop() // so that the change is not corrected before the stage renders the object no more
			if test.change != nil {
				edit(t, r, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: r.Namespace}}, test.change)
			}
			r.publish(t, "base", configMap("a", "1"))
			r.start(t)
			r.awaitSettled(t, set)
			r.wantGone(t, before)
			if note := r.awaitEvent(t, set, corev1.EventTypeNormal, stagesv1.EventReleased); !strings.Contains(note, test.says) || !strings.Contains(note, "/b ") {
				t.Errorf("note %q, want one with %q", note, test.says)
			}
			if diff := cmp.Diff([]string{"base: a__ConfigMap"}, r.recorded(t, set)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrune_RemovedStagesGoInReverse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var stages []string
	for _, name := range []string{"s0", "s1", "s2", "s3"} {
		r.publish(t, name, numbered(name, 2)...)
		stages = append(stages, name)
	}
	r.start(t)
	set := stageSet("shop", stages...)
	before := r.settle(t, set)
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Stages = set.Spec.Stages[2:3] })
	r.awaitSettled(t, set)
	r.wantGone(t, before, "s0-0", "s0-1", "s1-0", "s1-1", "s3-0", "s3-1")
	var order []string
	for _, name := range deletions(r.wire.take()) {
		if stage, _, _ := strings.Cut(name, "-"); !slices.Contains(order, stage) {
			order = append(order, stage)
		}
	}
	if diff := cmp.Diff([]string{"s3", "s1", "s0"}, order); diff != "" {
		t.Errorf("order: %s", diff)
	}
	if len(set.Status.Stages) != 1 {
		t.Errorf("the status has %+v", set.Status.Stages)
	}
}

// TestPrune_AStageThatKeepsIsRemoved: with the stage goes what it says about its objects, and they stay all the same.
func TestPrune_AStageThatKeepsIsRemoved(t *testing.T) {
	t.Parallel()
	for name, deleted := range map[string]bool{"from the spec": false, "from the spec, and the StageSet is deleted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "one", configMap("one", "1"))
			r.publish(t, "archive", configMap("archived", "1"))
			stop := r.start(t)
			set := stageSet("shop", "one", "archive")
			set.Spec.Stages[1].Prune = ptr(false)
			before := r.settle(t, set)
			stop()
			edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Stages = set.Spec.Stages[:1] })
			if !deleted {
				r.start(t)
				r.awaitSettled(t, set)
				r.wantGone(t, before)
			} else if err := r.Client.Delete(t.Context(), set); err != nil {
				t.Fatal(err)
			} else {
				r.start(t)
				r.AwaitGone(t, set)
				r.wantGone(t, before, "one")
			}
			if note := r.awaitEvent(t, set, corev1.EventTypeNormal, stagesv1.EventReleased); !strings.Contains(note, "/archived ") {
				t.Errorf("the note is %q", note)
			}
		})
	}
}

// TestStatus_StagesThatAreGoneAndLeftNothingAreForgotten: names of stages can change any number of times before a run ends.
func TestStatus_StagesThatAreGoneAndLeftNothingAreForgotten(t *testing.T) {
	set := stageSet("shop", "new")
	set.Status.Stages = []stagesv1.StageStatus{{Name: "tried"}, {Name: "left", Entries: 1}, {Name: "kept", Keeps: true}}
	s := &scope{set: set, stages: []*stage{{spec: &set.Spec.Stages[0]}}}
	s.arrangeStatus()
	var names []string
	for _, status := range set.Status.Stages {
		names = append(names, status.Name)
	}
	if diff := cmp.Diff([]string{"new", "left", "kept"}, names); diff != "" {
		t.Error(diff)
	}
}
