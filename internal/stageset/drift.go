package stageset

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/health"
)

// maxNamed bounds how many objects an event names.
const maxNamed = 5

// watchDrift ends the reconciliation of a StageSet that is settled and as it was applied: that is seen from metadata and the
// inventories alone, without its artifacts.
func (c *stageSets) watchDrift(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.choice != settled {
		return reconcile.Next(), nil
	}
	if len(s.removed) > 0 || !s.complete() { // an inventory was lost, or one is left of a stage that has gone
		run, err := newRun(s)
		if err != nil {
			return reconcile.Next(), err
		}
		s.choice, s.run = begin, run
		return reconcile.Next(), nil
	}
	drifted := false
	for _, w := range s.stages {
		if err := c.survey(ctx, s, w); err != nil {
			return reconcile.Next(), c.explain(s, stagesv1.ReasonApplyFailed, err)
		}
		for _, entry := range w.recorded.Entries {
			live, ok := w.live[entry.ID]
			drifted = drifted || !ok || !apply.Untouched(entry, live, s.owner())
		}
	}
	if drifted {
		return reconcile.Next(), nil
	}
	return c.stillHealthy(ctx, s)
}

// complete says whether the inventories hold as much as the status says.
func (s *scope) complete() bool {
	for _, w := range s.stages {
		if int(s.statusOf(w.spec.Name).Entries) != len(w.recorded.Entries) {
			return false
		}
	}
	return true
}

// correct applies what somebody has changed.
func (c *stageSets) correct(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	for _, w := range s.stages {
		result, err := c.send(ctx, s, w)
		if err != nil {
			return reconcile.Next(), fmt.Errorf("stage %s: %w", w.spec.Name, c.explain(s, stagesv1.ReasonApplyFailed, err))
		}
		if result.More || len(result.Intend) > 0 || len(result.Await) > 0 { // more than a correction: a run does it
			run, err := newRun(s)
			if err != nil {
				return reconcile.Next(), err
			}
			s.run = run
			s.start()
			return reconcile.WaitUntil(s.now, stagesv1.ReasonProgressing, fmt.Sprintf("Stage %s is applied again", w.spec.Name)), nil
		}
	}
	if n := len(s.corrected); n > 0 {
		c.options.Observer.DriftCorrected(n)
		named := s.corrected[:min(n, maxNamed)]
		c.emit(s, corev1.EventTypeNormal, stagesv1.EventDriftCorrected, "%d objects are as they were rendered again: %s", n, strings.Join(named, ", "))
	}
	return c.stillHealthy(ctx, s)
}

// stillHealthy looks whether what is applied is healthy now.
func (c *stageSets) stillHealthy(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	for _, w := range s.stages {
		targets := c.steadyTargets(s, w)
		if len(targets) == 0 {
			continue
		}
		report, err := c.waits.Look(ctx, s.key(), health.Wait{Cluster: w.cluster, Owner: s.owner(), Targets: targets, Rules: w.rules})
		if err != nil {
			return reconcile.Next(), c.explain(s, stagesv1.ReasonStageProgressing, err)
		}
		if report.Ready {
			continue
		}
		message := blockedBy(report)
		status := s.phase(w, stagesv1.PhaseWaiting)
		status.Blocker, status.Message = report.First.String(), reconcile.Shorten(message, maxStageMessage)
		until := s.now.Add(s.interval(c.options.DefaultInterval))
		if again := s.now.Add(report.Recheck); report.Recheck > 0 && again.Before(until) {
			until = again
		}
		return reconcile.Next(), reconcile.Waiting(until, stagesv1.ReasonStageProgressing, fmt.Errorf("stage %s: %s", w.spec.Name, message))
	}
	outcome, err := c.settle(ctx, s)
	if outcome == reconcile.Next() {
		outcome = reconcile.Done()
	}
	return outcome, err
}

// steadyTargets are what has to be healthy while nothing is rolled out.
func (c *stageSets) steadyTargets(s *scope, w *stage) []health.Target {
	if w.spec.ReadyChecks != nil && w.spec.ReadyChecks.DisableWait {
		return nil
	}
	var targets []health.Target
	for _, entry := range w.recorded.Entries {
		if !w.rules.Instant(entry.Kind().GroupKind()) {
			targets = append(targets, health.Target{Entry: entry})
		}
	}
	for _, entry := range s.checks(w) {
		targets = append(targets, health.Target{Entry: entry, Foreign: true})
	}
	return targets
}
