package stageset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

const (
	// defaultTimeout is how long a stage may take to become healthy.
	defaultTimeout = 15 * time.Minute
	// maxStageMessage bounds messages of stages in bytes, as the API does.
	maxStageMessage = 4096
	// missingDelay is when a stage is applied again one of whose objects has gone while it was waited for.
	missingDelay = time.Second
)

// position is the stage that the run is in.
func (s *scope) position() int {
	switch {
	case s.run == nil, s.run.Stage == "" && s.run.Step != stagesv1.StepSettle:
		return 0
	case s.run.Step == stagesv1.StepSettle:
		return len(s.stages)
	}
	if w := s.stageNamed(s.run.Stage); w != nil {
		return w.position
	}
	return 0
}

// roll takes the stages in their order, as far as they are healthy.
func (c *stageSets) roll(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.choice == settled {
		return c.correct(ctx, s)
	}
	for _, w := range s.stages[s.position():] {
		outcome, err := c.advance(ctx, s, w)
		if err != nil || outcome != reconcile.Next() {
			return outcome, err
		}
	}
	s.run.Stage, s.run.Deadline = "", nil
	s.enter(stagesv1.StepSettle)
	return reconcile.Next(), nil
}

// advance takes one stage from where it stands as far as it can go.
func (c *stageSets) advance(ctx context.Context, s *scope, w *stage) (reconcile.Outcome, error) {
	if s.run.Stage != w.spec.Name {
		s.run.Stage, s.run.Deadline = w.spec.Name, nil
		w.began = c.options.Now()
		s.enter(stagesv1.StepApply)
	}
	if !w.built { // its variables come from what was applied a moment ago
		return reconcile.WaitUntil(s.now, stagesv1.ReasonProgressing, fmt.Sprintf("Stage %s is next", w.spec.Name)), nil
	}
	for _, part := range []struct {
		step stagesv1.Step
		run  func(context.Context, *scope, *stage) (reconcile.Outcome, error)
	}{
		{stagesv1.StepApply, c.apply},
		{stagesv1.StepPrune, c.prune},
		{stagesv1.StepWait, c.wait},
	} {
		if s.run.Step != part.step {
			continue
		}
		outcome, err := part.run(ctx, s, w)
		if err != nil {
			return outcome, c.fail(s, w, err)
		}
		if outcome != reconcile.Next() {
			return outcome, nil
		}
		s.enter(next(part.step))
	}
	return reconcile.Next(), c.finish(ctx, s, w)
}

// next is the step after another one.
func next(step stagesv1.Step) stagesv1.Step {
	switch step {
	case stagesv1.StepApply:
		return stagesv1.StepPrune
	case stagesv1.StepPrune:
		return stagesv1.StepWait
	default:
		return stagesv1.StepPostActions
	}
}

// enter begins a step. The time that a stage has to become healthy is one for all its steps.
func (s *scope) enter(step stagesv1.Step) {
	if s.run.Failed != "" { // it is the time of the next try
		s.run.Failed, s.run.Deadline = "", nil
	}
	s.run.Step, s.run.Since, s.run.Intents = step, ptr(microTime(s.now)), nil
}

// finish is when a stage is applied and healthy.
func (c *stageSets) finish(ctx context.Context, s *scope, w *stage) error {
	if !s.incomplete() { // what was waited for is gone
		if err := c.save(ctx, s, w, w.rendering(s.rendered)); err != nil {
			return err
		}
	}
	waited := s.statusOf(w.spec.Name).Phase == stagesv1.PhaseWaiting
	status := s.phase(w, stagesv1.PhaseReady)
	status.AppliedRevision, status.Blocker, status.Message, status.Held = w.revision.Revision, "", "", nil
	s.count(w)
	if w.changed || waited {
		c.emitOf(s, w.spec.Name, corev1.EventTypeNormal, stagesv1.EventStageReady, "Stage %s is applied and healthy at %s", w.spec.Name, w.revision.Revision)
		c.options.Observer.StageTook(s.set.Namespace, s.set.Name, w.spec.Name, c.options.Now().Sub(s.began(w)))
	}
	return nil
}

