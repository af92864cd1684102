package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// pause is when a snippet comes again that found no room: soon, because room is made by runs that end in seconds.
const pause = 2 * time.Second

// load fetches and unpacks what is in archives.
func (c *snippets) load(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if err := c.fill(ctx, s, &s.files); err != nil {
		return reconcile.Next(), err
	}
	for i := range s.libraries {
		if err := c.fill(ctx, s, &s.libraries[i]); err != nil {
			return reconcile.Next(), err
		}
	}
	return reconcile.Next(), nil
}

func (c *snippets) fill(ctx context.Context, s *scope, from *origin) error {
	if !from.fetched() {
		return nil
	}
	files, err := s.hold.Load(ctx, *from.archive)
	var refused *artifact.RefusedError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, load.ErrBusy):
		return reconcile.Waiting(c.options.Now().Add(pause), renderv1.ReasonEvaluationUnavailable,
			fmt.Errorf("unpacking the artifact of %s: %w; it is tried again", from.what, err))
	case errors.As(err, &refused): // until there is another artifact, which is watched
		return reconcile.Stalled(renderv1.ReasonSourceFetchFailed, fmt.Errorf("%s: %w", from.what, err))
	case errors.Is(err, artifact.ErrDigestMismatch):
		return reconcile.Waiting(c.later(), renderv1.ReasonSourceFetchFailed, fmt.Errorf("%s: %w", from.what, err))
	default:
		return reconcile.Failed(renderv1.ReasonSourceFetchFailed, fmt.Errorf("%s: %w", from.what, err))
	}
	from.inline = files.Below(from.directory)
	if len(from.inline) == 0 {
		return reconcile.Waiting(c.later(), renderv1.ReasonInvalidSpec, fmt.Errorf(
			"the artifact of %s has no files in %q; correct sourceRef.path", from.what, from.directory))
	}
	return nil
}
