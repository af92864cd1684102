package stageset

import (
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// What the controller may do by itself.
//
// +kubebuilder:rbac:groups=stages.stagewright.dev,resources=stagesets;imageverificationpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=get;patch

// Observer is told what happens, for metrics.
type Observer interface {
	ReconcileEnded(reason string, took time.Duration)
	StageReady(namespace, stageset, stage string, ready bool)
	StageTook(namespace, stageset, stage string, took time.Duration)
	Applied(change string, n int)
	Pruned(n int)
	DriftCorrected(n int)
	Forget(namespace, stageset string)
}

// Options are what the controller is made of.
type Options struct {
	Config               *rest.Config
	Tenants              *tenant.Clients
	Concurrent           int
	DefaultInterval      time.Duration
	NoCrossNamespaceRefs bool
	MaxTeardownWait      time.Duration
	ShardCap             int
	Tracer               trace.Tracer
	Observer             Observer
	Fetch                artifact.FetchOptions
	Now                  func() time.Time
}

// Setup adds the controller to a manager. It can be called for each of several managers in one process, one after the other.
func Setup(ctrl.Manager, Options) error { return nil }

// CacheOptions narrow the cache of a manager to namespaces, where none is all.
func CacheOptions(namespaces ...string) cache.Options {
	var options cache.Options
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}
