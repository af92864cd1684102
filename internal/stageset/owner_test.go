package stageset

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// ownerOf is the StageSet that a ConfigMap names.
func (r *rig) ownerOf(t testing.TB, name string) string {
	t.Helper()
	c := &corev1.ConfigMap{}
	if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: r.Namespace, Name: name}, c); err != nil {
		t.Fatal(err)
	}
	return c.Labels[stagesv1.NameLabel]
}

// remove deletes a StageSet and waits until it is gone.
func (r *rig) remove(t testing.TB, set *stagesv1.StageSet) {
	t.Helper()
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, set)
}

func TestAdopt_RenamedStageSetKeepsItsObjects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ suspendedFirst bool }{
		"the new one first": {}, "the old one is deleted first, suspended": {suspendedFirst: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "base", configMap("a", "1"), configMap("b", "1"))
			r.publish(t, "app", configMap("c", "1"))
			r.start(t)
			old := stageSet("old", "base", "app")
			before := r.settle(t, old)
			renamed := stageSet("new", "base", "app")
			renamed.Spec.AdoptFrom = []stagesv1.StageSetReference{{Name: "old"}}
			if test.suspendedFirst {
				edit(t, r, old, func(set *stagesv1.StageSet) { set.Spec.Suspend = true })
				r.remove(t, old)
			}
			r.Create(t, renamed)
			r.awaitSettled(t, renamed)
			if !test.suspendedFirst { // it neither takes its objects back nor deletes them
				r.request(t, old)
				r.wire.quiet(t)
				r.remove(t, old)
			}
			r.request(t, renamed)
			r.awaitReason(t, renamed, stagesv1.ReasonSucceeded)
			r.wantGone(t, before)
			if gone := deletions(r.wire.take()); len(gone) > 0 {
				t.Errorf("deleted were %v", gone)
			}
			for name := range r.configMaps(t) {
				if owner := r.ownerOf(t, name); owner != "new" {
					t.Errorf("%s belongs to %s", name, owner)
				}
			}
			want := []string{"app: c__ConfigMap", "base: a__ConfigMap", "base: b__ConfigMap"}
			if diff := cmp.Diff(want, r.recorded(t, renamed)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOwner_TwoThatWantOneObjectDoNotFlipIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "mine", configMap("wanted", "mine"), configMap("m", "1"))
	r.publish(t, "yours", configMap("wanted", "yours"), configMap("y", "1"))
	r.start(t)
	first := stageSet("first", "mine")
	before := r.settle(t, first)
	second := stageSet("second", "yours")
	r.Create(t, second)
	message := r.awaitReason(t, second, stagesv1.ReasonConflictHeld)
	for _, words := range []string{"ConfigMap " + r.Namespace + "/wanted", "StageSet " + r.Namespace + "/first", "adoptFrom"} {
		if !strings.Contains(message, words) {
			t.Errorf("message %q, want %q in it", message, words)
		}
	}
	r.wire.quiet(t)
	for range 3 {
		r.request(t, first)
		r.awaitReason(t, first, stagesv1.ReasonSucceeded)
		r.request(t, second)
		r.awaitReason(t, second, stagesv1.ReasonConflictHeld)
	}
	for _, what := range r.wire.take() {
		if isWrite(what) && strings.Contains(what, "/configmaps/") {
			t.Errorf("%s was sent", what)
		}
	}
	// The one that never had it neither deletes it when it wants it no more, nor when it goes.
	r.publish(t, "yours", configMap("y", "2"))
	r.awaitSettled(t, second)
	r.publish(t, "yours", configMap("wanted", "yours"))
	r.awaitReason(t, second, stagesv1.ReasonConflictHeld)
	r.remove(t, second)
	r.wantGone(t, before)
	if owner := r.ownerOf(t, "wanted"); owner != "first" {
		t.Errorf("it belongs to %q", owner)
	}
}

