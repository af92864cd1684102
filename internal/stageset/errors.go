package stageset

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/build"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/source"
)

// accessError tells an error of reading something as a cluster's identity.
func (c *stageSets) accessError(s *scope, as cluster.Cluster, verb, resource string, name types.NamespacedName, err error) error {
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%s may not %s %s %s: grant it to the account", as.Identity, verb, resource, name)
		return reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonAccessDenied, err)
	}
	return c.explain(s, stagesv1.ReasonProgressing, fmt.Errorf("reading %s %s: %w", resource, name, err))
}

// unwatched says whether a cache refused to read in a namespace that it does not watch. There is no type for it.
func unwatched(err error) bool {
	return err != nil && strings.Contains(err.Error(), "because of unknown namespace for the cache")
}

// conceal takes the values of Secrets out of an error and out of what stages say. A broken manifest may have one where nobody
// looks for it, as the name of a kind, say.
func (s *scope) conceal(err error) error {
	if err == nil {
		return nil
	}
	var secrets []string
	for _, w := range s.stages {
		secrets = append(secrets, w.values.secrets...)
	}
	for i := range s.set.Status.Stages {
		stage := &s.set.Status.Stages[i]
		stage.Message = build.Redact(stage.Message, secrets)
	}
	text := build.Redact(err.Error(), secrets)
	if text == err.Error() {
		return err
	}
	var known *reconcile.Error
	if errors.As(err, &known) {
		return &reconcile.Error{Kind: known.Kind, Reason: known.Reason, Until: known.Until, Err: errors.New(text)}
	}
	return errors.New(text)
}

// withoutRequest leaves the method and the URL of the request out of what an error says. None was sent without a token.
func withoutRequest(err error) error {
	var request *url.Error
	if !errors.As(err, &request) {
		return err
	}
	return &rewordedError{strings.Replace(err.Error(), request.Error(), request.Err.Error(), 1), err}
}

// rewordedError is an error in other words.
type rewordedError struct {
	text string
	err  error
}

func (e *rewordedError) Error() string { return e.text }
func (e *rewordedError) Unwrap() error { return e.err }

// explain gives an error its kind and its reason: otherwise is that of errors which may pass and say nothing more.
func (c *stageSets) explain(s *scope, otherwise string, err error) error {
	var (
		known    *reconcile.Error
		denied   *cluster.DeniedError
		missing  *tenant.MissingError
		conflict *apply.ConflictError
		refused  *apply.RefusedError
		manifest *build.Error
		notReady *source.NotReadyError
		invalid  *source.InvalidError
		archive  *artifact.RefusedError
		silent   *unreachableError
	)
	later := s.retry(c.options.DefaultInterval)
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &askingError{}):
		return err
	case errors.As(err, &silent):
		return reconcile.Waiting(later, stagesv1.ReasonProgressing, err)
	case errors.As(err, &missing):
		return reconcile.Waiting(later, stagesv1.ReasonAccessDenied, withoutRequest(err))
	case errors.As(err, &denied):
		return reconcile.Waiting(later, stagesv1.ReasonAccessDenied, err)
	case errors.As(err, &conflict):
		return reconcile.Waiting(later, stagesv1.ReasonConflictHeld, err)
	case errors.As(err, &refused):
		return reconcile.Waiting(later, stagesv1.ReasonApplyFailed, err)
	case errors.As(err, &invalid):
		return reconcile.Stalled(stagesv1.ReasonInvalidSpec, err)
	case errors.Is(err, build.ErrEncrypted):
		return reconcile.Stalled(stagesv1.ReasonDecryptionFailed, err)
	case errors.As(err, &manifest):
		return reconcile.Stalled(stagesv1.ReasonBuildFailed, err)
	case errors.As(err, &notReady):
		return reconcile.Waiting(later, stagesv1.ReasonSourceNotReady, err)
	case errors.As(err, &archive), errors.Is(err, artifact.ErrDigestMismatch), errors.Is(err, artifact.ErrNotFound):
		return reconcile.Waiting(later, stagesv1.ReasonArtifactFetchFailed, err)
	case noRoom(err):
		return reconcile.Waiting(s.now.Add(busyDelay), stagesv1.ReasonProgressing, err)
	}
	return reconcile.Failed(otherwise, err)
}

// noRoom says whether something has no room in memory now.
func noRoom(err error) bool { return errors.Is(err, load.ErrBusy) || errors.Is(err, build.ErrBusy) }
