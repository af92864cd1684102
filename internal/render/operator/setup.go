package operator

import (
	"context"
	"fmt"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/crdwatch"
	"github.com/stagewright/stagewright/internal/kube/fairqueue"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// What the operator may do by itself. All else is done by the ServiceAccounts of snippets.
//
// +kubebuilder:rbac:groups=render.stagewright.dev,resources=jsonnetsnippets;jsonnetlibraries,verbs=get;list;watch
// +kubebuilder:rbac:groups=render.stagewright.dev,resources=jsonnetsnippets,verbs=patch
// +kubebuilder:rbac:groups=render.stagewright.dev,resources=jsonnetsnippets/status;jsonnetlibraries/status,verbs=patch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories;ocirepositories;buckets;externalartifacts,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=get;patch

const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = time.Minute
)

// CacheOptions narrow the cache of a manager to namespaces, where none is all, and to the snippets and libraries that a
// selector selects: others do not exist for the operator. A nil selector selects all.
func CacheOptions(selector labels.Selector, namespaces ...string) cache.Options {
	if selector == nil {
		selector = labels.Everything()
	}
	options := cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			&renderv1.JsonnetSnippet{}: {Label: selector},
			&renderv1.JsonnetLibrary{}: {Label: selector},
		},
		// Kinds of sources are watched while their definitions are there. Reading one must not begin another watch, for
		// which the reader would wait until the definition comes.
		ReaderFailOnMissingInformer: true,
	}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// Setup adds the controllers and what they need to a manager. The manager's scheme knows the kinds of Kubernetes, of
// this operator and of Flux's sources. It can be called for each of several managers in one process, one after the other.
func Setup(mgr ctrl.Manager, options Options) error {
	options, err := options.complete()
	if err != nil {
		return err
	}
	if err := addIndexes(mgr.GetFieldIndexer()); err != nil {
		return err
	}
	wake := &waker{}
	watcher := objectwatch.New(options.Tenants, wake.wake)
	if err := mgr.Add(watcher); err != nil {
		return fmt.Errorf("adding the watches of ConfigMaps and Secrets: %w", err)
	}
	events := mgr.GetEventRecorder("renderer")
	exit := func(success string) *reconcile.Exit {
		return reconcile.NewExit(reconcile.Options{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: events, Now: options.Now,
			Reasons: reconcile.Reasons{Success: success, Failure: renderv1.ReasonProgressing},
		})
	}
	forSnippets, err := newController(mgr, "jsonnetsnippet", options.Concurrent, &snippets{
		options: options, client: mgr.GetClient(), exit: exit(renderv1.ReasonSynced), events: events,
		memory: &memory{}, watches: watcher,
	})
	if err != nil {
		return err
	}
	forLibraries, err := newController(mgr, "jsonnetlibrary", 1, &libraries{
		options: options, client: mgr.GetClient(), exit: exit(renderv1.ReasonAccepted),
	})
	if err != nil {
		return err
	}
	w := &wiring{cache: mgr.GetCache(), reader: mgr.GetClient(), snippets: forSnippets, libraries: forLibraries}
	if err := w.watchOwn(wake); err != nil {
		return err
	}
	return w.watchSources(mgr)
}

// newController makes a controller whose workers are shared between namespaces.
func newController(mgr ctrl.Manager, name string, workers int, r ctrlReconciler) (controller.Controller, error) {
	anew := true // a manager that was started again has a controller of the same name
	c, err := controller.New(name, mgr, controller.Options{
		Reconciler: r, MaxConcurrentReconciles: workers, SkipNameValidation: &anew,
		// One failing snippet is delayed, and no other: a limit of all retries together would be the first tenant's.
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

type ctrlReconciler interface {
	Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error)
}

// watchSources watches each kind of source while its definition is there.
func (w *wiring) watchSources(mgr ctrl.Manager) error {
	definitions, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client of definitions: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for kind := range sourceKinds() {
		kinds = append(kinds, sourcev1.GroupVersion.WithKind(kind))
	}
	if err := mgr.Add(leading{crdwatch.New(definitions, w.engage, kinds...)}); err != nil {
		return fmt.Errorf("adding the watch of definitions: %w", err)
	}
	return nil
}

// leading runs the watch where the controllers run.
type leading struct{ *crdwatch.Watcher }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (leading) NeedLeaderElection() bool { return true }

// engage begins or ends the watches of a kind.
func (w *wiring) engage(ctx context.Context, change crdwatch.Change) error {
	object := sourceKinds()[change.Kind.Kind]()
	if !change.Available {
		return w.cache.RemoveInformer(ctx, object)
	}
	if err := w.snippets.Watch(source.Kind[client.Object](
		w.cache, object, handler.EnqueueRequestsFromMapFunc(w.snippetsOfSource), sourceChanged(),
	)); err != nil {
		return fmt.Errorf("watching %s for snippets: %w", change.Kind.Kind, err)
	}
	if err := w.libraries.Watch(source.Kind[client.Object](
		w.cache, object, handler.EnqueueRequestsFromMapFunc(w.librariesOfSource), sourceChanged(),
	)); err != nil {
		return fmt.Errorf("watching %s for libraries: %w", change.Kind.Kind, err)
	}
	return nil
}
