package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

const (
	// parallel bounds the reads that are under way at a time for one caller.
	parallel = 8
	// pageSize is how many objects one answer holds: of metadata alone, a few MiB at most.
	pageSize = 2000
	// restarts bounds how often a list begins again because the API server no longer has its snapshot.
	restarts = 3
	// worthAList is how many objects of a kind and namespace are looked for by one page of a list instead of one by one.
	worthAList = 10
)

// Scope is where objects of a kind are looked for.
type Scope struct {
	Kind      schema.GroupVersionKind
	Namespace string // empty for kinds without namespaces
	moved     bool   // from a version that is not served
}

// elsewhere is the scope in another version that is served; the same where there is none, or it was moved before.
func (s Scope) elsewhere(ctx context.Context, c Cluster) (Scope, error) {
	if s.moved {
		return s, nil
	}
	version, err := c.served(ctx, s.Kind)
	if err == nil && version != "" {
		s.Kind.Version, s.moved = version, true
	}
	return s, err
}

// ScopesOf are the scopes of entries, each once.
func ScopesOf(entries []inventory.Entry) []Scope {
	seen := map[Scope]bool{}
	var scopes []Scope
	for _, e := range entries {
		if s := scopeOf(e); !seen[s] {
			seen[s] = true
			scopes = append(scopes, s)
		}
	}
	return scopes
}

func scopeOf(e inventory.Entry) Scope { return Scope{Kind: e.Kind(), Namespace: e.ID.Namespace} }

