package stageset

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/control"
	"github.com/stagewright/stagewright/internal/kube/crdwatch"
	"github.com/stagewright/stagewright/internal/stage/source"
)

// wiring leads from what has changed to what is to be looked at.
type wiring struct {
	cache     cache.Cache
	reader    client.Reader // of the cache, with its indexes
	stageSets controller.Controller
}

// watchOwn watches StageSets, for themselves and for those that depend on them.
func (w *wiring) watchOwn(wake *control.Waker) error {
	inventories := &metav1.PartialObjectMetadata{}
	inventories.SetGroupVersionKind(stagesv1.GroupVersion.WithKind("StageInventory"))
	asked := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, control.Requested(), approved())
	for _, err := range []error{
		w.stageSets.Watch(wake),
		w.stageSets.Watch(ctrlsource.Kind[client.Object](w.cache, &stagesv1.StageSet{}, &handler.EnqueueRequestForObject{}, asked)),
		w.stageSets.Watch(ctrlsource.Kind[client.Object](w.cache, &stagesv1.StageSet{},
			handler.EnqueueRequestsFromMapFunc(w.dependents), readinessChanged())),
		w.stageSets.Watch(ctrlsource.Kind[client.Object](w.cache, &stagesv1.ImageVerificationPolicy{},
			handler.EnqueueRequestsFromMapFunc(w.held), deleted())),
		w.stageSets.Watch(ctrlsource.Kind[client.Object](w.cache, inventories, handler.EnqueueRequestsFromMapFunc(ownerOf), departing())),
	} {
		if err != nil {
			return fmt.Errorf("watching StageSets: %w", err)
		}
	}
	return nil
}

// engage begins or ends the watches of a kind of source.
func (w *wiring) engage(ctx context.Context, change crdwatch.Change) error {
	object := control.SourceKinds()[change.Kind.Kind]()
	if !change.Available {
		return w.cache.RemoveInformer(ctx, object)
	}
	err := w.stageSets.Watch(ctrlsource.Kind[client.Object](
		w.cache, object, handler.EnqueueRequestsFromMapFunc(w.users), control.SourceChanged(),
	))
	if err != nil {
		return fmt.Errorf("watching %s: %w", change.Kind.Kind, err)
	}
	return nil
}

// approved lets through that deletions were approved.
func approved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		approval := e.ObjectNew.GetAnnotations()[stagesv1.ApprovePruneAnnotation]
		return approval != "" && approval != e.ObjectOld.GetAnnotations()[stagesv1.ApprovePruneAnnotation]
	}}
}

// deleted lets through that something is gone.
func deleted() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
}

// departing lets through that something is being deleted: an inventory whose StageSet went while nobody watched, for instance.
func departing() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.Object.GetDeletionTimestamp().IsZero() },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp().IsZero() && !e.ObjectNew.GetDeletionTimestamp().IsZero()
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// ownerOf is the StageSet of an inventory.
func ownerOf(_ context.Context, shard client.Object) []ctrl.Request {
	name := shard.GetLabels()[stagesv1.NameLabel]
	if name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: shard.GetNamespace(), Name: name}}}
}

// readinessChanged lets through what others that depend on a StageSet look at.
func readinessChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			old, _ := e.ObjectOld.(*stagesv1.StageSet)
			updated, _ := e.ObjectNew.(*stagesv1.StageSet)
			return old == nil || updated == nil || old.Generation != updated.Generation ||
				!maps.Equal(old.Labels, updated.Labels) || !maps.Equal(old.Annotations, updated.Annotations) ||
				old.Status.ObservedGeneration != updated.Status.ObservedGeneration ||
				old.DeletionTimestamp.IsZero() != updated.DeletionTimestamp.IsZero() ||
				meta.IsStatusConditionTrue(old.Status.Conditions, stagesv1.ReadyCondition) !=
					meta.IsStatusConditionTrue(updated.Status.Conditions, stagesv1.ReadyCondition) ||
				!equality.Semantic.DeepEqual(old.Status.LastApplied, updated.Status.LastApplied)
		},
	}
}

// dependents are the StageSets that depend on one.
func (w *wiring) dependents(ctx context.Context, set client.Object) []ctrl.Request {
	return w.by(ctx, byDependency, client.ObjectKeyFromObject(set).String(), nil)
}

// held are the StageSets that a policy has held.
func (w *wiring) held(ctx context.Context, _ client.Object) []ctrl.Request {
	var found stagesv1.StageSetList
	if err := w.reader.List(ctx, &found, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "StageSets were not found")
		return nil
	}
	var requests []ctrl.Request
	for i := range found.Items {
		if reasonOf(&found.Items[i]) == stagesv1.ReasonImageUnverified {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
		}
	}
	return requests
}

// users are the StageSets that are made from a source.
func (w *wiring) users(ctx context.Context, object client.Object) []ctrl.Request {
	var requests []ctrl.Request
	for _, key := range source.KeysOf(object) {
		requests = w.by(ctx, bySource, key, requests)
	}
	return requests
}

func (w *wiring) by(ctx context.Context, index, key string, requests []ctrl.Request) []ctrl.Request {
	var found stagesv1.StageSetList
	if err := w.reader.List(ctx, &found, client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "StageSets were not found", "index", index, "key", key)
		return requests
	}
	for i := range found.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
	}
	return requests
}
