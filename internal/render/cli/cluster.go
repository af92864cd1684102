package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/access"
	"github.com/stagewright/stagewright/internal/kube/supervise"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/render/operator"
	"github.com/stagewright/stagewright/internal/version"
)

// How a lease changes hands. A replica that asks for it waits up to 2.2 times the retry period between its attempts, so
// that a lease that was given back is taken within two seconds.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 750 * time.Millisecond
)

// endTimeout is how long workers have to end before the lease is given back. Their contexts have ended.
const endTimeout = 25 * time.Second

// cluster is the connection to the API server.
type cluster struct {
	*access.Cluster
	scheme *runtime.Scheme
	logger *slog.Logger
}

// connect reads how to reach the API server. It asks nothing of it. The libraries log by what the whole process has.
func (o *operatorConfig) connect(logger *slog.Logger) (*cluster, error) {
	ctrl.SetLogger(logr.FromSlogHandler(logger.Handler()))
	klog.SetSlogLogger(logger)
	reached, err := access.Load(o.cluster.kubeconfig, o.cluster.kubeconfigVariable, version.String("renderer"))
	if err != nil {
		return nil, fmt.Errorf("--enable-gitops-integration (--kubeconfig): %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgo.AddToScheme, sourcev1.AddToScheme, renderv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("adding kinds to the scheme: %w", err)
		}
	}
	return &cluster{Cluster: reached, scheme: scheme, logger: logger}, nil
}

// probe returns a function that asks the API server for its version, which everybody may know.
func (c *cluster) probe() (func(context.Context) error, error) {
	client, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(c.Config))
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	return func(ctx context.Context) error {
		return client.RESTClient().Get().AbsPath("/version").Do(ctx).Error()
	}, nil
}

// managerOptions are what a manager is made with each time.
func (o *operatorConfig) managerOptions(c *cluster, l lease) ctrl.Options {
	selector, _ := labels.Parse(o.labelSelector) // validated
	duration, deadline, period, end, warm := leaseDuration, renewDeadline, retryPeriod, endTimeout, true
	return ctrl.Options{
		Scheme:                        c.scheme,
		Logger:                        logr.FromSlogHandler(c.logger.Handler()),
		Cache:                         operator.CacheOptions(selector, o.cluster.namespaces()...),
		Metrics:                       metricsserver.Options{BindAddress: "0"}, // the process serves them, whatever the manager does
		LeaderElection:                l.enabled,
		LeaderElectionID:              l.id,
		LeaderElectionNamespace:       l.namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &duration,
		RenewDeadline:                 &deadline,
		RetryPeriod:                   &period,
		GracefulShutdownTimeout:       &end,
		Controller:                    ctrlconfig.Controller{EnableWarmup: &warm},
	}
}

// newManager returns a function that makes a manager with the controllers.
func (o *operatorConfig) newManager(c *cluster, l lease, options operator.Options) func(context.Context) (supervise.Instance, error) {
	return func(context.Context) (supervise.Instance, error) {
		return supervise.NewManager(c.Config, o.managerOptions(c, l), func(mgr ctrl.Manager) error {
			clients, err := tenant.NewClients(tenant.Options{Base: c.Config, Issuer: mgr.GetClient()})
			if err != nil {
				return err
			}
			options := options // each manager's own
			options.Tenants = tenant.NewPool(clients, c.scheme, mgr.GetRESTMapper())
			return operator.Setup(mgr, options)
		}, &renderv1.JsonnetSnippet{}, &renderv1.JsonnetLibrary{})
	}
}

// lease is where replicas agree on who reconciles.
type lease struct {
	enabled       bool
	id, namespace string
}

func (o *operatorConfig) lease(kubeconfigNamespace string) (lease, error) {
	if !o.leader.enabled {
		return lease{}, nil
	}
	namespace, err := o.places(o.leader.namespace, kubeconfigNamespace).Namespace()
	if errors.Is(err, access.ErrNoNamespace) {
		err = errors.New("the namespace of the lease is not known; set it, or POD_NAMESPACE, or switch --leader-election off")
	}
	if err != nil {
		return lease{}, fmt.Errorf("--leader-election-namespace: %w", err)
	}
	return lease{true, o.leader.id, namespace}, nil
}

func (o *operatorConfig) places(given, kubeconfigNamespace string) access.Places {
	return access.Places{
		Given: given, Variable: o.cluster.podNamespace, File: access.PodNamespaceFile, Context: kubeconfigNamespace,
	}
}
