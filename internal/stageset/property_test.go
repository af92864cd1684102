package stageset

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// release is what the stages of a StageSet render: the stage and the value of each object; an object without a stage is
// rendered by none.
type release struct {
	stage map[string]string
	value map[string]string
}

var releaseStages = []string{"one", "two", "three"}

const releaseObjects = 8

// drawRelease draws what is published.
func drawRelease(t *rapid.T, label string) release {
	drawn := release{stage: map[string]string{}, value: map[string]string{}}
	for i := range releaseObjects {
		name := fmt.Sprintf("object-%d", i)
		stage := rapid.SampledFrom(append([]string{""}, releaseStages...)).Draw(t, label+" stage of "+name)
		if stage != "" {
			drawn.stage[name], drawn.value[name] = stage, rapid.SampledFrom([]string{"1", "2"}).Draw(t, label+" value of "+name)
		}
	}
	return drawn
}

// publishRelease publishes it. Each stage has an object of its own, so that a stage is never emptied: the guard has tests of
// its own. The values are immutable where the release says so.
func (r *rig) publishRelease(t testing.TB, rel release) {
	t.Helper()
	for _, stage := range releaseStages {
		manifests := []string{configMap("own-"+stage, "1")}
		for _, name := range sortedKeys(rel.stage) {
			if rel.stage[name] == stage {
				manifests = append(manifests, configMap(name, rel.value[name])+immutableOf(name))
			}
		}
		r.publish(t, stage, manifests...)
	}
}

// immutableOf makes every fourth object one that has to be recreated when its value changes.
func immutableOf(name string) string {
	if strings.HasSuffix(name, "0") || strings.HasSuffix(name, "4") {
		return "\nimmutable: true"
	}
	return ""
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// wantRelease says that exactly a release is there and recorded, and what is somebody else's as it was.
func (r *rig) wantRelease(t testing.TB, set *stagesv1.StageSet, rel release, others census) {
	t.Helper()
	values := map[string]string{}
	var entries []string
	for _, stage := range releaseStages {
		values["own-"+stage] = "1"
		entries = append(entries, stage+": own-"+stage+"__ConfigMap")
	}
	for name, stage := range rel.stage {
		values[name] = rel.value[name]
		entries = append(entries, stage+": "+name+"__ConfigMap")
	}
	sort.Strings(entries)
	if diff := cmp.Diff(values, r.configMaps(t)); diff != "" {
		t.Errorf("ConfigMaps: %s", diff)
	}
	if diff := cmp.Diff(entries, r.recorded(t, set)); diff != "" {
		t.Errorf("inventories: %s", diff)
	}
	r.wantGone(t, others)
}

// disturb ends the process after a number of writes; the answer of the last one is lost where that is wished.
func (w *wire) disturb(writes int64, lost bool) *atomic.Bool {
	if !lost {
		return w.cutAfter(writes)
	}
	var seen atomic.Int64
	cut := &atomic.Bool{}
	w.setStop(func(string) error {
		if cut.Load() {
			return errCut
		}
		return nil
	})
	w.setLose(func(what string) error {
		if isWrite(what) && seen.Add(1) > writes {
			cut.Store(true)
			return errCut
		}
		return nil
	})
	return cut
}

// disturbed runs the controller until a StageSet is settled or the process ends after a number of writes, which it reports.
func (r *rig) disturbed(t testing.TB, set *stagesv1.StageSet, writes int64, lost bool) bool {
	t.Helper()
	cut := r.wire.disturb(writes, lost)
	stop := r.start(t)
	r.Await(t, set, func() error {
		if cut.Load() || r.settledAt(set) {
			return nil
		}
		return fmt.Errorf("neither cut off nor finished: run %+v, conditions %+v", set.Status.Run, set.Status.Conditions)
	})
	stop()
	r.wire.setStop(nil)
	r.wire.setLose(nil)
	return cut.Load()
}

// finish runs the controller until it has looked at a StageSet and that is settled: its status may say so already, of a release
// from which the objects were on their way to another one.
func (r *rig) finish(t testing.TB, set *stagesv1.StageSet) {
	t.Helper()
	stop := r.start(t)
	r.request(t, set)
	r.awaitSettled(t, set)
	stop()
}

// releasing is a StageSet of three stages that recreates what cannot be changed.
func releasing() *stagesv1.StageSet {
	set := stageSet("shop", releaseStages...)
	for i := range set.Spec.Stages {
		set.Spec.Stages[i].Force = true
	}
	return set
}

// Two releases that differ in everything in which releases can: objects that stay, change, move, come and go, and one that has to
// be recreated.
var (
	oneRelease = release{
		stage: map[string]string{"object-0": "one", "object-1": "one", "object-2": "one", "object-3": "three"},
		value: map[string]string{"object-0": "1", "object-1": "1", "object-2": "1", "object-3": "1"},
	}
	anotherRelease = release{
		stage: map[string]string{"object-0": "one", "object-2": "two", "object-3": "one", "object-5": "two"},
		value: map[string]string{"object-0": "2", "object-2": "1", "object-3": "2", "object-5": "1"},
	}
	changedRelease = release{ // where objects stay
		stage: oneRelease.stage,
		value: map[string]string{"object-0": "2", "object-1": "2", "object-2": "2", "object-3": "2"},
	}
)

// afterEachWrite calls a test with each number of writes after which a process is to end, until it says that there were not as
// many between two releases.
func afterEachWrite(t *testing.T, test func(writes int64) (cut bool)) {
	t.Helper()
	const most = 60
	for writes := range int64(most) {
		cut := test(writes)
		if t.Failed() {
			t.Fatalf("after %d writes", writes)
		}
		if !cut {
			return
		}
	}
	t.Errorf("it takes more than %d writes", most)
}

// TestKill_AnswerThatIsLost: the last write was made, but the process ends before it hears of it. One object is recreated on
// the way.
func TestKill_AnswerThatIsLost(t *testing.T) {
	t.Parallel()
	from, to := oneRelease, anotherRelease
	for name, lost := range map[string]bool{"answered": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			others := r.census(t)
			set := releasing()
			r.publishRelease(t, from)
			stop := r.start(t)
			r.settle(t, set)
			stop()
			next, last := to, from
			afterEachWrite(t, func(writes int64) (cut bool) { // there and back
				r.publishRelease(t, next)
				cut = r.disturbed(t, set, writes, lost)
				r.finish(t, set)
				r.wantRelease(t, set, next, others)
				next, last = last, next
				return cut
			})
		})
	}
}

