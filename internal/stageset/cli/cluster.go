package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/access"
	"github.com/stagewright/stagewright/internal/kube/supervise"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stageset"
	"github.com/stagewright/stagewright/internal/stageset/gate"
	"github.com/stagewright/stagewright/internal/version"
)

// leaseName is that of the lease of all replicas.
const leaseName = "stageset-controller.stagewright.dev"

// cluster is the connection to the API server.
type cluster struct {
	*access.Cluster
	scheme *runtime.Scheme
	logger *slog.Logger
}

// connect reads how to reach the API server. It asks nothing of it. The libraries log by what the whole process has.
func (c *config) connect(logger *slog.Logger) (*cluster, error) {
	ctrl.SetLogger(logr.FromSlogHandler(logger.Handler()))
	klog.SetSlogLogger(logger)
	reached, err := access.Load(c.cluster.kubeconfig, c.cluster.kubeconfigVariable, version.String(program))
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	scheme, err := access.NewScheme(sourcev1.AddToScheme, stagesv1.AddToScheme)
	if err != nil {
		return nil, err
	}
	return &cluster{Cluster: reached, scheme: scheme, logger: logger}, nil
}

func (c *config) places(given, kubeconfigNamespace string) access.Places {
	return access.Places{
		Given: given, Variable: c.cluster.podNamespace, File: access.PodNamespaceFile, Context: kubeconfigNamespace,
	}
}

func (c *config) lease(kubeconfigNamespace string) (supervise.Lease, error) {
	if !c.cluster.leaderElect {
		return supervise.Lease{}, nil
	}
	namespace, err := c.places("", kubeconfigNamespace).Namespace()
	if errors.Is(err, access.ErrNoNamespace) {
		err = errors.New("the namespace of the lease is not known; set POD_NAMESPACE, or a namespace in the kubeconfig's context")
	}
	if err != nil {
		return supervise.Lease{}, fmt.Errorf("--leader-elect: %w", err)
	}
	return supervise.Lease{Enabled: true, ID: leaseName, Namespace: namespace}, nil
}

// fetches says how artifacts are fetched. A process outside of a cluster is a developer's, where sources may publish on the
// same machine.
func (c *config) fetches() artifact.FetchOptions {
	options := artifact.DefaultFetchOptions()
	if c.cluster.kubeconfig == "" && c.cluster.kubeconfigVariable == "" {
		options.Permit = artifact.PermitElsewhere
	}
	return options
}

// newManager returns a function that makes a manager with the controller, and with what fills the gate's answers.
func (c *config) newManager(cl *cluster, l supervise.Lease, index *gate.Index, o observation) func(context.Context) (supervise.Instance, error) {
	options := stageset.Options{
		Config:               cl.Config,
		Concurrent:           c.reconcile.concurrent,
		DefaultInterval:      c.reconcile.defaultInterval,
		NoCrossNamespaceRefs: c.reconcile.noCrossNamespaceRefs,
		MaxTeardownWait:      c.reconcile.maxTeardownWait,
		ShardCap:             c.reconcile.shardCap,
		Tracer:               o.tracer,
		Observer:             o.metrics,
		Artifacts:            load.New(load.Options{Fetcher: artifact.NewFetcher(c.fetches())}, load.AsIs),
	}
	managed := supervise.ManagerOptions(cl.scheme, stageset.CacheOptions(c.cluster.namespaces()...), l, cl.logger)
	return func(context.Context) (supervise.Instance, error) {
		o.metrics.ForgetAll() // what an earlier manager told may be another replica's business now
		return supervise.NewManager(cl.Config, managed, func(mgr ctrl.Manager) error {
			clients, err := tenant.NewClients(tenant.Options{Base: cl.Config, Issuer: mgr.GetClient()})
			if err != nil {
				return err
			}
			if err := mgr.Add(index.Follow(mgr.GetCache())); err != nil {
				return fmt.Errorf("preparing the gate: %w", err)
			}
			options := options // each manager's own
			options.Tenants = clients
			return stageset.Setup(mgr, options)
		}, &stagesv1.StageSet{}, &stagesv1.ImageVerificationPolicy{})
	}
}
