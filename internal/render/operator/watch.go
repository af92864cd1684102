package operator

import (
	"context"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/control"
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
func (w *wiring) watchOwn(wake *control.Waker) error {
	asked := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, control.Requested())
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

// snippetsOfLibrary are those that import a library.
func (w *wiring) snippetsOfLibrary(ctx context.Context, library client.Object) []ctrl.Request {
	return w.snippetsBy(ctx, byLibrary, client.ObjectKeyFromObject(library).String())
}

// snippetsOfSource are those that are made from a source, directly or by a library, and the one that publishes it.
func (w *wiring) snippetsOfSource(ctx context.Context, source client.Object) []ctrl.Request {
	kind := control.KindOf(source)
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
	key := sourceIndexKey(control.KindOf(source), client.ObjectKeyFromObject(source))
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
