package operator

import (
	"context"
	"fmt"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// withdraw takes back what a deleted snippet has published, and lets it go. It is tried for a limited time, because what
// it needs, such as the ServiceAccount, may be gone for good.
func (c *snippets) withdraw(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.snippet.DeletionTimestamp.IsZero() {
		return reconcile.Next(), nil
	}
	if !controllerutil.ContainsFinalizer(s.snippet, renderv1.Finalizer) {
		return reconcile.Wait(renderv1.ReasonProgressing, "The artifact is withdrawn"), nil
	}
	if meta.IsStatusConditionTrue(s.snippet.Status.Conditions, renderv1.ReadyCondition) { // not a moment longer than it is
		return reconcile.WaitUntil(c.options.Now(), renderv1.ReasonProgressing, "The artifact is being withdrawn"), nil
	}
	if err := c.takeBack(ctx, s); err != nil {
		if ctx.Err() != nil {
			return reconcile.Next(), err
		}
		force := s.snippet.DeletionTimestamp.Add(c.options.Publish.MaxWithdrawWait)
		if c.options.Now().Before(force) {
			return reconcile.Next(), c.withdrawLater(force, err)
		}
		c.giveUp(ctx, s, err)
	}
	c.watches.Set(client.ObjectKeyFromObject(s.snippet), nil)
	if err := client.IgnoreNotFound(c.setFinalizer(ctx, s, controllerutil.RemoveFinalizer)); err != nil {
		return reconcile.Next(), err
	}
	return reconcile.Wait(renderv1.ReasonProgressing, "The artifact is withdrawn"), nil
}

// takeBack deletes first what announces the files, and then the files.
func (c *snippets) takeBack(ctx context.Context, s *scope) error {
	if err := c.deleteArtifact(ctx, s); err != nil {
		lost := reconcile.ReasonOf(err) == renderv1.ReasonServiceAccountMissing ||
			reconcile.ReasonOf(err) == renderv1.ReasonAccessDenied
		if !lost || !c.terminating(ctx, s.snippet.Namespace) {
			return err
		}
		// Roles and ServiceAccounts of the namespace go in any order, and the ExternalArtifact goes with them.
	}
	if err := c.options.Publish.Store.DeleteAll(ctx, s.ref()); err != nil {
		return reconcile.Failed(renderv1.ReasonStorageFailed, fmt.Errorf("deleting the stored artifacts: %w", err))
	}
	return nil
}

// deleteArtifact deletes the ExternalArtifact if it is the snippet's.
func (c *snippets) deleteArtifact(ctx context.Context, s *scope) error {
	if _, err := c.identify(ctx, s); err != nil {
		return err
	}
	found := &sourcev1.ExternalArtifact{}
	err := s.client.Get(ctx, client.ObjectKeyFromObject(s.snippet), found)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil
	case err != nil:
		return c.tenantError(s, c.onArtifact(s, "get", ""), err)
	case !pointsBack(found, s.snippet), !found.DeletionTimestamp.IsZero():
		return nil
	}
	uid := found.GetUID()
	err = s.client.Delete(ctx, found, client.Preconditions{UID: &uid})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.writeError(s, c.onArtifact(s, "delete", ""), err)
}

// withdrawLater tries again before it is given up.
func (c *snippets) withdrawLater(force time.Time, err error) error {
	next := c.later()
	if force.Before(next) {
		next = force
	}
	reason := reconcile.ReasonOf(err)
	if reason == "" {
		reason = renderv1.ReasonProgressing
	}
	return reconcile.Waiting(next, reason, fmt.Errorf("withdrawing the artifact: %w; it is given up at %s",
		err, force.UTC().Format(time.RFC3339)))
}

// giveUp removes what can be removed without anybody's help, and says what may be left.
func (c *snippets) giveUp(ctx context.Context, s *scope, cause error) {
	left := "The ExternalArtifact may be left"
	if err := c.options.Publish.Store.DeleteAll(ctx, s.ref()); err != nil {
		left += ", and its files"
		log.FromContext(ctx).Error(err, "files of a deleted snippet are left in the storage")
	}
	if c.events != nil {
		c.events.Eventf(s.snippet, nil, corev1.EventTypeWarning, renderv1.ReasonWithdrawForced, "Withdraw", "%s",
			fmt.Sprintf("The artifact could not be withdrawn within %s: %v. %s", c.options.Publish.MaxWithdrawWait, cause, left))
	}
}

// terminating says whether a namespace is being deleted. The operator may not read namespaces, but it may create events, and
// nothing can be created in such a namespace.
func (c *snippets) terminating(ctx context.Context, namespace string) bool {
	probe := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "withdraw-", Namespace: namespace},
		Regarding:  corev1.ObjectReference{Namespace: namespace},
		EventTime:  metav1.NewMicroTime(c.options.Now()), Type: corev1.EventTypeNormal,
		ReportingController: renderv1.GroupVersion.Group, ReportingInstance: renderv1.GroupVersion.Group,
		Action: "Withdraw", Reason: renderv1.ReasonProgressing, Note: "Withdrawing",
	}
	return isTerminating(c.client.Create(ctx, probe, client.DryRunAll))
}

func isTerminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
