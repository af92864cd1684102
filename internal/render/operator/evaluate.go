package operator

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	err := errors.New(conceal(failed.Trace(), s.secrets))
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

// conceal removes values of Secrets from a message, as they are and in the forms that a program or an error gives them
// without trying. A message with a short value is not shown at all, because what is left would still tell where it was.
func conceal(message string, secrets []string) string {
	for _, form := range forms(secrets) {
		if !strings.Contains(message, form) {
			continue
		}
		if len(form) < shortest {
			return "the evaluation failed, with a message that is not shown because it has the value of a Secret in it"
		}
		message = strings.ReplaceAll(message, form, "…")
	}
	return message
}

const (
	// shortest is what can be taken out of a message without saying by that what it was.
	shortest = 4
	// shortestLine is that of a line of a longer value. Shorter ones, such as a bracket, are everywhere and tell nothing.
	shortestLine = 8
)

// forms are what values of Secrets look like in messages, the longest first: one value may be the beginning of another.
func forms(secrets []string) []string {
	var all []string
	add := func(form string, atLeast int) {
		if len(form) >= atLeast && !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	for _, secret := range secrets {
		quoted := fmt.Sprintf("%q", secret)
		add(secret, 1)
		add(quoted[1:len(quoted)-1], 1)
		add(base64.StdEncoding.EncodeToString([]byte(secret)), 1)
		add(strings.TrimSpace(secret), 1)
		for line := range strings.Lines(secret) { // a message may show or be cut after some of them
			add(strings.TrimSpace(line), shortestLine)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
