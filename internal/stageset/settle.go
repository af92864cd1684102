package stageset

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// shed removes what stages have left that the spec has no more, the last one first, and what other stages could not prune
// while not everything was built.
func (c *stageSets) shed(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	for _, w := range s.stages {
		if len(s.leaving(w)) == 0 {
			continue
		}
		if w.live == nil {
			if err := c.survey(ctx, s, w); err != nil {
				return reconcile.Next(), c.fail(s, w, err)
			}
		}
		if _, err := c.prune(ctx, s, w); err != nil {
			return reconcile.Next(), c.fail(s, w, err)
		}
		s.phase(w, stagesv1.PhaseReady)
		if left := s.leaving(w); len(left) > 0 {
			return c.awaitGone(ctx, s, w.cluster, w.spec.Name, left)
		}
	}
	for _, gone := range slices.Backward(s.removed) {
		outcome, err := c.shedStage(ctx, s, gone)
		if err != nil || outcome != reconcile.Next() {
			return outcome, err
		}
	}
	return reconcile.Next(), nil
}

// shedStage removes one stage that the spec has no more.
func (c *stageSets) shedStage(ctx context.Context, s *scope, gone inventory.Stage) (reconcile.Outcome, error) {
	status := s.statusOf(gone.Name)
	status.Phase = stagesv1.PhasePruning
	left, err := c.clear(ctx, s, pruning{stage: gone.Name, recorded: gone.Entries, cluster: s.fallback, prune: !status.Keeps})
	status.Held = left.held
	status.Entries = int32(len(left.entries))
	gone.Entries = left.entries
	if _, saveErr := c.inventories.Save(ctx, s.owner(), gone); err == nil && saveErr != nil {
		err = fmt.Errorf("recording stage %s: %w", gone.Name, saveErr)
	}
	if err != nil {
		if reconcile.ReasonOf(err) == stagesv1.ReasonPruneHeld {
			status.Phase = stagesv1.PhaseHeld
		}
		return reconcile.Next(), fmt.Errorf("stage %s, which the spec has no more: %w", gone.Name, err)
	}
	if len(left.entries) > 0 {
		return c.awaitGone(ctx, s, s.fallback, gone.Name, left.entries)
	}
	return reconcile.Next(), nil
}

// awaitGone waits until objects are deleted.
func (c *stageSets) awaitGone(
	ctx context.Context, s *scope, in cluster.Cluster, stage string, entries []inventory.Entry,
) (reconcile.Outcome, error) {
	targets := make([]health.Target, 0, len(entries))
	for _, entry := range entries {
		targets = append(targets, health.Target{Entry: entry, Gone: true})
	}
	report, err := c.waits.Look(ctx, s.key(), c.waiting(s, in, targets, nil))
	if err != nil {
		return reconcile.Next(), c.explain(s, stagesv1.ReasonPruneFailed, err)
	}
	until := s.now.Add(s.interval(c.options.DefaultInterval))
	if again := s.now.Add(report.Recheck); report.Recheck > 0 && again.Before(until) {
		until = again
	}
	if report.Ready {
		until = s.now
	}
	return reconcile.WaitUntil(until, stagesv1.ReasonProgressing, fmt.Sprintf(
		"Stage %s: %s is being deleted", stage, naming(entries))), nil
}

// settle notes that everything is applied and healthy.
func (c *stageSets) settle(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	status := &s.set.Status
	for i := range status.Stages {
		stage := &status.Stages[i]
		if w := s.stageNamed(stage.Name); w != nil {
			s.phase(w, stagesv1.PhaseReady)
			s.count(w)
			stage.AppliedRevision, stage.Blocker, stage.Message, stage.Held = w.revision.Revision, "", "", nil
		}
	}
	status.Stages = slices.DeleteFunc(status.Stages, func(stage stagesv1.StageStatus) bool { return s.stageNamed(stage.Name) == nil })
	if s.run != nil {
		// The same revisions may come again some day, with other objects to lose: that asks for another approval.
		err := c.setMetadata(ctx, s, func(set *stagesv1.StageSet) bool {
			_, approved := set.Annotations[stagesv1.ApprovePruneAnnotation]
			delete(set.Annotations, stagesv1.ApprovePruneAnnotation)
			return approved
		})
		if err != nil {
			return reconcile.Next(), fmt.Errorf("removing the approval of the run that has ended: %w", err)
		}
		status.LastApplied = &stagesv1.Snapshot{
			ID: s.run.ID, Spec: s.run.Spec, Generation: s.run.Generation, AppliedAt: ptr(metav1.NewTime(s.now)), Revisions: s.run.Revisions,
		}
		status.Run = nil
	}
	c.waits.Forget(s.key())
	if s.choice == proceed && !sameRevisions(status.LastApplied.Revisions, s.wanted.revisions) { // something newer has waited
		return reconcile.WaitUntil(s.now, stagesv1.ReasonProgressing, "A newer revision is next"), nil
	}
	return reconcile.Done(), nil
}
