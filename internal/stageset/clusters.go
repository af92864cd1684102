package stageset

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubeconfig"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stage/cluster"
)

// keptRemotes bounds the clients of other clusters that are kept. One that is forgotten is made again.
const keptRemotes = 256

// clusters gives the API servers that stages are applied to, as whom they are applied.
type clusters struct {
	own     client.WithWatch // the controller itself, past the cache
	kinds   rest.Interface   // asks which kinds are served
	tenants Tenants
	remotes *lru.Cache // from the key of a cluster.Cluster to a *remote
	probes  *probes
}

// remote is another cluster, and what is known of whether it answers.
type remote struct {
	cluster.Cluster
	reach *reach
}

// Tenants gives clients that act as a ServiceAccount; *tenant.Pool is one.
type Tenants interface {
	For(account tenant.Account) (client.WithWatch, error)
}

// local is the cluster of the StageSets, as a ServiceAccount of a namespace, or as the controller where none is named.
func (c *clusters) local(namespace, account string) (cluster.Cluster, error) {
	if account == "" {
		return cluster.Cluster{Client: c.own, Identity: "the controller", Key: "local", Discovery: c.kinds}, nil
	}
	who := tenant.Account{Namespace: namespace, Name: account}
	made, err := c.tenants.For(who)
	if err != nil {
		return cluster.Cluster{}, err
	}
	return cluster.Cluster{Client: made, Identity: "ServiceAccount " + who.String(), Key: "local/" + who.String(), Discovery: c.kinds}, nil
}

// remote is the cluster of a kubeconfig, as the kubeconfig's identity, which impersonates a ServiceAccount there where one is
// named.
func (c *clusters) remote(secret *corev1.Secret, key string, account types.NamespacedName) (*remote, error) {
	data, err := kubeconfig.FromSecret(secret, key)
	if err != nil {
		return nil, &kubeconfig.RefusedError{Field: "file", Why: "the Secret has none: " + err.Error()}
	}
	options := kubeconfig.Options{UserAgent: "stageset-controller", Account: account}
	id := "remote/" + secret.Namespace + "/" + secret.Name + "/" + kubeconfig.Key(data, options) // messages name the Secret
	if kept, ok := c.remotes.Get(id); ok {
		return kept.(*remote), nil
	}
	config, err := kubeconfig.Load(data, options)
	if err != nil {
		return nil, err
	}
	reach := &reach{cluster: secret.Namespace + "/" + secret.Name}
	reach.wrap(config)
	made, err := client.NewWithWatch(config, client.Options{Scheme: c.own.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster in Secret %s: %w", secret.Name, err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster in Secret %s: %w", secret.Name, err)
	}
	identity := "the identity"
	if account.Name != "" {
		identity = "ServiceAccount " + account.String()
	}
	found := &remote{reach: reach, Cluster: cluster.Cluster{
		Client: made, Key: id, Discovery: kinds.RESTClient(), Identity: fmt.Sprintf("%s of the cluster in Secret %s/%s", identity, secret.Namespace, secret.Name),
	}}
	c.remotes.Add(id, found)
	return found, nil
}

// accountOfTheGone is who removes what a stage has left that the spec has no more: the account of the StageSet, or of its
// first stage where each stage names one. The controller does it by itself only where it acts for a stage anyway.
func accountOfTheGone(spec *stagesv1.StageSetSpec) string {
	for _, stage := range spec.Stages {
		if stage.ServiceAccountName == "" {
			return spec.ServiceAccountName
		}
	}
	return orElse(spec.ServiceAccountName, spec.Stages[0].ServiceAccountName)
}

// identify finds out who acts, and where.
func (c *stageSets) identify(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	var err error
	for _, w := range s.stages {
		if w.cluster, err = c.clusterOf(ctx, s, w.spec.ServiceAccountName); err != nil {
			break
		}
	}
	if err == nil {
		s.fallback, err = c.clusterOf(ctx, s, accountOfTheGone(&s.set.Spec))
	}
	if err != nil { // a Secret that is changed is what is waited for
		s.recheck = !c.watches.Set(s.key(), s.needs) || s.recheck
	}
	return reconcile.Next(), err
}

// clusterOf is where a stage is applied, as whom.
func (c *stageSets) clusterOf(ctx context.Context, s *scope, account string) (cluster.Cluster, error) {
	if s.set.Spec.KubeConfig == nil {
		return c.clusters.local(s.set.Namespace, orElse(account, s.set.Spec.ServiceAccountName))
	}
	secret, err := c.readKubeconfig(ctx, s, account)
	if err != nil {
		return cluster.Cluster{}, err
	}
	account = orElse(account, s.set.Spec.ServiceAccountName)
	who := types.NamespacedName{}
	if account != "" {
		who = types.NamespacedName{Namespace: s.set.Namespace, Name: account}
	}
	found, err := c.clusters.remote(secret, s.set.Spec.KubeConfig.SecretRef.Key, who)
	if refused := (*kubeconfig.RefusedError)(nil); errors.As(err, &refused) {
		return cluster.Cluster{}, reconcile.Stalled(stagesv1.ReasonInvalidSpec, fmt.Errorf("spec.kubeConfig: Secret %s: %w", secret.Name, err))
	}
	if err != nil {
		return cluster.Cluster{}, err
	}
	err = found.reach.check(c.clusters.probes, s.key(), c.options.Now())
	return found.Cluster, c.explain(s, stagesv1.ReasonProgressing, err)
}

// reader is who reads in the StageSet's namespace for a stage: the account of the StageSet, or that of the stage where it
// has none. The controller does it by itself only where neither is named.
func (s *scope) reader(account string) string {
	if s.set.Spec.ServiceAccountName != "" || account != "" {
		return orElse(s.set.Spec.ServiceAccountName, account)
	}
	return ""
}

// readKubeconfig reads the Secret, for all stages once.
func (c *stageSets) readKubeconfig(ctx context.Context, s *scope, account string) (*corev1.Secret, error) {
	if s.kubeconfig != nil {
		return s.kubeconfig, nil
	}
	if s.set.Spec.KubeConfig.SecretRef == nil {
		return nil, reconcile.Stalled(stagesv1.ReasonInvalidSpec, kubeconfig.ErrConfigMapRef)
	}
	reader := s.reader(account)
	as, err := c.clusters.local(s.set.Namespace, reader)
	if err != nil {
		return nil, err
	}
	name := types.NamespacedName{Namespace: s.set.Namespace, Name: s.set.Spec.KubeConfig.SecretRef.Name}
	secret := &corev1.Secret{}
	err = as.Client.Get(ctx, name, secret)
	s.need(reader, objectwatch.Secret, name.Name, secret.ResourceVersion)
	switch {
	case apierrors.IsNotFound(err):
		return nil, reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonInvalidSpec,
			fmt.Errorf("spec.kubeConfig: Secret %s does not exist", name))
	case err != nil:
		return nil, c.accessError(s, as, "get", "secrets", name, err)
	}
	s.kubeconfig = secret
	return secret, nil
}
