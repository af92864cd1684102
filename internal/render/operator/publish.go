package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

const snippetKind = "JsonnetSnippet"

// publish makes the ExternalArtifact of the snippet's name announce what is stored. It writes nothing where it does so
// already, and touches none that somebody else made.
func (c *snippets) publish(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	found := &sourcev1.ExternalArtifact{}
	err := s.client.Get(ctx, client.ObjectKeyFromObject(s.snippet), found)
	switch {
	case apierrors.IsNotFound(err):
		found, err = c.createArtifact(ctx, s)
	case err != nil:
		err = c.tenantError(s, c.onArtifact(s, "get", ""), err)
	case !pointsBack(found, s.snippet):
		return reconcile.Next(), reconcile.Waiting(c.later(), renderv1.ReasonArtifactConflict, fmt.Errorf(
			"ExternalArtifact %s belongs to somebody else: rename the snippet, or delete that one", client.ObjectKeyFromObject(found)))
	case !found.DeletionTimestamp.IsZero():
		return reconcile.WaitUntil(c.later(), renderv1.ReasonProgressing,
			"The ExternalArtifact is being deleted; it is made again when it is gone"), nil
	default:
		err = c.adopt(ctx, s, found)
	}
	if err != nil {
		return reconcile.Next(), err
	}
	if err := c.announce(ctx, s, found); err != nil {
		return reconcile.Next(), err
	}
	s.past.announced = s.stored.Revision
	return reconcile.Next(), nil
}

func (c *snippets) onArtifact(s *scope, verb, subresource string) access {
	resource := "externalartifacts." + sourcev1.GroupVersion.Group
	if subresource != "" {
		resource = "externalartifacts/" + subresource + "." + sourcev1.GroupVersion.Group
	}
	return access{verb, resource, s.snippet.Namespace, s.snippet.Name}
}

// pointsBack says whether an ExternalArtifact is the snippet's: by what it says it is made from, or by its owner.
func pointsBack(found *sourcev1.ExternalArtifact, snippet *renderv1.JsonnetSnippet) bool {
	for _, owner := range found.OwnerReferences {
		if owner.UID == snippet.UID {
			return true
		}
	}
	ref := found.Spec.SourceRef
	if ref == nil || ref.Kind != snippetKind || ref.Name != snippet.Name {
		return false
	}
	group, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && group.Group == renderv1.GroupVersion.Group &&
		(ref.Namespace == "" || ref.Namespace == snippet.Namespace)
}

// shape sets what the operator wants of an ExternalArtifact besides its status.
func shape(artifact *sourcev1.ExternalArtifact, snippet *renderv1.JsonnetSnippet) {
	artifact.Spec.SourceRef = &fluxmeta.NamespacedObjectKindReference{
		APIVersion: renderv1.GroupVersion.String(), Kind: snippetKind, Name: snippet.Name, Namespace: snippet.Namespace,
	}
	controller := true
	owners := []metav1.OwnerReference{{
		APIVersion: renderv1.GroupVersion.String(), Kind: snippetKind, Name: snippet.Name, UID: snippet.UID, Controller: &controller,
	}}
	for _, owner := range artifact.OwnerReferences {
		group, _ := schema.ParseGroupVersion(owner.APIVersion)
		if owner.Kind != snippetKind || group.Group != renderv1.GroupVersion.Group { // those of former snippets are gone
			owner.Controller = nil
			owners = append(owners, owner)
		}
	}
	artifact.OwnerReferences = owners
}

func (c *snippets) createArtifact(ctx context.Context, s *scope) (*sourcev1.ExternalArtifact, error) {
	made := &sourcev1.ExternalArtifact{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.snippet.Namespace, Name: s.snippet.Name},
	}
	shape(made, s.snippet)
	if err := s.client.Create(ctx, made); err != nil {
		return nil, c.writeError(s, c.onArtifact(s, "create", ""), err)
	}
	return made, nil
}

// adopt restores what was changed by hand.
func (c *snippets) adopt(ctx context.Context, s *scope, found *sourcev1.ExternalArtifact) error {
	from := found.DeepCopy()
	shape(found, s.snippet)
	return c.patchIfChanged(ctx, s, from, found, false)
}

// announce writes the status.
func (c *snippets) announce(ctx context.Context, s *scope, found *sourcev1.ExternalArtifact) error {
	from := found.DeepCopy()
	now := metav1.NewTime(c.options.Now())
	size := s.stored.Size
	next := &fluxmeta.Artifact{
		Path: s.stored.Path(), URL: c.url(s), Revision: s.stored.Revision, Digest: s.stored.Digest.String(), Size: &size,
		LastUpdateTime: now,
	}
	if last := found.Status.Artifact; last != nil && last.Revision == next.Revision && last.Digest == next.Digest {
		next.LastUpdateTime = last.LastUpdateTime
	}
	found.Status.Artifact = next
	meta.SetStatusCondition(&found.Status.Conditions, metav1.Condition{
		Type: fluxmeta.ReadyCondition, Status: metav1.ConditionTrue, Reason: fluxmeta.SucceededReason,
		Message: "stored artifact of revision " + s.stored.Revision, ObservedGeneration: found.Generation, LastTransitionTime: now,
	})
	return c.patchIfChanged(ctx, s, from, found, true)
}

// patchIfChanged writes the difference, if nobody has written since from was read.
func (c *snippets) patchIfChanged(
	ctx context.Context, s *scope, from, to *sourcev1.ExternalArtifact, status bool,
) error {
	patch := client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{})
	// The version is always part of such a patch; without it, one of nothing is empty.
	if data, err := client.MergeFrom(from).Data(to); err != nil || string(data) == "{}" {
		return err
	}
	if status {
		return c.writeError(s, c.onArtifact(s, "patch", "status"), s.client.Status().Patch(ctx, to, patch))
	}
	return c.writeError(s, c.onArtifact(s, "patch", ""), s.client.Patch(ctx, to, patch))
}

// writeError tells refusals of a namespace that is going away from those of the authorizer.
func (c *snippets) writeError(s *scope, tried access, err error) error {
	switch {
	case err == nil:
		return nil
	case isTerminating(err):
		return reconcile.Waiting(c.later(), renderv1.ReasonProgressing, errors.New("the namespace is being deleted"))
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err): // somebody was faster
		return reconcile.Failed(renderv1.ReasonProgressing, fmt.Errorf("trying to %s: %w", tried, err))
	default:
		return c.tenantError(s, tried, err)
	}
}

// url is where the stored artifact can be fetched.
func (c *snippets) url(s *scope) string {
	return strings.TrimRight(c.options.Publish.BaseURL, "/") + "/" + s.stored.Path()
}
