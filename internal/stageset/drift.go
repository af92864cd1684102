package stageset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
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
	looked, err := c.lookAround(ctx, s)
	if err != nil {
		return reconcile.Next(), c.explain(s, stagesv1.ReasonApplyFailed, err)
	}
	if looked.drifted != "" {
		s.drifted = looked.drifted
		return reconcile.Next(), nil
	}
	if looked.unhealthy {
		return c.stillHealthy(ctx, s)
	}
	return c.remain(ctx, s)
}

// surroundings are what is there, at a glance.
type surroundings struct {
	drifted   string // an object that is not as it was applied, for messages
	unhealthy bool   // something may not be healthy: it is to be looked at and watched
}

// lookAround reads each kind in each namespace once, for all stages together.
func (c *stageSets) lookAround(ctx context.Context, s *scope) (surroundings, error) {
	var around surroundings
	for _, together := range byCluster(s.stages) {
		health := map[inventory.ID]bool{}
		live, err := c.surveyTogether(ctx, s, together, health)
		if err != nil {
			return around, err
		}
		for _, w := range together {
			w.live = live
			for _, entry := range w.recorded.Entries {
				found, ok := live[entry.ID]
				drifted := !ok || !apply.Untouched(entry, found, s.owner())
				if entry.Kept() { // it is not as it was rendered, on purpose
					drifted = !ok || found.UID != entry.UID
				}
				if drifted && around.drifted == "" {
					around.drifted = entry.ID.Display()
				}
				if entry.Kept() {
					continue
				}
				if unhealthy, seen := health[entry.ID]; seen && unhealthy && !w.waitsForNothing() {
					around.unhealthy = true
				}
			}
			around.unhealthy = around.unhealthy || len(s.checks(w)) > 0
		}
	}
	return around, nil
}

// byCluster are the stages of one cluster and identity together.
func byCluster(stages []*stage) map[string][]*stage {
	together := map[string][]*stage{}
	for _, w := range stages {
		together[w.cluster.Key] = append(together[w.cluster.Key], w)
	}
	return together
}

// surveyTogether reads metadata, and whole objects where they tell of health, of which unhealthy notes how it is.
func (c *stageSets) surveyTogether(
	ctx context.Context, s *scope, together []*stage, unhealthy map[inventory.ID]bool,
) (map[inventory.ID]inventory.Live, error) {
	rules := map[inventory.ID]*health.Rules{}
	var plain, telling, kept []inventory.Entry
	for _, w := range together {
		for _, entry := range w.recorded.Entries {
			if entry.Kept() { // it may lack our labels
				kept = append(kept, entry)
				continue
			}
			if w.waitsForNothing() || w.rules.Instant(entry.Kind().GroupKind()) {
				plain = append(plain, entry)
				continue
			}
			telling = append(telling, entry)
			rules[entry.ID] = w.rules
		}
	}
	whole := cluster.ScopesOf(telling)
	live, err := cluster.SurveyWhole(ctx, together[0].cluster, s.owner(), whole, func(object *unstructured.Unstructured) {
		id := apply.EntryOf(object).ID
		if r, ok := rules[id]; ok {
			unhealthy[id] = r.Evaluate(object).State != health.Current
		}
	})
	if err != nil {
		return nil, fmt.Errorf("looking at what is there: %w", err)
	}
	rest := slices.DeleteFunc(cluster.ScopesOf(plain), func(scope cluster.Scope) bool { return slices.Contains(whole, scope) })
	others, err := cluster.Survey(ctx, together[0].cluster, s.owner(), rest)
	if err != nil {
		return nil, fmt.Errorf("looking at what is there: %w", err)
	}
	maps.Copy(live, others)
	others, err = cluster.Look(ctx, together[0].cluster, kept)
	if err != nil {
		return nil, fmt.Errorf("looking at what is kept as it is: %w", err)
	}
	maps.Copy(live, others)
	return live, nil
}

// waitsForNothing says whether the stage is ready as soon as it is applied.
func (w *stage) waitsForNothing() bool {
	return w.spec.ReadyChecks != nil && w.spec.ReadyChecks.DisableWait
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
		report, err := c.waits.Look(ctx, s.key(), c.waiting(s, w.cluster, targets, w.rules))
		if err != nil {
			return reconcile.Next(), c.explain(s, stagesv1.ReasonStageProgressing, err)
		}
		if report.Ready {
			continue
		}
		message := blockedBy(report)
		status := s.phase(w, stagesv1.PhaseWaiting)
		status.Blocker, status.Message = report.First.Display(), reconcile.Shorten(message, maxStageMessage)
		until := s.now.Add(s.interval(c.options.DefaultInterval))
		if again := s.now.Add(report.Recheck); report.Recheck > 0 && again.Before(until) {
			until = again
		}
		return reconcile.Next(), reconcile.Waiting(until, stagesv1.ReasonStageProgressing, fmt.Errorf("stage %s: %s", w.spec.Name, message))
	}
	return c.remain(ctx, s)
}

// remain leaves everything as it is.
func (c *stageSets) remain(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	outcome, err := c.settle(ctx, s)
	if outcome == reconcile.Next() {
		outcome = reconcile.Done()
	}
	return outcome, err
}

// steadyTargets are what has to be healthy while nothing is rolled out.
func (c *stageSets) steadyTargets(s *scope, w *stage) []health.Target {
	if w.waitsForNothing() {
		return nil
	}
	var targets []health.Target
	for _, entry := range w.recorded.Entries {
		if !w.rules.Instant(entry.Kind().GroupKind()) {
			targets = append(targets, health.Target{Entry: entry, Foreign: entry.Kept()})
		}
	}
	for _, entry := range s.checks(w) {
		targets = append(targets, health.Target{Entry: entry, Foreign: true})
	}
	return targets
}