// TestKill_ReleaseThatIsTakenBack: a process ends while it applies a release, and the one before is published again. What
// was written of the other, recorded or not, is as it was in the end.
func TestKill_ReleaseThatIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]release{"another": anotherRelease, "changed": changedRelease} {
		for how, lost := range map[string]bool{"answered": false, "lost": true} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				others := r.census(t)
				set := releasing()
				r.publishRelease(t, oneRelease)
				stop := r.start(t)
				r.settle(t, set)
				stop()
				afterEachWrite(t, func(writes int64) (cut bool) {
					r.publishRelease(t, other)
					cut = r.disturbed(t, set, writes, lost)
					r.publishRelease(t, oneRelease)
					r.finish(t, set)
					r.wantRelease(t, set, oneRelease, others)
					return cut
				})
			})
		}
	}
}

// chapter is one release of a history, and where processes end that apply it.
type chapter struct {
	release release
	cuts    []cut
}

// cut is the end of a process after a number of writes; the answer of the last one may be lost.
type cut struct {
	writes int64
	lost   bool
}

// drawHistory draws what is published one after the other. It only draws: what is tested with it must not run inside of a
// generator, which would try a failed one again and again.
func drawHistory(t *rapid.T) []chapter {
	history := make([]chapter, 3)
	for i := range history {
		history[i].release = drawRelease(t, fmt.Sprintf("release %d", i))
		for range rapid.IntRange(0, 2).Draw(t, fmt.Sprintf("cuts in release %d", i)) {
			writes, lost := rapid.Int64Range(0, 25).Draw(t, "writes"), rapid.Bool().Draw(t, "answer lost")
			history[i].cuts = append(history[i].cuts, cut{writes: writes, lost: lost})
		}
	}
	return history
}

// TestKill_RandomRuns: whatever is published and wherever the process ends, also before a release is applied that is replaced
// by another one then, the last release is there in the end and nothing else.
func TestKill_RandomRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bystander := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bystander", Labels: map[string]string{stagesv1.StageLabel: "one"}}}
	r.Create(t, bystander)
	others := r.census(t)
	set := releasing()
	r.publishRelease(t, release{})
	stop := r.start(t)
	r.settle(t, set)
	stop()
	histories := rapid.Custom(drawHistory)
	for range randomRuns {
		seed := int(rand.Int64N(1 << 31)) // a failure is found again by the seed that it logs
		t.Logf("seed %d", seed)
		history := histories.Example(seed)
		for _, chapter := range history {
			r.publishRelease(t, chapter.release)
			for _, cut := range chapter.cuts {
				r.disturbed(t, set, cut.writes, cut.lost)
			}
		}
		r.finish(t, set)
		r.wantRelease(t, set, history[len(history)-1].release, others)
		if t.Failed() {
			t.Fatalf("the state is not that of the last release of %+v", history)
		}
	}
}

// randomRuns bounds what random runs take of the time of all tests.
const randomRuns = 5
