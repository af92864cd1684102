package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// Cluster is an API server as one identity.
type Cluster struct {
	Client   client.WithWatch // without a cache; unstructured and PartialObjectMetadata
	Identity string           // for messages: "ServiceAccount shop/deployer", "the controller"; "… of the cluster in Secret shop/prod"
	Key      string           // equal for equal server and identity, and for no other
}

// Scope is where objects of a kind are looked for.
type Scope struct {
	Kind      schema.GroupVersionKind
	Namespace string // empty for kinds without namespaces
}

// Survey lists the metadata of the objects that carry the labels of the owner, in pages, one list per scope. A kind that
// does not exist has no objects. Other objects that ids names and that carry no label of the owner, or another one's, are
// not in it.
func Survey(ctx context.Context, c Cluster, owner inventory.Owner, scopes []Scope) (map[inventory.ID]inventory.Live, error) {
	panic("not yet")
}

// Look reads the metadata of single objects, several at a time. Those that do not exist are not in the result.
func Look(ctx context.Context, c Cluster, entries []inventory.Entry) (map[inventory.ID]inventory.Live, error) {
	panic("not yet")
}

// DeniedError says that the identity may not do what is needed.
type DeniedError struct {
	Identity string
	Verb     string
	Resource string // deployments.apps
	ID       inventory.ID
	Err      error
}

func (e *DeniedError) Error() string { panic("not yet") }
func (e *DeniedError) Unwrap() error { return e.Err }
