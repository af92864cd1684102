package health

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// BenchmarkWake measures from the answer to a change of an object to the wake of who waits for it.
func BenchmarkWake(b *testing.B) {
	e := kubetest.Start(b)
	f := start(b, e, nil, WatcherOptions{})
	kind := shops(b, e)
	ready, closed := f.object(kind, "a", nil), f.object(kind, "b", nil)
	f.Create(b, ready, closed)
	setReady(b, e, ready, metav1.ConditionTrue, "")
	setReady(b, e, closed, metav1.ConditionFalse, "")
	for name, targets := range map[string][]Target{
		"last":   {targetOf(ready)},                   // all is ready then
		"failed": {targetOf(ready), targetOf(closed)}, // and when it fails
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				b.StopTimer()
				f.Forget(f.user)
				setReady(b, e, ready, metav1.ConditionFalse, "closed")
				f.lookUntil(b, f.wait(targets...), func(r Report) bool { return r.Status.Message == "closed" })
				kubetest.Eventually(b, func(context.Context) error { // the watch is open, and has told all of it
					if version := f.version(f.user); version != ready.GetResourceVersion() {
						return fmt.Errorf("known is version %s", version)
					}
					return nil
				})
				time.Sleep(2 * slow / 10) //nolint:forbidigo // what it waits for is that nothing more comes
				before := f.woken(f.user)
				b.StartTimer()
				if name == "last" {
					setReady(b, e, ready, metav1.ConditionTrue, "open")
				} else {
					setStatus(b, e, ready, map[string]any{"conditions": []any{map[string]any{"type": "Stalled", "status": "True"}}})
				}
				changed := time.Now()
				f.awaitWake(b, before)
				f.mu.Lock()
				took = append(took, f.wakes[f.user][before].Sub(changed))
				f.mu.Unlock()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
		})
	}
}

// BenchmarkWaiting measures what 200 users cost that wait for three kinds each, in a namespace of their own.
func BenchmarkWaiting(b *testing.B) {
	const users = 200
	e := kubetest.Start(b)
	kind := shops(b, e)
	claims := corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	kinds := map[schema.GroupVersionKind]map[string]any{
		kind:       nil,
		configMaps: nil,
		claims: {"spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "none-provides-this",
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}},
	}
	f := start(b, e, nil, WatcherOptions{})
	waits := make([]Wait, users)
	var group sync.WaitGroup
	limit := make(chan struct{}, 8)
	for n := range users {
		group.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			namespace := e.NewNamespace(b)
			own := &fixture{Env: &kubetest.Env{Namespace: namespace}, user: types.NamespacedName{Namespace: namespace, Name: "shop"}, cluster: f.cluster}
			var targets []Target
			for kind, content := range kinds {
				object := own.object(kind, "a", (&unstructured.Unstructured{Object: content}).DeepCopy().Object)
				e.Create(b, object)
				targets = append(targets, targetOf(object))
			}
			waits[n] = own.wait(targets...)
			waits[n].Schemas = reporting(true)
		})
	}
	group.Wait()
	before, goroutines := heap()
	for b.Loop() {
		for n := range users {
			user := types.NamespacedName{Namespace: waits[n].Owner.Namespace, Name: "shop"}
			if report, err := f.Look(b.Context(), user, waits[n]); err != nil || report.Pending != 2 {
				b.Fatalf("%+v, %v", report, err)
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(f.Len()), "watches")
	after, more := heap()
	b.ReportMetric((after-before)/users, "KiB-heap/user")
	b.ReportMetric(float64(more-goroutines)/float64(f.Len()), "goroutines/watch")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*users), "µs/look")
}

// heap returns the KiB that are in use, and the goroutines.
func heap() (float64, int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / 1024, runtime.NumGoroutine()
}
