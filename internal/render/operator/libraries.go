package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/control"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

const libraryKind = "JsonnetLibrary"

// libraries reconciles JsonnetLibraries: it says whether they can be used. It reads no file of theirs; snippets do, each
// as its ServiceAccount.
type libraries struct {
	options Options
	client  client.Client // the operator's own
	exit    *reconcile.Exit
}

// Reconcile looks at one library.
func (c *libraries) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	library := &renderv1.JsonnetLibrary{}
	if err := c.client.Get(ctx, request.NamespacedName, library); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	began := time.Now()
	before := library.DeepCopy()
	outcome, err := reconcile.Run(ctx, library, c.check, c.findSource)
	result, err := c.exit.Finish(ctx, before, library, reconcile.Report{
		Outcome: outcome, Err: err, Message: "The library can be used", Revision: fmt.Sprint(library.Generation),
	})
	observe(c.options.Observe.Observer, libraryKind, library.Status.Conditions, time.Since(began))
	return result, err
}

func (c *libraries) check(_ context.Context, library *renderv1.JsonnetLibrary) (reconcile.Outcome, error) {
	return reconcile.Next(), c.options.Spec.checkOrigin(library.Namespace, library.Spec.Files, library.Spec.SourceRef)
}

// cacheTimeout bounds how long the cache may keep a reader waiting, which it does while a watch has not begun.
const cacheTimeout = 2 * time.Second

// findSource looks for an artifact of the source. Sources are watched, so a change brings the library back. What is in
// another namespace is not looked at: that it exists is not the operator's to tell, and a snippet finds out by its
// ServiceAccount.
func (c *libraries) findSource(ctx context.Context, library *renderv1.JsonnetLibrary) (reconcile.Outcome, error) {
	ref := library.Spec.SourceRef
	if ref == nil {
		return reconcile.Next(), nil
	}
	key := sourceKey(library.Namespace, ref)
	if key.Namespace != library.Namespace {
		return reconcile.Next(), nil
	}
	object := control.SourceKinds()[ref.Kind]()
	later := c.options.Now().Add(c.options.Recheck)
	bounded, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	err := c.client.Get(bounded, key, object)
	var uncached *cache.ErrResourceNotCached
	switch {
	case apierrors.IsNotFound(err):
		return reconcile.Next(), reconcile.Waiting(later, renderv1.ReasonSourceNotReady,
			fmt.Errorf("%s %s does not exist", ref.Kind, key))
	case meta.IsNoMatchError(err), errors.As(err, &uncached): // there is no watch while there is no definition
		return reconcile.Next(), reconcile.Waiting(later, renderv1.ReasonSourceNotReady,
			fmt.Errorf("the cluster has no %s; install Flux's source kinds", resourceOf(ref.Kind)))
	case err != nil:
		return reconcile.Next(), fmt.Errorf("reading %s %s: %w", ref.Kind, key, err)
	}
	if artifact := object.GetArtifact(); artifact == nil || artifact.URL == "" || artifact.Digest == "" {
		return reconcile.Next(), reconcile.Waiting(later, renderv1.ReasonSourceNotReady,
			fmt.Errorf("%s %s has no artifact yet", ref.Kind, key))
	}
	return reconcile.Next(), nil
}
