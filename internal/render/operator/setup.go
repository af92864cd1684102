package operator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/control"
	"github.com/stagewright/stagewright/internal/kube/crdwatch"
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

// CacheOptions narrow the cache of a manager to namespaces, where none is all, and to the snippets and libraries that a
// selector selects: others do not exist for the operator. A nil selector selects all.
func CacheOptions(selector labels.Selector, namespaces ...string) cache.Options {
	if selector == nil {
		selector = labels.Everything()
	}
	return cache.Options{
		DefaultNamespaces: control.Namespaces(namespaces),
		ByObject: map[client.Object]cache.ByObject{
			&renderv1.JsonnetSnippet{}: {Label: selector},
			&renderv1.JsonnetLibrary{}: {Label: selector},
		},
		// Kinds of sources are watched while their definitions are there. Reading one must not begin another watch, for
		// which the reader would wait until the definition comes.
		ReaderFailOnMissingInformer: true,
	}
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
	wake := &control.Waker{}
	watcher := objectwatch.New(options.Tenants, wake.Wake)
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
	forSnippets, err := control.New(mgr, "jsonnetsnippet", options.Concurrent, &snippets{
		options: options, client: mgr.GetClient(), exit: exit(renderv1.ReasonSynced), events: events,
		memory: &memory{}, watches: watcher,
	})
	if err != nil {
		return err
	}
	forLibraries, err := control.New(mgr, "jsonnetlibrary", 1, &libraries{
		options: options, client: mgr.GetClient(), exit: exit(renderv1.ReasonAccepted),
	})
	if err != nil {
		return err
	}
	w := &wiring{cache: mgr.GetCache(), reader: mgr.GetClient(), snippets: forSnippets, libraries: forLibraries}
	if err := w.watchOwn(wake); err != nil {
		return err
	}
	return control.WatchSources(mgr, w.engage)
}

// engage begins or ends the watches of a kind.
func (w *wiring) engage(ctx context.Context, change crdwatch.Change) error {
	object := control.SourceKinds()[change.Kind.Kind]()
	if !change.Available {
		return w.cache.RemoveInformer(ctx, object)
	}
	if err := w.snippets.Watch(source.Kind[client.Object](
		w.cache, object, handler.EnqueueRequestsFromMapFunc(w.snippetsOfSource), control.SourceChanged(),
	)); err != nil {
		return fmt.Errorf("watching %s for snippets: %w", change.Kind.Kind, err)
	}
	if err := w.libraries.Watch(source.Kind[client.Object](
		w.cache, object, handler.EnqueueRequestsFromMapFunc(w.librariesOfSource), control.SourceChanged(),
	)); err != nil {
		return fmt.Errorf("watching %s for libraries: %w", change.Kind.Kind, err)
	}
	return nil
}
