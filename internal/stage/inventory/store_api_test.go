package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// live is a StageSet on a real API server, and a store for its inventories.
//
//nolint:revive // four things that belong together, for tests alone
func live(t *testing.T, shardCap int) (*kubetest.Env, *inventory.Store, *stagesv1.StageSet, inventory.Owner) {
	t.Helper()
	env := kubetest.Start(t, stagesv1.AddToScheme)
	set := &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	set.Spec.Stages = []stagesv1.Stage{{Name: "web", SourceRef: stagesv1.SourceReference{Name: "app"}}}
	env.Create(t, set)
	store := inventory.NewStore(inventory.StoreOptions{Client: env.Client, Reader: env.Client, ShardCap: shardCap})
	owner := inventory.Owner{Namespace: set.Namespace, Name: set.Name, UID: set.UID}
	t.Cleanup(func() { // our finalizer would hold the namespace
		if err := store.Forget(context.Background(), owner); err != nil {
			t.Error(err)
		}
	})
	return env, store, set, owner
}

func shardsOf(ctx context.Context, env *kubetest.Env) ([]stagesv1.StageInventory, error) {
	var list stagesv1.StageInventoryList
	err := env.Client.List(ctx, &list, client.InNamespace(env.Namespace))
	return list.Items, err
}

func awaitShards(t *testing.T, env *kubetest.Env, check func([]stagesv1.StageInventory) error) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		shards, err := shardsOf(ctx, env)
		if err != nil {
			return err
		}
		return check(shards)
	})
}

func allDeleting(shards []stagesv1.StageInventory) error {
	for _, shard := range shards {
		if shard.DeletionTimestamp == nil {
			return errors.New(shard.Name + " is not being deleted")
		}
	}
	return nil
}

func none(shards []stagesv1.StageInventory) error {
	if len(shards) > 0 {
		return fmt.Errorf("%d shards are left", len(shards))
	}
	return nil
}

func TestStore_ShardsOutliveTheirDeletion(t *testing.T) {
	for name, remove := range map[string]func(ctx context.Context, env *kubetest.Env, set *stagesv1.StageSet) error{
		"somebody deletes the shards": func(ctx context.Context, env *kubetest.Env, _ *stagesv1.StageSet) error {
			return env.Client.DeleteAllOf(ctx, &stagesv1.StageInventory{}, client.InNamespace(env.Namespace))
		},
		"foreground deletion of the StageSet": func(ctx context.Context, env *kubetest.Env, set *stagesv1.StageSet) error {
			return env.Client.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationForeground))
		},
		"background deletion of a StageSet without a finalizer": func(ctx context.Context, env *kubetest.Env, set *stagesv1.StageSet) error {
			return env.Client.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationBackground))
		},
	} {
		t.Run(name, func(t *testing.T) {
			env, store, set, owner := live(t, 10)
			stage := inventory.Stage{Name: "web", Entries: entriesOf(25), Shards: 3}
			save(t, store, owner, stage)
			if err := remove(t.Context(), env, set); err != nil {
				t.Fatal(err)
			}
			awaitShards(t, env, allDeleting)

			t.Log("they still count")
			if diff := cmp.Diff([]inventory.Stage{stage}, load(t, store, owner)); diff != "" {
				t.Errorf("inventory (-want +got):\n%s", diff)
			}
			t.Log("and lose entries one by one")
			stage.Entries, stage.Shards = stage.Entries[:5], 1
			if got := save(t, store, owner, stage); got != 1 {
				t.Errorf("%d shards", got)
			}
			if diff := cmp.Diff([]inventory.Stage{stage}, load(t, store, owner)); diff != "" {
				t.Errorf("inventory (-want +got):\n%s", diff)
			}
			t.Log("until nothing holds them")
			save(t, store, owner, inventory.Stage{Name: "web"})
			awaitShards(t, env, none)
		})
	}
}

func TestStore_NewEntriesDoNotGoIntoAShardThatIsBeingDeleted(t *testing.T) {
	env, store, _, owner := live(t, 100)
	save(t, store, owner, inventory.Stage{Name: "web", Entries: entriesOf(5)})
	if err := env.Client.DeleteAllOf(t.Context(), &stagesv1.StageInventory{}, client.InNamespace(env.Namespace)); err != nil {
		t.Fatal(err)
	}
	stage := inventory.Stage{Name: "web", Entries: entriesOf(8)}
	got, err := store.Save(t.Context(), owner, stage)
	if apierrors.IsConflict(err) { // what was read was not current, and is now
		load(t, store, owner)
		got, err = store.Save(t.Context(), owner, stage)
	}
	if err != nil || got != 2 {
		t.Errorf("%d shards, want a new one; error %v", got, err)
	}
	if got := load(t, store, owner)[0]; len(got.Entries) != 8 {
		t.Errorf("%d entries", len(got.Entries))
	}
}

