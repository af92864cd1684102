package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// limit takes one evaluation from the snippet's budget, or comes back when there is one.
func (c *snippets) limit(_ context.Context, s *scope) (reconcile.Outcome, error) {
	if s.past.bucket == nil || s.snippet.Spec.Output == renderv1.OutputSource {
		return reconcile.Next(), nil
	}
	now := c.options.Now()
	s.spent, s.spentAt = s.past.bucket.ReserveN(now, 1), now
	if delay := s.spent.DelayFrom(now); delay > 0 {
		s.spent.CancelAt(now)
		return reconcile.Next(), reconcile.Waiting(now.Add(delay), renderv1.ReasonRateLimited, errors.New(
			"it is rendered more often than --rerender-rate and --rerender-burst allow; it is rendered again as soon as they do"))
	}
	return reconcile.Next(), nil
}

// failureLasts is when an evaluation is repeated that ran out of time or memory: the machine may have been busy.
const failureLasts = 10 * time.Minute

// evaluate renders the snippet.
func (c *snippets) evaluate(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	spec := &s.snippet.Spec
	if spec.Output == renderv1.OutputSource {
		return reconcile.Next(), nil
	}
	libraries := make([]bundle.Library, 0, len(s.libraries))
	for _, library := range s.libraries {
		libraries = append(libraries, bundle.Library{ImportPath: library.importPath, Files: library.inline})
	}
	result, err := c.options.Evaluator.Evaluate(ctx, jsonnet.Request{
		Program:   bundle.New(spec.EntryFile, s.files.inline, libraries),
		Arguments: s.arguments,
		External:  s.external,
		Quiet:     len(s.secrets) > 0, // std.trace writes to the operator's log, where nothing of a tenant's Secrets belongs
	})
	if err == nil {
		s.json = result.JSON
		s.past.failed = failure{}
		return reconcile.Next(), nil
	}
	var failed *jsonnet.Error
	if !errors.As(err, &failed) {
		return reconcile.Next(), err // the context's
	}
	return reconcile.Next(), c.evaluationError(s, failed)
}

// evaluationError says what failed, and remembers it where the same inputs would fail again.
func (c *snippets) evaluationError(s *scope, failed *jsonnet.Error) error {
	now := c.options.Now()
	err := errors.New(withoutSecrets(failed, s.secrets))
	remembered := failure{fingerprint: s.fingerprint, request: requestOf(s.snippet)}
	switch failed.Reason {
	case jsonnet.EvaluationUnavailable:
		if s.spent != nil {
			s.spent.CancelAt(s.spentAt) // later it would count as used
		}
		return reconcile.Waiting(now.Add(pause), renderv1.ReasonEvaluationUnavailable, fmt.Errorf("%w; it is tried again", err))
	case jsonnet.EvaluationTimeout:
		remembered.until = now.Add(failureLasts)
		remembered.err = reconcile.Waiting(remembered.until, renderv1.ReasonEvaluationTimeout, err)
	case jsonnet.EvaluationMemoryExceeded:
		remembered.until = now.Add(failureLasts)
		remembered.err = reconcile.Waiting(remembered.until, renderv1.ReasonEvaluationMemoryExceeded, err)
	case jsonnet.StackExceeded:
		remembered.err = reconcile.Stalled(renderv1.ReasonStackExceeded, err)
	default:
		remembered.err = reconcile.Stalled(renderv1.ReasonEvaluationFailed, err)
	}
	s.past.failed = remembered
	return remembered.err
}
