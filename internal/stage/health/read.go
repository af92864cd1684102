package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

const (
	// pageSize is how many objects a list returns at a time, and readers how many requests of a wait there are at once.
	pageSize = 500
	readers  = 8
	// readTimeout bounds what one part of a wait, or a page of a list, takes.
	readTimeout = 30 * time.Second
	// maxAttempts bounds how often a list is made again because it was overtaken.
	maxAttempts = 4
)

// read reads parts of a wait.
func (w *Watcher) read(ctx context.Context, next *wait, parts []*part) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, p := range parts {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			return w.readPart(ctx, next, p)
		})
	}
	return group.Wait()
}

// age says how old a list may be. A present one has an API server wait until its cache has caught up, which takes up to
// 100 ms for a kind in which nothing happens. Where a watch follows, one out of the cache is as good: what it does not have
// yet is told afterwards, an object whose generation is older than what was applied is in progress, and one that is missing
// is read by its name. It must not be older than a watch that is there already.
func (p *part) age(version string, watched bool) []client.ListOption {
	if !watched {
		return nil
	}
	for _, i := range p.interests {
		if i.target.Generation == 0 && !p.watching.metadata {
			return nil
		}
	}
	raw := &metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	if version != "" {
		raw.ResourceVersion = version
	}
	return []client.ListOption{&client.ListOptions{Raw: raw}}
}

// found is what a read has told.
type found struct {
	objects map[string]*record // by name, of those that exist
	version string             // of the list; empty where there was none, so that no watch can begin with it
}

// readPart reads the objects of a part that the owner has. A list that began before a watch, and that the watch began
// without, is older than what it would be merged with, and is made again.
func (w *Watcher) readPart(ctx context.Context, next *wait, p *part) error {
	for range maxAttempts {
		w.mu.Lock()
		version, watched := p.watching.version, p.watching.phase != refused
		w.mu.Unlock()
		begun := version != ""
		seen, err := readObjects(ctx, next, p, p.age(version, watched)...)
		if err != nil {
			return err
		}
		if w.merge(p, seen, begun) {
			return nil
		}
	}
	return fmt.Errorf("listing %s: it is overtaken by others again and again", p.watching.kind.Kind)
}

// readObjects lists, and reads by name what the list does not have and what should exist: it may have lost our labels.
func readObjects(ctx context.Context, next *wait, p *part, age ...client.ListOption) (found, error) {
	seen := found{objects: map[string]*record{}}
	selection := p.watching.selection()
	if p.watching.name == "" {
		selection = append(selection, client.MatchingLabels{
			stagesv1.NameLabel: next.Owner.Name, stagesv1.NamespaceLabel: next.Owner.Namespace,
		})
	}
	version, err := pages(ctx, p.watching, selection, age, func(object client.Object) {
		if p.interests[object.GetName()] != nil {
			seen.objects[object.GetName()] = p.watching.record(object, next, p.reports)
		}
	})
	listed := err == nil
	switch {
	case isUnknownKind(err):
		return seen, nil
	case err != nil && !apierrors.IsForbidden(err):
		return found{}, fmt.Errorf("listing %s: %w", p.watching.kind.Kind, err)
	}
	seen.version = version
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	results := make(chan *readResult, len(p.interests))
	for name, i := range p.interests {
		// Whatever carries our labels no more is gone as far as deleting it is concerned.
		if seen.objects[name] != nil && !i.replaced(seen.objects[name]) || seen.objects[name] == nil && listed && (p.watching.name != "" || i.target.Gone) {
			continue
		}
		group.Go(func() error {
			record, err := readOne(ctx, next, i)
			results <- &readResult{name, record}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return found{}, err
	}
	close(results)
	for result := range results {
		seen.objects[result.name] = result.record
	}
	return seen, nil
}

type readResult struct {
	name   string
	record *record
}

// readOne reads an object by its name.
func readOne(ctx context.Context, next *wait, i *interest) (*record, error) {
	g := i.part.watching
	object := g.object()
	err := g.client.Get(ctx, client.ObjectKey{Namespace: g.namespace, Name: i.target.Entry.ID.Name}, object)
	switch {
	case apierrors.IsNotFound(err), isUnknownKind(err):
		return &record{verified: true}, nil
	case apierrors.IsForbidden(err):
		return nil, denied(err, g, "get", i.target.Entry.ID)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", describe(i.target.Entry.ID), err)
	}
	return g.record(object, next, i.part.reports), nil
}

// merge keeps what was read, unless a watch has told something newer. It reports false where the read is too old for that.
func (w *Watcher) merge(p *part, seen found, begun bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := p.watching
	if !begun && g.version != "" {
		return false
	}
	for name, i := range p.interests {
		r := seen.objects[name]
		if r == nil {
			r = &record{verified: g.name != ""}
		}
		if r.version == "" {
			r.version = seen.version
		}
		if g.phase != open || newer(r, i.known) {
			i.known = r
		}
	}
	if g.phase == fresh {
		g.version = seen.version
	}
	return true
}

// newer reports whether a record is not older than what is known.
func newer(r, known *record) bool {
	if known == nil {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(r.version, known.version)
	return err != nil || order >= 0
}

// pages lists in pages, and returns the version of the list. How old it may be is said for the first page only: the others
// are of the same version.
func pages(ctx context.Context, g *watching, selection, age []client.ListOption, each func(client.Object)) (string, error) {
	next := ""
	for {
		list := g.list()
		options := slices.Concat(selection, []client.ListOption{client.Limit(pageSize), client.Continue(next)})
		if next == "" {
			options = append(options, age...)
		}
		if err := g.client.List(ctx, list, options...); err != nil {
			return "", err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("a list has a %T in it", item)
			}
			each(object)
			return nil
		})
		if err != nil {
			return "", err
		}
		if next = list.GetContinue(); next == "" {
			return list.GetResourceVersion(), nil
		}
	}
}

// isUnknownKind reports whether an error says that there is no such kind: nothing of it exists.
func isUnknownKind(err error) bool {
	if meta.IsNoMatchError(err) {
		return true
	}
	status := apierrors.APIStatus(nil)
	// Of the kind of an object that is not found, the name is told.
	return errors.As(err, &status) && status.Status().Reason == metav1.StatusReasonNotFound &&
		(status.Status().Details == nil || status.Status().Details.Name == "")
}

// denied says who was refused what.
func denied(err error, g *watching, verb string, id inventory.ID) error {
	resource := g.kind.GroupKind().String()
	if mapping, mapErr := g.client.RESTMapper().RESTMapping(g.kind.GroupKind(), g.kind.Version); mapErr == nil {
		resource = mapping.Resource.GroupResource().String()
	}
	return &cluster.DeniedError{Identity: g.identity, Verb: verb, Resource: resource, ID: id, Err: err}
}