// began is when the run came to a stage: in this reconciliation, or when the stage before it was ready.
func (s *scope) began(w *stage) time.Time {
	if !w.began.IsZero() {
		return w.began
	}
	began := s.run.StartedAt.Time
	if w.position > 0 {
		before := s.statusOf(s.stages[w.position-1].spec.Name)
		if before.Phase == stagesv1.PhaseReady && before.Since != nil && before.Since.After(began) {
			began = before.Since.Time
		}
	}
	return began
}

// rendering are the recorded entries that the stage renders.
func (w *stage) rendering(rendered map[inventory.ID]string) []inventory.Entry {
	return slices.DeleteFunc(slices.Clone(w.recorded.Entries), func(entry inventory.Entry) bool {
		return rendered[entry.ID] != w.spec.Name
	})
}

// fail ends a run where an error does not go away by itself; it begins anew after the retry interval.
func (c *stageSets) fail(s *scope, w *stage, err error) error {
	err = c.explain(s, stagesv1.ReasonApplyFailed, err)
	var known *reconcile.Error
	if !errors.As(err, &known) || known.Kind == reconcile.Transient {
		return err
	}
	phase := stagesv1.PhaseFailed
	if known.Reason == stagesv1.ReasonConflictHeld || known.Reason == stagesv1.ReasonPruneHeld {
		phase = stagesv1.PhaseHeld
	}
	s.phase(w, phase).Message = reconcile.Shorten(err.Error(), maxStageMessage)
	if s.run.Failed == "" {
		s.run.Failed = known.Reason
		s.run.Deadline = ptr(microTime(s.retry(c.options.DefaultInterval)))
	}
	return &reconcile.Error{
		Kind: known.Kind, Reason: known.Reason, Until: s.run.Deadline.Time, Err: fmt.Errorf("stage %s: %w", w.spec.Name, err),
	}
}

// wait looks whether a stage is healthy. If not, changes of what it waits for bring the StageSet back.
func (c *stageSets) wait(ctx context.Context, s *scope, w *stage) (reconcile.Outcome, error) {
	targets := c.targets(s, w)
	if len(targets) == 0 {
		c.waits.Forget(s.key())
		return reconcile.Next(), nil
	}
	if s.run.Failed == "" && s.run.Deadline == nil {
		s.run.Deadline = ptr(microTime(s.now.Add(s.timeout(w))))
	}
	report, err := c.waits.Look(ctx, s.key(), c.waiting(s, w.cluster, targets, w.rules))
	if err != nil {
		return reconcile.Next(), err
	}
	if report.Ready {
		c.waits.Forget(s.key())
		return reconcile.Next(), nil
	}
	return c.unhealthy(s, w, report)
}

func (c *stageSets) unhealthy(s *scope, w *stage, report health.Report) (reconcile.Outcome, error) {
	message := blockedBy(report)
	failed := s.run.Failed != ""
	switch {
	case failed: // until it is tried again, or is healthy after all
	case report.Failed > 0:
		failed = true
	case !s.now.Before(s.run.Deadline.Time):
		failed, message = true, fmt.Sprintf("not healthy within %s: %s", s.timeout(w), message)
	case report.Status.State == health.Missing && !s.isCheck(w, report.First):
		s.enter(stagesv1.StepApply)
		return reconcile.WaitUntil(s.now.Add(missingDelay), stagesv1.ReasonStageProgressing, message), nil
	}
	if failed {
		// fail keeps the time of the next try, if there is one already.
		return reconcile.Next(), reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonStageFailed, errors.New(message))
	}
	status := s.phase(w, stagesv1.PhaseWaiting)
	status.Blocker, status.Message = report.First.Display(), reconcile.Shorten(message, maxStageMessage)
	until := s.run.Deadline.Time
	if again := s.now.Add(report.Recheck); report.Recheck > 0 && again.Before(until) {
		until = again
	}
	return reconcile.WaitUntil(until, stagesv1.ReasonStageProgressing, fmt.Sprintf("Stage %s waits for %s%s", w.spec.Name, message, s.newer())), nil
}

