package operator

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// keptClients bounds the clients that are kept. One that is forgotten is made again.
const keptClients = 1024

// tenants makes clients of ServiceAccounts and keeps them. All share one mapper, which asks the API server for its kinds
// once and not once for each tenant.
type tenants struct {
	clients *tenant.Clients
	options client.Options
	kept    *lru.Cache // from tenant.Account to client.WithWatch
}

// NewTenants returns clients that act as ServiceAccounts. Scheme and mapper are those of the manager.
func NewTenants(clients *tenant.Clients, scheme *runtime.Scheme, mapper meta.RESTMapper) Tenants {
	return &tenants{
		clients: clients, options: client.Options{Scheme: scheme, Mapper: mapper}, kept: lru.New(keptClients),
	}
}

// For implements Tenants. Nothing is asked of the API server before the client is used.
func (t *tenants) For(account tenant.Account) (client.WithWatch, error) {
	if kept, ok := t.kept.Get(account); ok {
		return kept.(client.WithWatch), nil
	}
	config := t.clients.Config(account)
	config.QPS = -1 // the workers bound what is asked, and the API server what each account gets
	made, err := client.NewWithWatch(config, t.options)
	if err != nil {
		return nil, fmt.Errorf("making a client of ServiceAccount %s: %w", account, err)
	}
	t.kept.Add(account, made)
	return made, nil
}
