package tenant

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keptClients bounds the clients that are kept. One that is forgotten is made again.
const keptClients = 1024

// Pool makes clients of ServiceAccounts and keeps them. All share one mapper, which asks the API server for its kinds
// once and not once for each tenant. It can be used concurrently.
type Pool struct {
	clients *Clients
	options client.Options
	kept    *lru.Cache // from Account to client.WithWatch
}

// NewPool returns clients that act as ServiceAccounts. Scheme and mapper are those of the manager.
func NewPool(clients *Clients, scheme *runtime.Scheme, mapper meta.RESTMapper) *Pool {
	return &Pool{
		clients: clients, options: client.Options{Scheme: scheme, Mapper: mapper}, kept: lru.New(keptClients),
	}
}

// For returns the client of an account. Nothing is asked of the API server before the client is used.
func (p *Pool) For(account Account) (client.WithWatch, error) {
	if kept, ok := p.kept.Get(account); ok {
		return kept.(client.WithWatch), nil
	}
	config := p.clients.Config(account)
	config.QPS = -1 // the workers bound what is asked, and the API server what each account gets
	made, err := client.NewWithWatch(config, p.options)
	if err != nil {
		return nil, fmt.Errorf("making a client of ServiceAccount %s: %w", account, err)
	}
	p.kept.Add(account, made)
	return made, nil
}
