package operator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// claim makes sure that the snippet is not gone before what is stored for it.
func (c *snippets) claim(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	return reconcile.Next(), c.setFinalizer(ctx, s, controllerutil.AddFinalizer)
}

// setFinalizer adds or removes the finalizer. The status that the steps have noted stays as it is.
func (c *snippets) setFinalizer(
	ctx context.Context, s *scope, change func(object client.Object, finalizer string) bool,
) error {
	changed := s.before.DeepCopy()
	changed.SetResourceVersion(s.snippet.GetResourceVersion())
	from := client.MergeFromWithOptions(changed.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !change(changed, renderv1.Finalizer) {
		return nil
	}
	if err := c.client.Patch(ctx, changed, from); err != nil {
		return reconcile.Failed(renderv1.ReasonProgressing, fmt.Errorf("changing the finalizers of the snippet: %w", err))
	}
	s.snippet.SetFinalizers(changed.GetFinalizers())
	s.snippet.SetResourceVersion(changed.GetResourceVersion())
	return nil
}

// store puts the tarball into the storage, which reads it back.
func (c *snippets) store(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.packed.Revision == s.snippet.Status.Revision { // other inputs gave the same, which may well be there
		if present, err := c.present(ctx, s); present || err != nil {
			return reconcile.Next(), err
		}
	}
	stored, err := c.options.Publish.Store.Put(ctx, s.ref(), s.packed)
	if err != nil {
		return reconcile.Next(), reconcile.Failed(renderv1.ReasonStorageFailed, fmt.Errorf("storing the artifact: %w", err))
	}
	s.stored, s.past.verified = stored, stored
	return reconcile.Next(), nil
}

// remember notes in the status what is published. Where that is what was published before, the status stays as it is and
// only this process remembers that other inputs gave the same.
func (c *snippets) remember(_ context.Context, s *scope) (reconcile.Outcome, error) {
	status := &s.snippet.Status
	now := metav1.NewTime(c.options.Now())
	entry := renderv1.PublishedRevision{Revision: s.stored.Revision, Digest: s.stored.Digest.String(), Time: now}
	s.past.accepted = s.fingerprint
	news := len(status.History) == 0 || status.History[0].Revision != entry.Revision || status.History[0].Digest != entry.Digest
	if news {
		history := []renderv1.PublishedRevision{entry}
		for _, older := range status.History {
			if older.Revision != entry.Revision {
				history = append(history, older)
			}
		}
		status.History = history
		status.LastSyncTime = &now
		c.options.Observe.Observer.ArtifactPublished(s.stored.Size)
	}
	if keep := max(int(s.snippet.Spec.History), 1); len(status.History) > keep {
		status.History = status.History[:keep]
	}
	status.Revision = entry.Revision
	status.ArtifactURL = c.url(s)
	if news || c.writesAnyway(s) {
		status.Fingerprint = s.fingerprint
	}
	return reconcile.Next(), nil
}

// writesAnyway says whether the end of the run changes the status without our doing.
func (c *snippets) writesAnyway(s *scope) bool {
	return !meta.IsStatusConditionTrue(s.before.Status.Conditions, renderv1.ReadyCondition) ||
		s.before.Status.ObservedGeneration != s.before.Generation
}
