package crdwatch

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Change says that a kind is available from now on, or no longer.
type Change struct {
	Kind      schema.GroupVersionKind
	Available bool
}

// Handler is told each change, one at a time. An error is logged and the change told again with backoff, until it is
// taken or no longer true: discovery, for one, may know a new kind later than we do.
type Handler func(ctx context.Context, change Change) error

// Watcher watches definitions. Its Start runs it.
type Watcher struct {
	client  dynamic.Interface
	kinds   []schema.GroupVersionKind
	handler Handler
	told    map[schema.GroupVersionKind]types.UID // the definition of each kind that is available; belongs to Start
}

// New returns a watcher of the kinds. A kind is available when its definition is established and serves the version.
// Nothing is told of a kind that is not there from the start.
func New(client dynamic.Interface, handler Handler, kinds ...schema.GroupVersionKind) *Watcher {
	return &Watcher{client: client, kinds: kinds, handler: handler, told: map[schema.GroupVersionKind]types.UID{}}
}

// NeedLeaderElection is false: whoever does not lead has caches too.
func (w *Watcher) NeedLeaderElection() bool { return false }

// Start watches until the context ends. While definitions cannot be listed it tries on.
func (w *Watcher) Start(ctx context.Context) error {
	definitions := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(w.client, 0).ForResource(definitions).Informer()
	if err := informer.SetTransform(withoutSchema); err != nil {
		return err
	}
	// What has changed is found by looking at all: any number of events is one look.
	wake := make(chan struct{}, 1)
	look := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { look() }, UpdateFunc: func(_, _ any) { look() }, DeleteFunc: func(any) { look() },
	}); err != nil {
		return err
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		informer.RunWithContext(ctx)
	}()
	defer func() { <-stopped }()
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil
	}
	w.follow(ctx, wake, func() map[schema.GroupVersionKind]types.UID { return w.available(ctx, informer.GetStore()) })
	return nil
}

// follow tells what has changed at each wake, and what was not taken again later, until the context ends.
func (w *Watcher) follow(ctx context.Context, wake <-chan struct{}, now func() map[schema.GroupVersionKind]types.UID) {
	var retry time.Duration
	for {
		var again <-chan time.Time
		if err := w.tell(ctx, now()); err != nil {
			if ctx.Err() != nil {
				return
			}
			retry = min(max(2*retry, firstRetry), lastRetry)
			log.FromContext(ctx).Error(err, "a change of the available kinds was not taken; telling it again", "after", retry)
			again = time.After(retry)
		} else {
			retry = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-again:
		}
	}
}

// tell tells the handler how what is available differs from what it was told. A kind whose definition was made anew has
// gone and come, because what was watched before has ended.
func (w *Watcher) tell(ctx context.Context, available map[schema.GroupVersionKind]types.UID) error {
	var errs []error
	for _, kind := range w.kinds {
		before, after := w.told[kind], available[kind]
		if before != "" && before != after {
			if err := w.handler(ctx, Change{Kind: kind}); err != nil {
				errs = append(errs, err)
				continue
			}
			delete(w.told, kind)
		}
		if after != "" && before != after {
			if err := w.handler(ctx, Change{Kind: kind, Available: true}); err != nil {
				errs = append(errs, err)
				continue
			}
			w.told[kind] = after
		}
	}
	return errors.Join(errs...)
}

// available returns what all definitions together make available.
func (w *Watcher) available(ctx context.Context, store cache.Store) map[schema.GroupVersionKind]types.UID {
	kinds := map[schema.GroupVersionKind]types.UID{}
	for _, item := range store.List() {
		object, ok := item.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		d, err := parse(object)
		if err != nil {
			log.FromContext(ctx).Error(err, "a definition is left out")
			continue
		}
		for kind, uid := range d.available() {
			kinds[kind] = uid
		}
	}
	return kinds
}
