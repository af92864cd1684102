package stageset

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// TestTeardown_WithoutItNoInventoryIsLeft: its finalizer would hold the namespace for ever.
func TestTeardown_WithoutItNoInventoryIsLeft(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*testing.T, *rig, *stagesv1.StageSet){
		"the finalizer was taken": func(t *testing.T, r *rig, set *stagesv1.StageSet) {
			edit(t, r, set, func(set *stagesv1.StageSet) {
				set.Finalizers = nil
				set.Spec.Suspend = true // or the controller sets it again
			})
			if err := r.Client.Delete(t.Context(), set); err != nil {
				t.Fatal(err)
			}
		},
		"dependents are orphaned": func(t *testing.T, r *rig, set *stagesv1.StageSet) {
			orphan := client.PropagationPolicy(metav1.DeletePropagationOrphan)
			if err := r.Client.Delete(t.Context(), set, orphan); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "one", configMap("one", "1"))
			r.publish(t, "other", configMap("other", "1"))
			r.start(t)
			r.settle(t, stageSet("other", "other"))
			set := stageSet("shop", "one")
			before := r.settle(t, set)
			remove(t, r, set)
			r.AwaitGone(t, set)
			kubetest.Eventually(t, func(context.Context) error {
				if left := r.shards(t); len(left) != 1 || left[0].Labels[stagesv1.NameLabel] != "other" {
					return fmt.Errorf("inventories are left: %v", left)
				}
				return nil
			})
			r.wantGone(t, before)
			// One of the same name takes its objects over.
			again := stageSet("shop", "one")
			r.Create(t, again)
			r.awaitSettled(t, again)
			r.wantGone(t, before)
			r.remove(t, again)
			r.wantGone(t, before, "one")
		})
	}
}

// TestTeardown_IsForcedThoughNothingIsAnswered: requests that end with the reconciliation's time must not take it all, each time.
func TestTeardown_IsForcedThoughNothingIsAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t, short)
	r.publish(t, "one", configMap("one", "1"))
	stop := r.start(t)
	set := stageSet("shop", "one")
	before := r.settle(t, set)
	stop()
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	direct, err := client.NewWithWatch(r.Config, client.Options{Scheme: r.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	silence := interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			<-ctx.Done()
			return ctx.Err()
		},
	})
	options, err := r.options.complete()
	if err != nil {
		t.Fatal(err)
	}
	c := &stageSets{
		options: options, client: r.Client, live: r.Client, clusters: &clusters{own: silence}, applier: apply.NewApplier(0),
		inventories: inventory.NewStore(inventory.StoreOptions{Client: r.Client, Reader: r.Client}),
		waits:       health.NewWatcher(health.WatcherOptions{}), watches: unwatching{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 16*time.Second)
	defer cancel()
	r.Await(t, set, func() error { return nil })
	if _, err := c.teardown(ctx, &scope{set: set, now: time.Now()}); err == nil || !strings.Contains(err.Error(), "it is given up at") {
		t.Errorf("before its time is over: %v", err)
	}
	later, cancel := context.WithTimeout(t.Context(), 16*time.Second)
	defer cancel()
	r.Await(t, set, func() error { return nil })
	if _, err := c.teardown(later, &scope{set: set, now: time.Now().Add(time.Hour)}); err != nil {
		t.Error(err)
	}
	r.AwaitGone(t, set)
	r.wantGone(t, before)
	if left := r.shards(t); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// unwatching watches nothing.
type unwatching struct{}

func (unwatching) Set(types.NamespacedName, []objectwatch.Need) bool { return true }