func TestStore_NamespaceThatIsBeingDeletedKeepsTheInventory(t *testing.T) {
	env, store, _, owner := live(t, 100)
	stage := inventory.Stage{Name: "web", Entries: entriesOf(5), Shards: 1}
	save(t, store, owner, stage)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: env.Namespace}}
	if err := env.Client.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	// As the namespace controller does it, some time.
	if err := env.Client.DeleteAllOf(t.Context(), &stagesv1.StageInventory{}, client.InNamespace(env.Namespace)); err != nil {
		t.Fatal(err)
	}
	awaitShards(t, env, allDeleting)
	if diff := cmp.Diff([]inventory.Stage{stage}, load(t, store, owner)); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
	save(t, store, owner, inventory.Stage{Name: "web"})
	awaitShards(t, env, none)
}

func TestStore_ShardIsDescribed(t *testing.T) {
	env, store, set, owner := live(t, 100)
	save(t, store, owner, inventory.Stage{Name: "web", Position: 4, Entries: entriesOf(1)})
	shards, err := shardsOf(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := []metav1.OwnerReference{{
		APIVersion: "stages.stagewright.dev/v1", Kind: "StageSet", Name: "shop", UID: set.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	if diff := cmp.Diff(want, shards[0].OwnerReferences); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{stagesv1.NameLabel: "shop", stagesv1.StageLabel: "web"}, shards[0].Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{stagesv1.InventoryFinalizer}, shards[0].Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if shards[0].Spec.StagePosition != 4 {
		t.Errorf("position is %d", shards[0].Spec.StagePosition)
	}
}

func TestStore_MendsAShardThatSomebodyStripped(t *testing.T) {
	env, store, _, owner := live(t, 100)
	for name, strip := range map[string]func(*stagesv1.StageInventory){
		"of its finalizer": func(shard *stagesv1.StageInventory) { shard.Finalizers = nil },
		"of its labels":    func(shard *stagesv1.StageInventory) { shard.Labels = nil },
	} {
		t.Run(name, func(t *testing.T) {
			load(t, store, owner)
			save(t, store, owner, inventory.Stage{Name: "web", Entries: entriesOf(5)})
			shards, err := shardsOf(t.Context(), env)
			if err != nil {
				t.Fatal(err)
			}
			strip(&shards[0])
			if err := env.Client.Update(t.Context(), &shards[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Save(t.Context(), owner, inventory.Stage{Name: "web", Entries: entriesOf(6)}); err == nil {
				t.Error("it rests on what was not read")
			}
			load(t, store, owner)
			save(t, store, owner, inventory.Stage{Name: "web", Entries: entriesOf(6)})
			if shards, err = shardsOf(t.Context(), env); err != nil {
				t.Fatal(err)
			}
			if len(shards) != 1 || len(shards[0].Finalizers) != 1 || len(shards[0].Labels) != 2 || len(shards[0].Spec.Entries) != 6 {
				t.Errorf("shards are %+v", shards)
			}
		})
	}
}

// TestSave_ByTwoAtATime: two controllers, for a moment.
func TestSave_ByTwoAtATime(t *testing.T) {
	_, store, _, owner := live(t, 3)
	var writers sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		writers.Go(func() {
			for n := range 10 {
				if _, err := store.Save(t.Context(), owner, inventory.Stage{Name: "web", Entries: entriesOf(5 + n)}); err != nil {
					errs[i] = err
				}
			}
		})
	}
	writers.Wait()
	for _, err := range errs {
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
			t.Errorf("an error that is no conflict: %v", err)
		}
	}
	load(t, store, owner)
	save(t, store, owner, inventory.Stage{Name: "web", Entries: entriesOf(14)})
	if diff := cmp.Diff(entriesOf(14), load(t, store, owner)[0].Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestSave_LargestShardFits: what a shard can hold at most is not more than an API server takes.
func TestSave_LargestShardFits(t *testing.T) {
	_, store, _, owner := live(t, 5000)
	stage := inventory.Stage{Name: "web", Entries: entriesOf(12000)}
	for i := range stage.Entries {
		stage.Entries[i].ID.Name += "-" + long(200)
		stage.Entries[i].UID = "01234567-0123-0123-0123-0123456789ab"
		stage.Entries[i].Fingerprint = "0123456789abcdef.0123456789abcdef.kept"
	}
	save(t, store, owner, stage)
	if diff := cmp.Diff(stage.Entries, load(t, store, owner)[0].Entries); diff != "" {
		t.Errorf("entries differ")
	}
}
