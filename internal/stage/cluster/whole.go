package cluster

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// wholePageSize is how many whole objects one answer holds.
const wholePageSize = 500

// SurveyWhole is Survey that reads whole objects and shows each to see, one at a time. Nothing of them is kept but what a
// survey keeps: what is there and how it is take one read together.
func SurveyWhole(
	ctx context.Context, c Cluster, owner inventory.Owner, scopes []Scope, see func(*unstructured.Unstructured),
) (map[inventory.ID]inventory.Live, error) {
	selector := client.MatchingLabels{stagesv1.NameLabel: owner.Name, stagesv1.NamespaceLabel: owner.Namespace}
	found := &findings{live: map[inventory.ID]inventory.Live{}}
	var one sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, scope := range scopes {
		group.Go(func() error {
			return eachPage(ctx, c, scope, func(scope Scope, page *unstructured.UnstructuredList) {
				for i := range page.Items {
					object := &page.Items[i]
					found.put(inventory.ID{
						Namespace: object.GetNamespace(), Name: object.GetName(), Group: scope.Kind.Group, Kind: scope.Kind.Kind,
					}, scope.live(object))
					one.Lock()
					see(object)
					one.Unlock()
				}
			}, selector, client.Limit(wholePageSize))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return found.live, nil
}
