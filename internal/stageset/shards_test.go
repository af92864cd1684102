package stageset

import (
	"fmt"
	"testing"

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

// BenchmarkShards_TwelveThousandObjects is a stage of three full shards.
func BenchmarkShards_TwelveThousandObjects(b *testing.B) {
	const objects, limit = 12000, 5000
	for b.Loop() {
		r := newRig(b)
		all := numbered("n", objects)
		r.publish(b, "one", all...)
		r.start(b)
		set := stageSet("shop", "one")
		r.Create(b, set)
		for !r.progress(b, set) { // longer than other tests wait
		}
		r.wantShards(b, "one", objects, limit)
		b.ReportMetric(float64(len(r.wire.take())), "requests/op")
	}
}

// progress waits until a StageSet is settled or has applied more than it had.
func (r *rig) progress(t testing.TB, set *stagesv1.StageSet) (done bool) {
	t.Helper()
	had := len(r.census(t))
	r.Await(t, set, func() error {
		if done = r.settledAt(set); done || len(r.census(t)) > had {
			return nil
		}
		return fmt.Errorf("there are still %d objects: run %+v, conditions %+v", had, set.Status.Run, set.Status.Conditions)
	})
	return done
}