// TestOwner_TwoThatMakeOneObjectInTheSameMoment: neither has seen it when both make it. It is the one's whose labels are on it,
// and the other one neither keeps nor deletes it.
func TestOwner_TwoThatMakeOneObjectInTheSameMoment(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "mine", configMap("wanted", "mine"))
	r.publish(t, "yours", configMap("wanted", "yours"))
	var both sync.WaitGroup
	both.Add(2)
	var sent atomic.Int32
	r.wire.setStop(func(what string) error {
		if strings.HasPrefix(what, "PATCH ") && strings.HasSuffix(what, "/configmaps/wanted") && sent.Add(1) <= 2 {
			both.Done()
			both.Wait()
		}
		return nil
	})
	r.start(t)
	one, other := stageSet("one", "mine"), stageSet("other", "yours")
	r.Create(t, one, other)
	r.awaitSettled(t, one)
	r.awaitSettled(t, other)
	before := r.census(t)
	winner, loser := one, other
	if r.ownerOf(t, "wanted") == other.Name {
		winner, loser = other, one
	}
	r.request(t, loser)
	r.awaitReason(t, loser, stagesv1.ReasonConflictHeld)
	r.request(t, winner)
	r.awaitReason(t, winner, stagesv1.ReasonSucceeded)
	r.remove(t, loser)
	r.wantGone(t, before)
	r.remove(t, winner)
	r.wantGone(t, before, "wanted")
}

func TestOwner_NamesThatLookAlikeDoNotCollide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "b-c", configMap("x", "1"), configMap("x2", "1"))
	r.publish(t, "c", configMap("y", "1"), configMap("y2", "1"))
	r.start(t)
	one, other := stageSet("a", "b-c"), stageSet("a-b", "c")
	r.settle(t, one)
	before := r.settle(t, other)
	r.publish(t, "b-c", configMap("x", "1"))
	r.awaitSettled(t, one)
	r.wantGone(t, before, "x2")
	r.remove(t, one)
	r.wantGone(t, before, "x", "x2")
	if diff := cmp.Diff([]string{"c: y2__ConfigMap", "c: y__ConfigMap"}, r.recorded(t, other)); diff != "" {
		t.Error(diff)
	}
	r.request(t, other)
	r.awaitReason(t, other, stagesv1.ReasonSucceeded)
}

func TestInventory_LostShardIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("a", "1"), configMap("b", "1"))
	r.start(t)
	set := stageSet("shop", "base")
	before := r.settle(t, set)
	for _, shard := range r.shards(t) {
		edit(t, r, &shard, func(shard *stagesv1.StageInventory) { shard.Finalizers = nil })
		if err := r.Client.Delete(t.Context(), &shard); err != nil {
			t.Fatal(err)
		}
	}
	r.request(t, set)
	r.awaitSettled(t, set)
	r.wantGone(t, before)
	if diff := cmp.Diff([]string{"base: a__ConfigMap", "base: b__ConfigMap"}, r.recorded(t, set)); diff != "" {
		t.Error(diff)
	}
	r.publish(t, "base", configMap("a", "1"))
	r.awaitSettled(t, set)
	r.wantGone(t, before, "b")
}

func (r *rig) shards(t testing.TB) []stagesv1.StageInventory {
	t.Helper()
	var list stagesv1.StageInventoryList
	if err := r.Client.List(t.Context(), &list, client.InNamespace(r.Namespace)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// TestInventory_ForgedShardDeletesNothing: somebody writes an inventory that names objects of others, as one of a stage that
// there is and as one of a stage that there is not.
func TestInventory_ForgedShardDeletesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stage string
		uid   func(*stagesv1.StageSet) types.UID
		own   bool // the entries are added to the shard of the stage
	}{
		"another owner's UID":         {"base", func(*stagesv1.StageSet) types.UID { return "0000" }, false},
		"of a stage":                  {"base", func(set *stagesv1.StageSet) types.UID { return set.UID }, false},
		"of a stage that there isn't": {"other", func(set *stagesv1.StageSet) types.UID { return set.UID }, false},
		"in the stage's own shard":    {"base", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "base", configMap("a", "1"), configMap("b", "1"))
			r.publish(t, "theirs", configMap("neighbour", "1"))
			r.start(t)
			r.settle(t, stageSet("neighbour", "theirs"))
			set := stageSet("shop", "base")
			r.settle(t, set)
			foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
			r.Create(t, foreign)
			before := r.census(t)
			var forged []stagesv1.InventoryEntry
			for name, uid := range map[string]string{"foreign": string(foreign.UID), "neighbour": string(before["neighbour"]), "kube-root-ca.crt": ""} {
				forged = append(forged, stagesv1.InventoryEntry{ID: r.Namespace + "_" + name + "__ConfigMap", V: "v1", UID: uid})
			}
			r.forge(t, set, test.stage, test.own, forged, test.uid)
			r.request(t, set)
			r.awaitSettled(t, set)
			r.publish(t, "base", configMap("a", "1"))
			r.awaitSettled(t, set)
			r.wantGone(t, before, "b")
			r.remove(t, set)
			r.wantGone(t, before, "a", "b")
		})
	}
}