// blockedBy names the first object that is waited for with its cause, and the others as a number.
func blockedBy(report health.Report) string {
	text := fmt.Sprintf("%s: %s", report.First.Display(), report.Status.Message)
	if report.Pending > 1 {
		text += fmt.Sprintf(" (and %d more)", report.Pending-1)
	}
	return text
}

// targets are what a stage waits for: its objects, what its checks name, and what is being deleted.
func (c *stageSets) targets(s *scope, w *stage) []health.Target {
	var targets []health.Target
	for _, entry := range s.leaving(w) {
		targets = append(targets, health.Target{Entry: entry, Gone: true})
	}
	checks := w.spec.ReadyChecks
	if checks != nil && checks.DisableWait {
		return targets
	}
	entries := w.entriesByID()
	for _, id := range w.ids {
		entry := entries[id]
		if w.rules.Instant(entry.Kind().GroupKind()) {
			continue
		}
		targets = append(targets, health.Target{Entry: entry, Generation: w.generations[id], Foreign: entry.Kept()})
	}
	for _, entry := range s.checks(w) {
		targets = append(targets, health.Target{Entry: entry, Foreign: true})
	}
	return targets
}

// leaving are the objects that are being deleted: what is recorded and not rendered is, once its stage was pruned.
func (s *scope) leaving(w *stage) []inventory.Entry {
	if s.incomplete() {
		return nil
	}
	var found []inventory.Entry
	for _, entry := range w.recorded.Entries {
		if s.rendered[entry.ID] != w.spec.Name {
			found = append(found, entry)
		}
	}
	return found
}

// incomplete says whether there are stages that are not built. What they render is not known, so nothing is pruned yet.
func (s *scope) incomplete() bool {
	for _, w := range s.stages {
		if !w.built {
			return true
		}
	}
	return false
}

// checks are the listed objects.
func (s *scope) checks(w *stage) []inventory.Entry {
	if w.spec.ReadyChecks == nil {
		return nil
	}
	var found []inventory.Entry
	for _, ref := range w.spec.ReadyChecks.Checks {
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		namespace := orElse(ref.Namespace, s.set.Namespace)
		if mapping, err := w.cluster.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err == nil && mapping.Scope.Name() == "root" {
			namespace = ""
		}
		found = append(found, inventory.Entry{
			ID:      inventory.ID{Namespace: namespace, Name: ref.Name, Group: kind.Group, Kind: kind.Kind},
			Version: kind.Version,
		})
	}
	return found
}

func (s *scope) isCheck(w *stage, id inventory.ID) bool {
	for _, entry := range s.checks(w) {
		if entry.ID == id {
			return true
		}
	}
	return false
}

// timeout is how long a stage may take to become healthy: the most specific one that is set.
func (s *scope) timeout(w *stage) time.Duration {
	if w.spec.ReadyChecks != nil && w.spec.ReadyChecks.Timeout != nil {
		return w.spec.ReadyChecks.Timeout.Duration
	}
	for _, set := range []*metav1.Duration{w.spec.Timeout, s.set.Spec.Timeout} {
		if set != nil {
			return set.Duration
		}
	}
	return defaultTimeout
}

func (c *stageSets) emit(s *scope, kind, reason, format string, args ...any) {
	c.emitOf(s, "", kind, reason, format, args...)
}

// emitOf tells something of one of the stages. Events with the same reason and action that an object has in the same moment
// are taken for one that has happened several times, and only the first is shown: so each stage has an action of its own.
func (c *stageSets) emitOf(s *scope, stage, kind, reason, format string, args ...any) {
	if c.events != nil {
		action := strings.TrimSpace("Reconcile " + stage)
		c.events.Eventf(s.set, nil, kind, reason, action, "%s", reconcile.Shorten(fmt.Sprintf(format, args...), maxNote))
	}
}

// maxNote bounds the note of an event in bytes, as the API does.
const maxNote = 1024

func microTime(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t) }

func ptr[T any](value T) *T { return &value }
