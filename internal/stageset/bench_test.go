package stageset

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// named is a StageSet whose objects are called after it: one artifact does for many.
func named(name string, stages ...string) *stagesv1.StageSet {
	set := stageSet(name, stages...)
	for i := range set.Spec.Stages {
		set.Spec.Stages[i].PostBuild = &stagesv1.PostBuild{Substitute: map[string]string{"name": name}}
	}
	return set
}

// tested is a StageSet whose first stage waits until somebody says of its ConfigMap that it was tested.
func tested(name string, stages ...string) *stagesv1.StageSet {
	set := named(name, stages...)
	set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{Exprs: []stagesv1.HealthExpressions{{
		APIVersion: "v1", Kind: "ConfigMap", Current: "has(metadata.annotations) && metadata.annotations['tested'] == 'yes'",
	}}}
	return set
}

// awaitAllWaiting waits until a number of StageSets wait for their objects.
func (r *rig) awaitAllWaiting(t testing.TB, want int) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		var sets stagesv1.StageSetList
		if err := r.Client.List(ctx, &sets, client.InNamespace(r.Namespace)); err != nil {
			return err
		}
		n := 0
		for i := range sets.Items {
			if run := sets.Items[i].Status.Run; run != nil && run.Step == stagesv1.StepWait {
				n++
			}
		}
		if n < want {
			return fmt.Errorf("%d of %d wait", n, want)
		}
		return nil
	})
}

func TestWaiting_HoldsNoWorker(t *testing.T) {
	t.Parallel()
	const stuckOnes = 20
	r := newRig(t, func(o *Options) { o.Concurrent = 1 })
	r.publish(t, "gate", configMap(`"${name}"`, "1"))
	for i := range stuckOnes {
		r.Create(t, tested(fmt.Sprintf("stuck%d", i), "gate"))
	}
	r.start(t)
	r.awaitAllWaiting(t, stuckOnes)
	r.wire.quiet(t) // nobody asks while nothing happens
	r.publish(t, "near", configMap("near", "1"))
	near := stageSet("near", "near")
	r.Create(t, near)
	r.awaitReason(t, near, stagesv1.ReasonSucceeded)
	r.wire.quiet(t)
	r.awaitAllWaiting(t, stuckOnes)
}

// cpu is what the process has used, the test's own share included.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// watched tells when something happens to objects of a kind in the namespace.
func (r *rig) watched(b *testing.B, list client.ObjectList) watch.Interface {
	b.Helper()
	c, err := client.NewWithWatch(r.Config, client.Options{Scheme: r.Scheme})
	if err != nil {
		b.Fatal(err)
	}
	w, err := c.Watch(b.Context(), list, client.InNamespace(r.Namespace))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Stop)
	return w
}

// until takes events until one is what is waited for.
func until(b *testing.B, w watch.Interface, is func(watch.Event) bool) {
	b.Helper()
	timeout := time.After(5 * time.Minute)
	for {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				b.Fatal("the watch has ended")
			}
			if is(event) {
				return
			}
		case <-timeout:
			b.Fatal("it did not happen")
		}
	}
}

// succeeded is the event of a StageSet that is Ready at a digest of its first stage, or at any where none is given.
func succeeded(name, digest string) func(watch.Event) bool {
	return func(event watch.Event) bool {
		set, ok := event.Object.(*stagesv1.StageSet)
		if !ok || set.Name != name || !meta.IsStatusConditionTrue(set.Status.Conditions, "Ready") || set.Status.Run != nil {
			return false
		}
		return digest == "" || set.Status.LastApplied.Revisions[0].Digest == digest
	}
}

// many are ConfigMaps called after their StageSet.
func many(stage string, n int, value func(i int) string) []string {
	manifests := make([]string, n)
	for i := range manifests {
		manifests[i] = configMap(fmt.Sprintf(`"${name}-%s-%d"`, stage, i), value(i))
	}
	return manifests
}

// Three stages of 300 ConfigMaps, as the controller itself, so that the wire sees all requests.
func BenchmarkRollout_ThreeStagesOf300(b *testing.B) {
	const size = 300
	r := newRig(b)
	stages := []string{"s0", "s1", "s2"}
	generation, full := 0, ""
	publish := func(changed int) { // so many objects of each stage are as they never were
		if generation++; changed == size {
			full = fmt.Sprint(generation)
		}
		for _, stage := range []string{"s2", "s1", "s0"} { // the first stage is what the end is seen by
			r.publish(b, stage, many(stage, size, func(i int) string {
				if i < changed {
					return fmt.Sprint(generation)
				}
				return full
			})...)
		}
	}
	publish(size)
	r.start(b)
	w := r.watched(b, &stagesv1.StageSetList{})
	made := 0
	measure := func(b *testing.B, begin func(), end func(watch.Event) bool) {
		b.Helper()
		r.wire.take()
		used := cpu(b)
		b.StartTimer()
		begin()
		until(b, w, end)
		b.StopTimer()
		b.ReportMetric((cpu(b) - used).Seconds(), "cpu-s")
		b.ReportMetric(float64(len(r.wire.take())), "requests")
	}
	create := func(b *testing.B) *stagesv1.StageSet {
		b.Helper()
		made++
		set := named(fmt.Sprintf("set%d", made), stages...)
		r.Create(b, set)
		return set
	}
	b.Run("create", func(b *testing.B) {
		b.StopTimer()
		for range b.N {
			var set *stagesv1.StageSet
			measure(b, func() { set = create(b) }, succeeded(fmt.Sprintf("set%d", made+1), ""))
			r.remove(b, set)
		}
	})
	b.Run("nothing changed", func(b *testing.B) {
		b.StopTimer()
		set := create(b)
		until(b, w, succeeded(set.Name, ""))
		r.wire.quiet(b)
		for range b.N {
			token := fmt.Sprint(time.Now().UnixNano())
			measure(b, func() {
				edit(b, r, set, func(set *stagesv1.StageSet) {
					metav1.SetMetaDataAnnotation(&set.ObjectMeta, "reconcile.fluxcd.io/requestedAt", token)
				})
			}, func(event watch.Event) bool {
				got, ok := event.Object.(*stagesv1.StageSet)
				return ok && got.Status.LastHandledReconcileAt == token
			})
		}
		r.remove(b, set)
	})
	for name, changed := range map[string]int{"new revision, all changed": size, "new revision, one of each stage": 1} {
		b.Run(name, func(b *testing.B) {
			b.StopTimer()
			set := create(b)
			until(b, w, succeeded(set.Name, ""))
			for range b.N {
				r.wire.quiet(b)
				measure(b, func() { publish(changed) }, func(event watch.Event) bool { return succeeded(set.Name, r.digest("s0"))(event) })
			}
			r.remove(b, set)
		})
	}
}

