package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/access"
	"github.com/stagewright/stagewright/internal/kube/supervise"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/render/operator"
	"github.com/stagewright/stagewright/internal/version"
)

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
	scheme, err := access.NewScheme(sourcev1.AddToScheme, renderv1.AddToScheme)
	if err != nil {
		return nil, err
	}
	return &cluster{Cluster: reached, scheme: scheme, logger: logger}, nil
}

// managerOptions are what a manager is made with each time.
func (o *operatorConfig) managerOptions(c *cluster, l supervise.Lease) ctrl.Options {
	selector, _ := labels.Parse(o.labelSelector) // validated
	return supervise.ManagerOptions(c.scheme, operator.CacheOptions(selector, o.cluster.namespaces()...), l, c.logger)
}

// newManager returns a function that makes a manager with the controllers.
func (o *operatorConfig) newManager(c *cluster, l supervise.Lease, options operator.Options) func(context.Context) (supervise.Instance, error) {
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

func (o *operatorConfig) lease(kubeconfigNamespace string) (supervise.Lease, error) {
	if !o.leader.enabled {
		return supervise.Lease{}, nil
	}
	namespace, err := o.places(o.leader.namespace, kubeconfigNamespace).Namespace()
	if errors.Is(err, access.ErrNoNamespace) {
		err = errors.New("the namespace of the lease is not known; set it, or POD_NAMESPACE, or switch --leader-election off")
	}
	if err != nil {
		return supervise.Lease{}, fmt.Errorf("--leader-election-namespace: %w", err)
	}
	return supervise.Lease{Enabled: true, ID: o.leader.id, Namespace: namespace}, nil
}

func (o *operatorConfig) places(given, kubeconfigNamespace string) access.Places {
	return access.Places{
		Given: given, Variable: o.cluster.podNamespace, File: access.PodNamespaceFile, Context: kubeconfigNamespace,
	}
}
