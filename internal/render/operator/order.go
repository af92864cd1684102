package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// maxChain bounds how many snippets are followed. A longer chain is not looked at to its end.
const maxChain = 256

// order refuses a snippet that needs its own artifact, directly or through others: it would be rendered for ever.
//
// What other snippets use is taken from the operator's cache. It decides nothing but this, and tells only names that the
// chain already leads to.
func (c *snippets) order(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	start := client.ObjectKeyFromObject(s.snippet)
	type visit struct {
		key types.NamespacedName
		via []types.NamespacedName
	}
	var pending []visit
	for _, used := range c.uses(ctx, s.snippet) {
		pending = append(pending, visit{key: used})
	}
	seen := map[types.NamespacedName]bool{}
	for len(pending) > 0 && len(seen) < maxChain {
		at := pending[0]
		pending = pending[1:]
		if at.key == start {
			return reconcile.Next(), reconcile.Waiting(c.later(), renderv1.ReasonDependencyCycle, circle(start, at.via))
		}
		if seen[at.key] {
			continue
		}
		seen[at.key] = true
		other := &renderv1.JsonnetSnippet{}
		if !c.cached(ctx, at.key, other) {
			continue // an artifact that no snippet publishes, or none that this operator works on
		}
		for _, key := range c.uses(ctx, other) {
			pending = append(pending, visit{key: key, via: append(slices.Clone(at.via), at.key)})
		}
	}
	return reconcile.Next(), ctx.Err()
}

// cached says whether the operator's cache has an object, and reads it. Objects in namespaces that are not watched, and
// those that the selector leaves out, are not there.
func (c *snippets) cached(ctx context.Context, key types.NamespacedName, object client.Object) bool {
	ctx, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	return c.client.Get(ctx, key, object) == nil
}

func circle(start types.NamespacedName, via []types.NamespacedName) error {
	names := []string{start.String()}
	for _, key := range via {
		names = append(names, key.String())
	}
	return fmt.Errorf("the snippet needs its own artifact: %s", strings.Join(append(names, start.String()), " uses "))
}

// uses are the ExternalArtifacts that a snippet is made from, by their names.
func (c *snippets) uses(ctx context.Context, snippet *renderv1.JsonnetSnippet) []types.NamespacedName {
	var used []types.NamespacedName
	add := func(namespace string, ref *renderv1.SourceReference) {
		if ref != nil && ref.Kind == sourcev1.ExternalArtifactKind {
			used = append(used, sourceKey(namespace, ref))
		}
	}
	add(snippet.Namespace, snippet.Spec.SourceRef)
	if snippet.Spec.Output == renderv1.OutputSource {
		return used
	}
	for _, ref := range snippet.Spec.Libraries {
		library := &renderv1.JsonnetLibrary{}
		key := libraryKey(snippet.Namespace, ref)
		if c.cached(ctx, key, library) {
			add(library.Namespace, library.Spec.SourceRef)
		}
	}
	return used
}
