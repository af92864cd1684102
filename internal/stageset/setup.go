package stageset

import (
	"context"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/control"
	"github.com/stagewright/stagewright/internal/kube/crdwatch"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/build"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
	"github.com/stagewright/stagewright/internal/stage/source"
)

// What the controller does by itself. Where a StageSet names a ServiceAccount, all else is done by that; where it names none,
// the controller needs rights on what its stages apply, which are not here.
//
// +kubebuilder:rbac:groups=stages.stagewright.dev,resources=stagesets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=stages.stagewright.dev,resources=stagesets/status,verbs=patch
// +kubebuilder:rbac:groups=stages.stagewright.dev,resources=stagesets/finalizers,verbs=update
// +kubebuilder:rbac:groups=stages.stagewright.dev,resources=stageinventories,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=stages.stagewright.dev,resources=imageverificationpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories;ocirepositories;buckets;externalartifacts,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=get;patch

// CacheOptions narrow the cache of a manager to namespaces, where none is all.
func CacheOptions(namespaces ...string) cache.Options {
	return cache.Options{
		DefaultNamespaces: control.Namespaces(namespaces),
		// Kinds of sources are watched while their definitions are there. Reading one must not begin another watch, for
		// which the reader would wait until the definition comes.
		ReaderFailOnMissingInformer: true,
	}
}

// Setup adds the controller and what it needs to a manager. The manager's scheme knows the kinds of Kubernetes, of this
// controller and of Flux's sources. It can be called for each of several managers in one process, one after the other.
func Setup(mgr ctrl.Manager, options Options) error {
	options, err := options.complete()
	if err != nil {
		return err
	}
	if err := addIndexes(mgr.GetFieldIndexer()); err != nil {
		return err
	}
	own, err := client.NewWithWatch(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return fmt.Errorf("making the controller's own client: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making the controller's own client: %w", err)
	}
	tenants := tenant.NewPool(options.Tenants, mgr.GetScheme(), mgr.GetRESTMapper())
	wake := &control.Waker{}
	watcher := objectwatch.New(tenants, wake.Wake)
	waits := health.NewWatcher(health.WatcherOptions{Wake: wake.Wake})
	options.Observer.Watching(waits.Waits, waits.Len)
	reached := &probes{wake: wake.Wake}
	for _, runnable := range []interface{ Start(context.Context) error }{watcher, waits, reached} {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("adding watches: %w", err)
		}
	}
	events := mgr.GetEventRecorder("stageset-controller")
	c, err := control.New(mgr, "stageset", options.Concurrent, &stageSets{
		options: options, client: mgr.GetClient(), live: own, events: events,
		exit: reconcile.NewExit(reconcile.Options{
			Client: mgr.GetClient(), Live: own, Events: events, Now: options.Now, Kstatus: true,
			Reasons: reconcile.Reasons{Success: stagesv1.ReasonSucceeded, Failure: stagesv1.ReasonProgressing},
		}),
		clusters:    &clusters{own: own, kinds: kinds.RESTClient(), tenants: tenants, remotes: lru.New(keptRemotes), probes: reached},
		checked:     newChecks(),
		inventories: inventory.NewStore(inventory.StoreOptions{Client: own, Reader: own, ShardCap: options.ShardCap}),
		builder:     build.New(build.Options{}),
		applier:     apply.NewApplier(0),
		waits:       waits, watches: watcher, schemas: crdwatch.NewSchemas(own, mgr.GetRESTMapper()),
	})
	if err != nil {
		return err
	}
	w := &wiring{cache: mgr.GetCache(), reader: mgr.GetClient(), stageSets: c}
	if err := w.watchOwn(wake); err != nil {
		return err
	}
	return control.WatchSources(mgr, w.engage)
}

// The indexes of the cache.
const (
	bySource     = "stages.source"     // StageSets by what their stages are made from
	byDependency = "stages.dependency" // StageSets by what they depend on, or take over from
)

func addIndexes(indexer client.FieldIndexer) error {
	ctx := context.Background() // it only registers functions
	err := indexer.IndexField(ctx, &stagesv1.StageSet{}, bySource, func(object client.Object) []string {
		set, _ := object.(*stagesv1.StageSet)
		keys := make([]string, 0, len(set.Spec.Stages))
		for _, stage := range set.Spec.Stages {
			keys = append(keys, source.Key(set.Namespace, stage.SourceRef))
		}
		return keys
	})
	if err == nil {
		err = indexer.IndexField(ctx, &stagesv1.StageSet{}, byDependency, func(object client.Object) []string {
			set, _ := object.(*stagesv1.StageSet)
			others := append(dependencies(set), adoptions(set)...)
			keys := make([]string, 0, len(others))
			for _, key := range others {
				keys = append(keys, key.String())
			}
			return keys
		})
	}
	if err == nil {
		err = indexer.IndexField(ctx, &sourcev1.ExternalArtifact{}, source.ByProducer, source.IndexProducers)
	}
	if err != nil {
		return fmt.Errorf("indexing StageSets and sources: %w", err)
	}
	return nil
}