// Survey lists the metadata of the objects that carry the labels of the owner, in pages, one list per scope. A kind that
// does not exist has no objects. Other objects that ids names and that carry no label of the owner, or another one's, are
// not in it.
func Survey(ctx context.Context, c Cluster, owner inventory.Owner, scopes []Scope) (map[inventory.ID]inventory.Live, error) {
	selector := client.MatchingLabels{stagesv1.NameLabel: owner.Name, stagesv1.NamespaceLabel: owner.Namespace}
	found := &findings{live: map[inventory.ID]inventory.Live{}}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, scope := range scopes {
		group.Go(func() error {
			return listAll(ctx, c, scope, selector, found)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return found.live, nil
}

// SurveyOf finds those of the entries that exist and carry the labels of the owner, many of a scope by a list. A few that
// were applied once are read one by one: a list has the API server first find out how current its cache is, which takes a
// tenth of a second where little happens. A few that never were are left to whoever applies them, and has to look for
// objects without labels anyway.
func SurveyOf(ctx context.Context, c Cluster, owner inventory.Owner, entries []inventory.Entry) (map[inventory.ID]inventory.Live, error) {
	scopes := map[Scope][]inventory.Entry{}
	for _, e := range entries {
		scopes[scopeOf(e)] = append(scopes[scopeOf(e)], e)
	}
	var many []Scope
	var few []inventory.Entry
	for scope, entries := range scopes {
		if len(entries) >= worthAList {
			many = append(many, scope)
			continue
		}
		few = append(few, slices.DeleteFunc(entries, func(e inventory.Entry) bool { return e.UID == "" })...)
	}
	live, err := Survey(ctx, c, owner, many)
	if err != nil {
		return nil, err
	}
	single, err := Look(ctx, c, few)
	for id, found := range single {
		if of, ok := found.Owner(); ok && of == (types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}) {
			live[id] = found
		}
	}
	return live, err
}

// Look reads the metadata of single objects, several at a time; many of a kind and namespace by lists, as far as these are
// less work. Those that do not exist are not in the result.
func Look(ctx context.Context, c Cluster, entries []inventory.Entry) (map[inventory.ID]inventory.Live, error) {
	found := &findings{live: map[inventory.ID]inventory.Live{}, wanted: map[inventory.ID]bool{}}
	scopes := map[Scope][]inventory.Entry{}
	for _, e := range entries {
		if !found.wanted[e.ID] {
			found.wanted[e.ID] = true
			scopes[scopeOf(e)] = append(scopes[scopeOf(e)], e)
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for scope, entries := range scopes {
		group.Go(func() error {
			if len(entries) >= worthAList {
				if complete, err := listSome(groupCtx, c, scope, len(entries), found); complete || err != nil {
					return err
				}
			}
			return getEach(groupCtx, c, entries, found)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return found.live, nil
}

// listAll lists what a selector selects, page by page.
func listAll(ctx context.Context, c Cluster, scope Scope, selector client.MatchingLabels, found *findings) error {
	return eachPage(ctx, c, scope, func(scope Scope, page *metav1.PartialObjectMetadataList) {
		found.add(scope, page.Items)
	}, selector, client.Limit(pageSize))
}

// pageOf is a kind of list.
type pageOf[L any] interface {
	*L
	client.ObjectList
	SetGroupVersionKind(kind schema.GroupVersionKind)
}

// eachPage lists what options select, in the version that the API server serves, and gives take one page after the other.
func eachPage[L any, P pageOf[L]](ctx context.Context, c Cluster, scope Scope, take func(Scope, P), options ...client.ListOption) error {
	next := ""
	for begun := 0; ; {
		page := newPage[L, P](scope)
		err := c.Client.List(ctx, page, append(slices.Clone(options), client.InNamespace(scope.Namespace), client.Continue(next))...)
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
		take(scope, page)
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}

// listSome lists all objects of a scope, whose ever they are, and says whether these are all. It gives up where it takes more
// pages than reading one by one is worth, and where it may not list it finds nothing.
func listSome(ctx context.Context, c Cluster, scope Scope, entries int, found *findings) (complete bool, err error) {
	next := ""
	for range entries / worthAList {
		page := newPage[metav1.PartialObjectMetadataList](scope)
		err = c.Client.List(ctx, page, client.InNamespace(scope.Namespace), client.Limit(pageSize), client.Continue(next))
		switch {
		case Unknown(err):
			again, err := scope.elsewhere(ctx, c)
			if err != nil || again == scope {
				return true, err
			}
			return listSome(ctx, c, again, entries, found)
		case apierrors.IsForbidden(err), apierrors.IsResourceExpired(err):
			return false, nil
		case err != nil:
			return false, listError(err, c, scope)
		}
		found.add(scope, page.Items)
		if next = page.Continue; next == "" {
			return true, nil
		}
	}
	return false, nil
}

// getEach reads those of the entries of a scope that were not found yet.
func getEach(ctx context.Context, c Cluster, entries []inventory.Entry, found *findings) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, e := range entries {
		if found.has(e.ID) {
			continue
		}
		group.Go(func() error {
			live, ok, err := get(ctx, c, e)
			if ok {
				found.put(e.ID, live)
			}
			return err
		})
	}
	return group.Wait()
}

func get(ctx context.Context, c Cluster, e inventory.Entry) (inventory.Live, bool, error) {
	scope := scopeOf(e)
	object, err := read(ctx, c, scope, e.ID.Name)
	if Unknown(err) {
		again, elsewhereErr := scope.elsewhere(ctx, c)
		if elsewhereErr != nil || again == scope {
			return inventory.Live{}, false, elsewhereErr
		}
		scope = again
		object, err = read(ctx, c, scope, e.ID.Name)
	}
	switch {
	case apierrors.IsNotFound(err) || Unknown(err):
		return inventory.Live{}, false, nil
	case err != nil:
		return inventory.Live{}, false, fmt.Errorf("reading %s: %w", e.ID.Display(), Denied(err, c, e.ID, e.Version))
	}
	return scope.live(object), true, nil
}

func read(ctx context.Context, c Cluster, scope Scope, name string) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(scope.Kind)
	return object, c.Client.Get(ctx, types.NamespacedName{Namespace: scope.Namespace, Name: name}, object)
}

func listError(err error, c Cluster, scope Scope) error {
	id := inventory.ID{Namespace: scope.Namespace, Group: scope.Kind.Group, Kind: scope.Kind.Kind}
	return fmt.Errorf("listing objects of kind %s: %w", scope.Kind.Kind, Denied(err, c, id, scope.Kind.Version))
}

func newPage[L any, P pageOf[L]](scope Scope) P {
	page := P(new(L))
	kind := scope.Kind
	kind.Kind += "List"
	page.SetGroupVersionKind(kind)
	return page
}

// live is LiveOf, with the version where it is not that which was asked for.
func (s Scope) live(object metav1.Object) inventory.Live {
	live := LiveOf(object)
	if s.moved {
		live.Version = s.Kind.Version
	}
	return live
}

// LiveOf is what is known of an object from its metadata.
func LiveOf(object metav1.Object) inventory.Live {
	live := inventory.Live{
		UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(), Generation: object.GetGeneration(),
		Labels: object.GetLabels(), Finalizers: object.GetFinalizers(),
		Deleting: object.GetDeletionTimestamp() != nil,
	}
	if value, ok := object.GetAnnotations()[stagesv1.PruneAnnotation]; ok { // others can be large, and nobody asks for them
		live.Annotations = map[string]string{stagesv1.PruneAnnotation: value}
	}
	for _, m := range object.GetManagedFields() {
		if m.Manager == stagesv1.FieldManager {
			live.Managed = append(live.Managed, m)
		}
	}
	return live
}

// findings collects objects that are read at the same time.
type findings struct {
	wanted map[inventory.ID]bool // nil wants all
	mu     sync.Mutex
	live   map[inventory.ID]inventory.Live
}

func (f *findings) add(scope Scope, items []metav1.PartialObjectMetadata) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range items {
		item := &items[i]
		id := inventory.ID{
			Namespace: item.Namespace, Name: item.Name, Group: scope.Kind.Group, Kind: scope.Kind.Kind,
		}
		if f.wanted == nil || f.wanted[id] {
			f.live[id] = scope.live(item)
		}
	}
}

func (f *findings) put(id inventory.ID, live inventory.Live) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[id] = live
}

func (f *findings) has(id inventory.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.live[id]
	return ok
}
