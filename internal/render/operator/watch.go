package operator

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
)

// The indexes of the cache: what uses a source or a library, by its key.
const (
	bySource  = "render.source"
	byLibrary = "render.library"
)

func sourceIndexKey(kind string, key types.NamespacedName) string { return kind + "/" + key.String() }

func addIndexes(indexer client.FieldIndexer) error {
	ctx := context.Background() // it only registers functions
	err := indexer.IndexField(ctx, &renderv1.JsonnetSnippet{}, bySource, func(object client.Object) []string {
		snippet, _ := object.(*renderv1.JsonnetSnippet)
		return indexSource(snippet.Namespace, snippet.Spec.SourceRef)
	})
	if err == nil {
		err = indexer.IndexField(ctx, &renderv1.JsonnetLibrary{}, bySource, func(object client.Object) []string {
			library, _ := object.(*renderv1.JsonnetLibrary)
			return indexSource(library.Namespace, library.Spec.SourceRef)
		})
	}
	if err == nil {
		err = indexer.IndexField(ctx, &renderv1.JsonnetSnippet{}, byLibrary, func(object client.Object) []string {
			snippet, _ := object.(*renderv1.JsonnetSnippet)
			keys := make([]string, 0, len(snippet.Spec.Libraries))
			for _, ref := range snippet.Spec.Libraries {
				keys = append(keys, libraryKey(snippet.Namespace, ref).String())
			}
			return keys
		})
	}
	if err != nil {
		return fmt.Errorf("indexing snippets and libraries: %w", err)
	}
	return nil
}

func indexSource(namespace string, ref *renderv1.SourceReference) []string {
	if ref == nil {
		return nil
	}
	return []string{sourceIndexKey(ref.Kind, sourceKey(namespace, ref))}
}

// wiring leads from what has changed to what is to be looked at.
type wiring struct {
	cache               cache.Cache
	reader              client.Reader // of the cache, with its indexes
	snippets, libraries controller.Controller
}

// watchOwn watches snippets and libraries.
func (w *wiring) watchOwn(wake *waker) error {
	asked := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, requested())
	for _, err := range []error{
		w.snippets.Watch(wake),
		w.snippets.Watch(source.Kind[client.Object](w.cache, &renderv1.JsonnetSnippet{}, &handler.EnqueueRequestForObject{}, asked)),
		w.snippets.Watch(source.Kind[client.Object](w.cache, &renderv1.JsonnetLibrary{},
			handler.EnqueueRequestsFromMapFunc(w.snippetsOfLibrary), predicate.GenerationChangedPredicate{})),
		w.libraries.Watch(source.Kind[client.Object](w.cache, &renderv1.JsonnetLibrary{}, &handler.EnqueueRequestForObject{},
			predicate.GenerationChangedPredicate{})),
	} {
		if err != nil {
			return fmt.Errorf("watching snippets and libraries: %w", err)
		}
	}
	return nil
}

// requested lets through that a user asks for a reconciliation.
func requested() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, _ := fluxmeta.ReconcileAnnotationValue(e.ObjectOld.GetAnnotations())
		after, ok := fluxmeta.ReconcileAnnotationValue(e.ObjectNew.GetAnnotations())
		return ok && before != after
	}}
}

// sourceChanged lets through changes of artifacts, and of an ExternalArtifact all that its snippet may have to restore.
// Sources report their health far more often than they have something new.
func sourceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*sourcev1.ExternalArtifact)
		if after, both := e.ObjectNew.(*sourcev1.ExternalArtifact); ok && both {
			return !reflect.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
				!before.DeletionTimestamp.Equal(after.DeletionTimestamp) ||
				!equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Status, after.Status)
		}
		old, _ := e.ObjectOld.(withArtifact)
		updated, _ := e.ObjectNew.(withArtifact)
		return old == nil || updated == nil || !sameArtifact(old.GetArtifact(), updated.GetArtifact())
	}}
}

func sameArtifact(a, b *fluxmeta.Artifact) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Digest == b.Digest && a.URL == b.URL
}

// snippetsOfLibrary are those that import a library.
func (w *wiring) snippetsOfLibrary(ctx context.Context, library client.Object) []ctrl.Request {
	return w.snippetsBy(ctx, byLibrary, client.ObjectKeyFromObject(library).String())
}

// snippetsOfSource are those that are made from a source, directly or by a library, and the one that publishes it.
func (w *wiring) snippetsOfSource(ctx context.Context, source client.Object) []ctrl.Request {
	kind := kindOf(source)
	key := client.ObjectKeyFromObject(source)
	requests := w.snippetsBy(ctx, bySource, sourceIndexKey(kind, key))
	for _, library := range w.librariesOfSource(ctx, source) {
		requests = append(requests, w.snippetsBy(ctx, byLibrary, library.String())...)
	}
	if kind == sourcev1.ExternalArtifactKind {
		// Also one that another snippet's name has not taken yet: who waits for a name hears that it is free.
		if err := w.reader.Get(ctx, key, &renderv1.JsonnetSnippet{}); err == nil {
			requests = append(requests, ctrl.Request{NamespacedName: key})
		}
	}
	return requests
}

// librariesOfSource are those whose files are in a source.
func (w *wiring) librariesOfSource(ctx context.Context, source client.Object) []ctrl.Request {
	var found renderv1.JsonnetLibraryList
	key := sourceIndexKey(kindOf(source), client.ObjectKeyFromObject(source))
	if err := w.reader.List(ctx, &found, client.MatchingFields{bySource: key}); err != nil {
		log.FromContext(ctx).Error(err, "libraries of a source were not found", "source", key)
		return nil
	}
	requests := make([]ctrl.Request, 0, len(found.Items))
	for i := range found.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
	}
	return requests
}

func (w *wiring) snippetsBy(ctx context.Context, index, key string) []ctrl.Request {
	var found renderv1.JsonnetSnippetList
	if err := w.reader.List(ctx, &found, client.MatchingFields{index: key}); err != nil {
		log.FromContext(ctx).Error(err, "snippets were not found", "index", index, "key", key)
		return nil
	}
	requests := make([]ctrl.Request, 0, len(found.Items))
	for i := range found.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
	}
	return requests
}

// kindOf is the kind of a source. Typed objects from a cache do not tell.
func kindOf(object client.Object) string {
	for kind, empty := range sourceKinds() {
		if reflect.TypeOf(empty()) == reflect.TypeOf(object) {
			return kind
		}
	}
	return ""
}

// waker is a source of events: it brings back snippets whose ConfigMaps and Secrets have changed.
type waker struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// Start implements source.Source.
func (w *waker) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = queue
	return nil
}

func (w *waker) wake(snippet types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.Add(ctrl.Request{NamespacedName: snippet})
	}
}
