package cluster

import (
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is an API server as one identity.
type Cluster struct {
	Client   client.WithWatch // without a cache; unstructured and PartialObjectMetadata
	Identity string           // for messages: "ServiceAccount shop/deployer", "the controller"; "… of the cluster in Secret shop/prod"
	Key      string           // equal for equal server and identity, and for no other
	// Discovery asks the API server which kinds it serves; whose identity it has does not matter. Without it, what is not
	// served in the recorded version does not exist.
	Discovery rest.Interface
}
