package operator

import (
	"context"
	"errors"
	"fmt"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// renderedFile is the one file of a rendered artifact.
const renderedFile = "rendered.json"

// pack makes the tarball.
func (c *snippets) pack(_ context.Context, s *scope) (reconcile.Outcome, error) {
	files := artifact.Files{renderedFile: s.json}
	if s.snippet.Spec.Output == renderv1.OutputSource {
		if s.files.fetched() {
			if err := s.hold.Reserve(s.files.inline.Bytes()); err != nil { // for the copy below
				return reconcile.Next(), c.reserveError(err)
			}
		}
		files = make(artifact.Files, len(s.files.inline))
		for name, file := range s.files.inline {
			files[name] = []byte(file.Content)
		}
	}
	packed, err := artifact.DefaultLimits().Pack(files)
	var refused *artifact.RefusedError
	if errors.As(err, &refused) {
		return reconcile.Next(), reconcile.Stalled(renderv1.ReasonArtifactTooLarge, err)
	}
	if err != nil {
		return reconcile.Next(), err
	}
	if limit := c.options.Publish.MaxArtifactBytes; limit > 0 && packed.Size() > limit {
		return reconcile.Next(), reconcile.Stalled(renderv1.ReasonArtifactTooLarge, fmt.Errorf(
			"the artifact has %d bytes, and --max-artifact-bytes allows %d", packed.Size(), limit))
	}
	s.packed = packed
	return reconcile.Next(), nil
}

func (c *snippets) reserveError(err error) error {
	if errors.Is(err, load.ErrBusy) {
		return reconcile.Waiting(c.options.Now().Add(pause), renderv1.ReasonEvaluationUnavailable,
			fmt.Errorf("packing the files: %w; it is tried again", err))
	}
	return reconcile.Stalled(renderv1.ReasonArtifactTooLarge, err)
}
