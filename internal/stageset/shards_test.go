package stageset

import (
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// wantShards says that a stage is recorded in as many shards as it needs, none above the cap.
func (r *rig) wantShards(t testing.TB, stage string, entries, limit int) {
	t.Helper()
	total, shards := 0, 0
	for _, shard := range r.shards(t) {
		if shard.Labels[stagesv1.StageLabel] != stage {
			continue
		}
		shards++
		total += len(shard.Spec.Entries)
		if n := len(shard.Spec.Entries); n > limit {
			t.Errorf("shard %s has %d entries, more than %d", shard.Name, n, limit)
		}
	}
	if least := (entries + limit - 1) / limit; total != entries || shards < least {
		t.Errorf("stage %s has %d entries in %d shards, want %d in at least %d", stage, total, shards, entries, least)
	}
}

func TestShards_NeverAboveTheCapWhileObjectsMove(t *testing.T) {
	t.Parallel()
	const limit = 10
	r := newRig(t, func(o *Options) { o.ShardCap = limit })
	all := numbered("n", 95)
	r.publish(t, "one", all...)
	r.publish(t, "two", configMap("two", "1"))
	r.start(t)
	set := stageSet("shop", "one", "two")
	before := r.settle(t, set)
	r.wantShards(t, "one", 95, limit)
	for _, split := range []int{60, 20, 75} {
		r.together(t, set, func() {
			r.publish(t, "one", all[:split]...)
			r.publish(t, "two", append([]string{configMap("two", "1")}, all[split:]...)...)
		})
		r.awaitSettled(t, set)
		r.wantShards(t, "one", split, limit)
		r.wantShards(t, "two", 96-split, limit)
	}
	even, odd := []string{}, []string{configMap("two", "1")}
	for i, manifest := range all {
		if i%2 == 0 {
			even = append(even, manifest)
		} else {
			odd = append(odd, manifest)
		}
	}
	r.together(t, set, func() {
		r.publish(t, "one", even...)
		r.publish(t, "two", odd...)
	})
	r.awaitSettled(t, set)
	r.wantShards(t, "one", 48, limit)
	r.wantShards(t, "two", 48, limit)
	r.wantGone(t, before)
	if gone := deletions(r.wire.take()); len(gone) > 0 {
		t.Errorf("deleted were %v", gone)
	}
}

// A stage of three full shards, from its beginning to its end.
func BenchmarkShards_TwelveThousandObjects(b *testing.B) {
	const objects, limit = 12000, 5000
	for range b.N {
		r := newRig(b)
		all := numbered("n", objects)
		r.publish(b, "one", all...)
		r.start(b)
		w := r.watched(b, &stagesv1.StageSetList{})
		set := stageSet("shop", "one")
		measure := func(what string, change func(), end func(watch.Event) bool) {
			r.wire.quiet(b)
			began := time.Now()
			change()
			until(b, w, end)
			b.ReportMetric(time.Since(began).Seconds(), what+"-s")
			b.ReportMetric(float64(len(r.wire.take())), what+"-requests")
		}
		measure("create", func() { r.Create(b, set) }, succeeded(set.Name, ""))
		r.wantShards(b, "one", objects, limit)
		before := r.census(b)
		measure("unchanged", func() {
			edit(b, r, set, func(set *stagesv1.StageSet) {
				metav1.SetMetaDataAnnotation(&set.ObjectMeta, fluxmeta.ReconcileRequestAnnotation, "now")
			})
		}, func(event watch.Event) bool {
			got, ok := event.Object.(*stagesv1.StageSet)
			return ok && got.Status.LastHandledReconcileAt == "now"
		})
		measure("revision", func() { r.publish(b, "one", append(all[1:objects-2:objects-2], configMap("n-0", "2"))...) }, func(event watch.Event) bool {
			return succeeded(set.Name, r.digest("one"))(event)
		})
		r.wantShards(b, "one", objects-2, limit)
		r.wantGone(b, before, "n-11998", "n-11999")
		measure("teardown", func() {
			if err := r.Client.Delete(b.Context(), set); err != nil {
				b.Fatal(err)
			}
		}, func(event watch.Event) bool { return event.Type == watch.Deleted })
		if left := r.configMaps(b); len(left) > 0 {
			b.Errorf("%d objects are left", len(left))
		}
		r.wantShards(b, "one", 0, limit)
	}
}
