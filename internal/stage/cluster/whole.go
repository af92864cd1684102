package cluster

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
			return listWhole(ctx, c, scope, selector, func(scope Scope, object *unstructured.Unstructured) {
				found.put(inventory.ID{
					Namespace: object.GetNamespace(), Name: object.GetName(), Group: scope.Kind.Group, Kind: scope.Kind.Kind,
				}, scope.live(object))
				one.Lock()
				defer one.Unlock()
				see(object)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return found.live, nil
}

// listWhole lists what a selector selects, page by page.
func listWhole(
	ctx context.Context, c Cluster, scope Scope, selector client.MatchingLabels, add func(Scope, *unstructured.Unstructured),
) error {
	next := ""
	for begun := 0; ; {
		page := &unstructured.UnstructuredList{}
		kind := scope.Kind
		kind.Kind += "List"
		page.SetGroupVersionKind(kind)
		err := c.Client.List(ctx, page, client.InNamespace(scope.Namespace), selector,
			client.Limit(wholePageSize), client.Continue(next))
		switch {
		case Unknown(err):
			again, err := scope.elsewhere(ctx, c)
			if err != nil || again == scope {
				return err
			}
			scope, next = again, ""
			continue
		case MissingNamespace(err):
			return nil
		case apierrors.IsResourceExpired(err) && begun < restarts: // what was found so far is found again
			next = ""
			begun++
			continue
		case err != nil:
			return listError(err, c, scope)
		}
		for i := range page.Items {
			add(scope, &page.Items[i])
		}
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}
