package control

import (
	"context"
	"fmt"
	"sync"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/stagewright/stagewright/internal/kube/fairqueue"
)

const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = time.Minute
)

// Reconciler brings one object to what its spec asks for.
type Reconciler interface {
	Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error)
}

// New makes a controller whose workers are shared between namespaces. It can be called for each of several managers in one
// process, one after the other.
func New(mgr ctrl.Manager, name string, workers int, r Reconciler) (controller.Controller, error) {
	anew := true // a manager that was started again has a controller of the same name
	c, err := controller.New(name, mgr, controller.Options{
		Reconciler: r, MaxConcurrentReconciles: workers, SkipNameValidation: &anew,
		// One failing object is delayed, and no other: a limit of all retries together would be the first tenant's.
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](firstRetry, lastRetry),
		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
			return fairqueue.New(name, workers, limiter, func(r ctrl.Request) string { return r.Namespace })
		},
	})
	if err != nil {
		return nil, fmt.Errorf("making controller %s: %w", name, err)
	}
	return c, nil
}

// Requested lets through that a user asks for a reconciliation.
func Requested() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, _ := fluxmeta.ReconcileAnnotationValue(e.ObjectOld.GetAnnotations())
		after, ok := fluxmeta.ReconcileAnnotationValue(e.ObjectNew.GetAnnotations())
		return ok && before != after
	}}
}

// Waker is a source of events: it brings back objects for which something was told that the API does not tell of.
type Waker struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// Start implements source.Source.
func (w *Waker) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = queue
	return nil
}

// Wake has an object reconciled.
func (w *Waker) Wake(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.Add(ctrl.Request{NamespacedName: key})
	}
}

// Namespaces are those that a cache looks at, where none is all.
func Namespaces(names []string) map[string]cache.Config {
	if len(names) == 0 {
		return nil
	}
	configs := make(map[string]cache.Config, len(names))
	for _, name := range names {
		configs[name] = cache.Config{}
	}
	return configs
}
