package health

import (
	"context"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/stage/cluster"
)

// silent is an API server whose watches never tell anything and never end by themselves.
type silent struct{ client.WithWatch }

func (silent) Watch(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
	w := watch.NewRaceFreeFake()
	context.AfterFunc(ctx, w.Stop)
	return w, nil
}

// TestStream_ConnectionThatIsDead: nobody ends the watch, and still it ends, so that it is opened again where it was.
func TestStream_ConnectionThatIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
		g := newWatching(scope{kind: kind, namespace: "shop"}, cluster.Cluster{Client: silent{}})
		at, err := NewWatcher(WatcherOptions{}).stream(t.Context(), g, "7")
		if err != nil || at != (position{version: "7"}) {
			t.Errorf("position %+v and error %v, want version 7 and none", at, err)
		}
	})
}