// forge writes entries into the shard of a StageSet, or into one that looks like one.
func (r *rig) forge(
	t *testing.T, set *stagesv1.StageSet, stage string, own bool, entries []stagesv1.InventoryEntry, uid func(*stagesv1.StageSet) types.UID,
) {
	t.Helper()
	if own {
		for _, shard := range r.shards(t) {
			if shard.Labels[stagesv1.NameLabel] == set.Name {
				edit(t, r, &shard, func(shard *stagesv1.StageInventory) { shard.Spec.Entries = entries })
			}
		}
		return
	}
	r.Create(t, &stagesv1.StageInventory{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "forged",
			Labels: map[string]string{stagesv1.NameLabel: set.Name, stagesv1.StageLabel: stage},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: stagesv1.GroupVersion.String(), Kind: "StageSet", Name: set.Name, UID: uid(set), Controller: ptr(true),
			}},
		},
		Spec: stagesv1.StageInventorySpec{StagePosition: 7, Entries: entries},
	})
}

// TestInventory_ForeignObjectThatCouldNotBeTakenStays: it was recorded ahead of an apply that was refused.
func TestInventory_ForeignObjectThatCouldNotBeTakenStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "frozen"}, Data: map[string]string{"value": "theirs"}, Immutable: ptr(true)}
	r.Create(t, foreign)
	r.publish(t, "base", configMap("a", "1"))
	r.publish(t, "app", configMap("app", "1"))
	r.start(t)
	set := stageSet("shop", "base", "app")
	before := r.settle(t, set)
	r.publish(t, "app", configMap("app", "1"), configMap("frozen", "ours"))
	r.awaitFailed(t, set)
	r.publish(t, "app", configMap("app", "1"))
	r.awaitSettled(t, set)
	r.wantGone(t, before)
	r.publish(t, "app", configMap("app", "1"), configMap("frozen", "ours"))
	r.awaitFailed(t, set)
	r.remove(t, set)
	r.wantGone(t, before, "a", "app")
}

// awaitFailed waits until a run has failed.
func (r *rig) awaitFailed(t testing.TB, set *stagesv1.StageSet) {
	t.Helper()
	r.Await(t, set, func() error {
		if set.Status.Run == nil || set.Status.Run.Failed == "" {
			return fmt.Errorf("the run has not failed: %+v", set.Status.Run)
		}
		return nil
	})
}

// TestAdopt_ACircleIsRefused: a StageSet is renamed, and then back. What is left of the first time must not let the old one take
// the objects back, and delete them with itself.
func TestAdopt_ACircleIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("a", "1"))
	r.start(t)
	old := stageSet("old", "base")
	old.Spec.AdoptFrom = []stagesv1.StageSetReference{{Name: "new"}} // of the first time
	before := r.settle(t, old)
	renamed := stageSet("new", "base")
	renamed.Spec.AdoptFrom = []stagesv1.StageSetReference{{Name: "old"}}
	r.Create(t, renamed)
	message := r.awaitReason(t, renamed, stagesv1.ReasonInvalidSpec)
	if want := r.Namespace + "/new -> " + r.Namespace + "/old -> " + r.Namespace + "/new"; !strings.Contains(message, want) {
		t.Errorf("the message is %q, want %q in it", message, want)
	}
	if owner := r.ownerOf(t, "a"); owner != "old" {
		t.Errorf("it belongs to %s", owner)
	}
	edit(t, r, old, func(set *stagesv1.StageSet) { set.Spec.AdoptFrom = nil })
	r.awaitSettled(t, renamed)
	r.request(t, old)
	r.awaitReason(t, old, stagesv1.ReasonConflictHeld)
	r.remove(t, old)
	r.wantGone(t, before)
	if owner := r.ownerOf(t, "a"); owner != "new" {
		t.Errorf("it belongs to %s", owner)
	}
}
