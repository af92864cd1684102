package stageset

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// stuck is a Deployment whose pods cannot be scheduled: it is never healthy.
func stuck(name string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {nodeSelector: {no: where}, containers: [{name: main, image: nginx}]}`, name)
}

// awaitWaiting waits until a StageSet waits in a stage at what its source publishes now.
func (r *rig) awaitWaiting(t testing.TB, set *stagesv1.StageSet, stage string) {
	t.Helper()
	r.Await(t, set, func() error {
		run := set.Status.Run
		if run == nil || run.Stage != stage || run.Step != stagesv1.StepWait {
			return fmt.Errorf("the run is %+v", run)
		}
		for _, revision := range run.Revisions {
			if revision.Digest != r.digest(revision.Stage) {
				return fmt.Errorf("stage %s is at %s", revision.Stage, revision.Revision)
			}
		}
		return nil
	})
}

func TestPreempt_ANewRevisionEndsAWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"))
	app := r.publish(t, "app", configMap("app", "1"))
	set := stageSet("shop", "base", "app")
	r.Create(t, set)
	r.start(t)
	r.awaitWaiting(t, set, "base")
	began := time.Now()
	r.publish(t, "base", deployment("web", 1))
	r.awaitApplied(t, set, "app", app)
	t.Logf("%v after the new revision everything was applied", time.Since(began))
}

func TestPreempt_ASpecEditEndsAWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"))
	app := r.publish(t, "app", configMap("app", "1"))
	set := stageSet("shop", "base", "app")
	r.Create(t, set)
	r.start(t)
	r.awaitWaiting(t, set, "base")
	edit(t, r, set, func(set *stagesv1.StageSet) {
		set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{DisableWait: true}
	})
	r.awaitApplied(t, set, "app", app)
}

func TestPreempt_ADeletionEndsAWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"), configMap("base", "1"))
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.start(t)
	r.awaitWaiting(t, set, "base")
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, set)
	if left := r.configMaps(t); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

func TestPreempt_FrequentRevisionsDoNotKeepTheLastStageFromItsTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"))
	r.publish(t, "last", configMap("last", "1"))
	set := stageSet("shop", "base", "last")
	r.Create(t, set)
	r.start(t)
	for i := range patienceForNewer {
		r.awaitWaiting(t, set, "base")
		r.publish(t, "base", stuck("web"), configMap("n", fmt.Sprint(i)))
	}
	r.awaitWaiting(t, set, "base") // the one that is let through
	pinned := set.Status.Run.ID
	base := r.publish(t, "base", deployment("web", 1), configMap("n", "newer"))
	// Somebody helps the objects of the pinned revision: the run reaches its end, and only then the newer one begins.
	edit(t, r, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: r.Namespace}}, func(d *appsv1.Deployment) {
		d.Spec.Replicas = new(int32)
	})
	r.Await(t, set, func() error {
		if applied := set.Status.LastApplied; applied == nil || applied.ID != pinned {
			return fmt.Errorf("the run did not reach its end: %+v, applied is %+v", set.Status.Run, applied)
		}
		return nil
	})
	r.awaitApplied(t, set, "base", base)
}

func TestPreempt_TimeoutFailsAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"))
	set := stageSet("shop", "base")
	set.Spec.Timeout = &metav1.Duration{Duration: time.Second}
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
	r.Create(t, set)
	r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonStageFailed)
	r.Await(t, set, func() error {
		if run := set.Status.Run; run == nil || run.Failed != "" {
			return fmt.Errorf("it is not tried again: %+v", run)
		}
		return nil
	})
	base := r.publish(t, "base", deployment("web", 1))
	r.awaitApplied(t, set, "base", base)
}

// From what ends a wait of the default fifteen minutes to the first write that it causes.
func BenchmarkPreempt_AWait(b *testing.B) {
	const samples = 40
	r := newRig(b)
	r.start(b)
	w := r.watched(b, &corev1.ConfigMapList{})
	took := map[string][]time.Duration{}
	measure := func(what string, set *stagesv1.StageSet, change func(), is func(watch.Event, *corev1.ConfigMap) bool) {
		r.awaitWaiting(b, set, set.Name)
		r.wire.quiet(b)
		began := time.Now()
		change()
		until(b, w, func(event watch.Event) bool {
			got, ok := event.Object.(*corev1.ConfigMap)
			return ok && got.Name == set.Name && is(event, got)
		})
		took[what] = append(took[what], time.Since(began))
	}
	value := func(want string) func(watch.Event, *corev1.ConfigMap) bool {
		return func(_ watch.Event, got *corev1.ConfigMap) bool { return got.Data["value"] == want }
	}
	for round := range b.N {
		for i := range samples {
			set := tested(fmt.Sprintf("set%d-%d", round, i), fmt.Sprintf("set%d-%d", round, i))
			r.publish(b, set.Name, configMap(`"${name}"`, "first ${value:=one}"))
			r.Create(b, set)
			measure("revision", set, func() { r.publish(b, set.Name, configMap(`"${name}"`, "second ${value:=one}")) }, value("second one"))
			measure("edit", set, func() {
				edit(b, r, set, func(set *stagesv1.StageSet) { set.Spec.Stages[0].PostBuild.Substitute["value"] = "two" })
			}, value("second two"))
			measure("deletion", set, func() {
				if err := r.Client.Delete(b.Context(), set); err != nil {
					b.Fatal(err)
				}
			}, func(event watch.Event, _ *corev1.ConfigMap) bool { return event.Type == watch.Deleted })
		}
	}
	for what, times := range took {
		report(b, times, what+"-")
	}
}
