package gate

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// Index holds the answers. It outlives the caches that fill it, so that while the API server is away, what was known last is
// answered. Its zero value answers that nothing is ready.
type Index struct {
	current atomic.Pointer[table]
}

// table is what one cache has filled.
type table struct {
	mu   sync.RWMutex
	sets map[types.NamespacedName]map[string]answer
}

func (t *table) get(set types.NamespacedName, stage string) (answer, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	found, ok := t.sets[set][stage]
	return found, ok
}

func (t *table) put(set *stagesv1.StageSet) {
	answers := answersOf(set)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sets[types.NamespacedName{Namespace: set.Namespace, Name: set.Name}] = answers
}

func (t *table) remove(set types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sets, set)
}

func (i *Index) get(set types.NamespacedName, stage string) (answer, bool) {
	t := i.current.Load()
	if t == nil {
		return answer{}, false
	}
	return t.get(set, stage)
}

// Follow returns what fills the index from a manager's cache while that runs. It takes the place of an earlier one when
// the cache is filled, and not before.
func (i *Index) Follow(from cache.Cache) manager.Runnable { return &follower{index: i, cache: from} }

type follower struct {
	index *Index
	cache cache.Cache
}

// NeedLeaderElection is false: each replica answers.
func (f *follower) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (f *follower) Start(ctx context.Context) error {
	informer, err := f.cache.GetInformer(ctx, &stagesv1.StageSet{})
	if err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it ends because it was told to
		}
		return fmt.Errorf("watching StageSets for the gate: %w", err)
	}
	t := &table{sets: map[types.NamespacedName]map[string]answer{}}
	registered, err := informer.AddEventHandler(t.events())
	if err != nil {
		return fmt.Errorf("watching StageSets for the gate: %w", err)
	}
	if toolscache.WaitForCacheSync(ctx.Done(), registered.HasSynced) {
		f.index.current.Store(t)
	}
	<-ctx.Done()
	return nil // the informer ends with the manager
}

func (t *table) events() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    t.changed,
		UpdateFunc: func(_, object any) { t.changed(object) },
		DeleteFunc: func(object any) {
			if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			if set, ok := object.(*stagesv1.StageSet); ok {
				t.remove(types.NamespacedName{Namespace: set.Namespace, Name: set.Name})
			}
		},
	}
}

func (t *table) changed(object any) {
	if set, ok := object.(*stagesv1.StageSet); ok {
		t.put(set)
	}
}
