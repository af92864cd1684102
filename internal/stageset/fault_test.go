package stageset

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

var errCut = errors.New("the process has ended")

// isWrite says whether a request changes something that a crash could lose.
func isWrite(what string) bool {
	return !strings.HasPrefix(what, "GET ") && !strings.HasSuffix(what, "/token") && !strings.HasSuffix(what, "/events")
}

// cutAfter lets nothing through after a number of writes, as when the process had been killed then. It returns whether that
// has happened.
func (w *wire) cutAfter(writes int64) *atomic.Bool {
	var seen atomic.Int64
	cut := &atomic.Bool{}
	w.setStop(func(what string) error {
		if cut.Load() {
			return errCut
		}
		if isWrite(what) && seen.Add(1) > writes {
			cut.Store(true)
			return errCut
		}
		return nil
	})
	return cut
}

// recorded are the entries of the inventories, as "stage: id", and what is wrong with them.
func (r *rig) recorded(t testing.TB, set *stagesv1.StageSet) (entries []string) {
	t.Helper()
	var list stagesv1.StageInventoryList
	if err := r.Client.List(t.Context(), &list, client.InNamespace(r.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, shard := range list.Items {
		if shard.Labels[stagesv1.NameLabel] != set.Name {
			continue
		}
		for _, entry := range shard.Spec.Entries {
			line := shard.Labels[stagesv1.StageLabel] + ": " + strings.TrimPrefix(entry.ID, r.Namespace+"_")
			if entry.UID == "" || entry.FP == "" {
				line += " (not seen)"
			}
			entries = append(entries, line)
		}
	}
	sort.Strings(entries)
	return entries
}

// transition is a run of three stages that adds, moves, changes and removes objects.
func (r *rig) transition(t testing.TB) {
	t.Helper()
	r.publish(t, "one", configMap("kept", "1"), configMap("added", "1"))
	r.publish(t, "two", configMap("changed", "2"), configMap("up", "1"))
	r.publish(t, "three", configMap("moved", "1"), deployment("web", 0))
}

func (r *rig) wantTransition(t testing.TB, set *stagesv1.StageSet) {
	t.Helper()
	want := map[string]string{"kept": "1", "added": "1", "changed": "2", "up": "1", "moved": "1"}
	if diff := cmp.Diff(want, r.configMaps(t)); diff != "" {
		t.Errorf("ConfigMaps: %s", diff)
	}
	wantEntries := []string{
		"one: added__ConfigMap", "one: kept__ConfigMap", "three: moved__ConfigMap", "three: web_apps_Deployment",
		"two: changed__ConfigMap", "two: up__ConfigMap",
	}
	if diff := cmp.Diff(wantEntries, r.recorded(t, set)); diff != "" {
		t.Errorf("inventories: %s", diff)
	}
}

func TestKill_AfterEveryWriteAnotherProcessFinishes(t *testing.T) {
	t.Parallel()
	const most = 60 // writes of the whole transition
	eachCut(t, most, killed)
}

// eachCut runs a test for each number of writes after which the process ends, several at a time, until it is told that there
// were not as many.
func eachCut(t *testing.T, most int64, test func(t *testing.T, writes int64) (cut bool)) {
	t.Helper()
	done := false
	for n := int64(0); n < most && !done; n += 4 {
		results := [4]bool{}
		t.Run(fmt.Sprintf("from %d", n), func(t *testing.T) {
			for i := range results {
				t.Run(fmt.Sprint(n+int64(i)), func(t *testing.T) {
					t.Parallel()
					results[i] = test(t, n+int64(i))
				})
			}
		})
		done = t.Failed() || !results[3]
	}
	if !done {
		t.Errorf("it takes more than %d writes", most)
	}
}

// killed cuts the controller off after a number of writes of a transition, and reports whether there were as many.
func killed(t *testing.T, writes int64) bool {
	r := newRig(t)
	r.publish(t, "one", configMap("kept", "1"), configMap("removed", "1"), configMap("moved", "1"))
	r.publish(t, "two", configMap("changed", "1"))
	r.publish(t, "three", configMap("up", "1"), deployment("web", 0))
	set := stageSet("shop", "one", "two", "three")
	r.Create(t, set)
	stop := r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	r.wire.quiet(t)
	cut := r.wire.cutAfter(writes)
	r.transition(t)
	r.Await(t, set, func() error {
		if cut.Load() || r.settledAt(set) {
			return nil
		}
		return fmt.Errorf("neither cut off nor finished: %+v", set.Status.Run)
	})
	stop()
	r.wire.setStop(nil)
	r.start(t)
	r.Await(t, set, func() error {
		if !r.settledAt(set) {
			return fmt.Errorf("not finished: run %+v, stages %+v, conditions %+v", set.Status.Run, set.Status.Stages, set.Status.Conditions)
		}
		return nil
	})
	r.wantTransition(t, set)
	return cut.Load()
}

// settledAt says whether a StageSet has applied everything that its sources publish now.
func (r *rig) settledAt(set *stagesv1.StageSet) bool {
	if set.Status.Run != nil || set.Status.LastApplied == nil {
		return false
	}
	for _, revision := range set.Status.LastApplied.Revisions {
		if revision.Digest != r.digest(revision.Stage) {
			return false
		}
	}
	return true
}

func TestTeardown_RemovesEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.transition(t)
	set := stageSet("shop", "one", "two", "three")
	r.Create(t, set)
	r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, set)
	if left := r.configMaps(t); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if left := r.recorded(t, set); len(left) > 0 {
		t.Errorf("recorded are %v", left)
	}
}