func BenchmarkChain_TenDependents(b *testing.B) {
	const links = 10
	r := newRig(b)
	r.publish(b, "one", configMap(`"${name}"`, "1"))
	r.start(b)
	w := r.watched(b, &stagesv1.StageSetList{})
	b.StopTimer()
	var alone time.Duration
	for i := range b.N {
		began := time.Now()
		single := named(fmt.Sprintf("alone%d", i), "one")
		r.Create(b, single)
		until(b, w, succeeded(single.Name, ""))
		alone += time.Since(began)
		sets := []*stagesv1.StageSet{single}
		b.StartTimer()
		for j := range links {
			set := named(fmt.Sprintf("link%d-%d", i, j), "one")
			if j > 0 {
				dependsOn(set, fmt.Sprintf("link%d-%d", i, j-1))
			}
			r.Create(b, set)
			sets = append(sets, set)
		}
		until(b, w, succeeded(fmt.Sprintf("link%d-%d", i, links-1), ""))
		b.StopTimer()
		for _, set := range sets {
			r.remove(b, set)
		}
	}
	b.ReportMetric(alone.Seconds()/float64(b.N), "alone-s")
}

// From an object turning healthy to the first object of the next stage being there.
func BenchmarkReadiness_ToTheNextStage(b *testing.B) {
	const samples = 110
	r := newRig(b)
	r.publish(b, "gate", configMap(`"${name}"`, "1"))
	r.publish(b, "next", configMap(`"next-${name}"`, "1"))
	r.start(b)
	w := r.watched(b, &corev1.ConfigMapList{})
	var took []time.Duration
	for round := range b.N {
		var sets []*stagesv1.StageSet
		for i := range samples {
			sets = append(sets, tested(fmt.Sprintf("set%d-%d", round, i), "gate", "next"))
			r.Create(b, sets[i])
		}
		r.awaitAllWaiting(b, samples)
		r.wire.quiet(b)
		for _, set := range sets {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: set.Name, Namespace: r.Namespace}}
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"tested":"yes"}}}`))
			began := time.Now()
			if err := r.Client.Patch(b.Context(), object, patch); err != nil {
				b.Fatal(err)
			}
			until(b, w, func(event watch.Event) bool {
				got, ok := event.Object.(*corev1.ConfigMap)
				return ok && event.Type == watch.Added && got.Name == "next-"+set.Name
			})
			took = append(took, time.Since(began))
		}
		for _, set := range sets {
			r.remove(b, set)
		}
	}
	report(b, took, "")
}

// report reports the middle and the slowest hundredth, in milliseconds.
func report(b *testing.B, took []time.Duration, what string) {
	b.Helper()
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[min(int(share*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), what+"median-ms")
	b.ReportMetric(at(0.99), what+"p99-ms")
}

// Another StageSet's time from create to Ready, alone and while two hundred wait for their objects.
func BenchmarkWaiting_TwoHundred(b *testing.B) {
	const stuckOnes, samples = 200, 30
	r := newRig(b)
	r.publish(b, "gate", configMap(`"${name}"`, "1"))
	r.publish(b, "near", configMap(`"near-${name}"`, "1"))
	r.start(b)
	w := r.watched(b, &stagesv1.StageSetList{})
	n := 0
	measure := func() (took []time.Duration) {
		for range samples {
			n++
			set := named(fmt.Sprintf("near%d", n), "near")
			began := time.Now()
			r.Create(b, set)
			until(b, w, succeeded(set.Name, ""))
			took = append(took, time.Since(began))
			r.remove(b, set)
		}
		return took
	}
	size := func(what string) {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		b.ReportMetric(float64(stats.HeapAlloc)/(1<<20), what+"heap-MiB")
		b.ReportMetric(float64(runtime.NumGoroutine()), what+"goroutines")
	}
	measure() // what is done once is done
	var idle, busy []time.Duration
	for round := range b.N {
		idle = append(idle, measure()...)
		size("idle-")
		var sets []*stagesv1.StageSet
		for i := range stuckOnes {
			sets = append(sets, tested(fmt.Sprintf("stuck%d-%d", round, i), "gate"))
			r.Create(b, sets[i])
		}
		r.awaitAllWaiting(b, stuckOnes)
		r.wire.quiet(b)
		busy = append(busy, measure()...)
		size("waiting-")
		for _, set := range sets {
			r.remove(b, set)
		}
	}
	report(b, idle, "idle-")
	report(b, busy, "waiting-")
}
