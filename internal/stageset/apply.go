package stageset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

const (
	// chunk is how many objects of a stage are sent before others have their turn.
	chunk = 2000
	// maxIntents bounds the intents of a status, which is one object for the API server.
	maxIntents = 1000
	// effectRecreate is the intent to delete an object so that it can be applied anew.
	effectRecreate = "Recreate"
	// againShare is which part of the time that was spent on applying is waited before the next attempt, and againMost how much
	// at most.
	againShare = 4
	againMost  = 30 * time.Second
)

// apply applies the objects of a stage that are not as they were applied.
func (c *stageSets) apply(ctx context.Context, s *scope, w *stage) (reconcile.Outcome, error) {
	s.phase(w, stagesv1.PhaseApplying)
	if err := c.survey(ctx, s, w); err != nil {
		return reconcile.Next(), err
	}
	result, err := c.send(ctx, s, w)
	if err != nil {
		return reconcile.Next(), err
	}
	s.run.Intents = intentsAfter(s.run.Intents, result)
	switch {
	case len(result.Intend) > 0: // what must not happen twice is written down, and done the next time
		return reconcile.WaitUntil(s.now, stagesv1.ReasonProgressing, fmt.Sprintf("Stage %s replaces %s", w.spec.Name, naming(result.Intend))), nil
	case len(result.Await) > 0:
		return c.await(ctx, s, w, result.Await)
	case result.More:
		return reconcile.WaitUntil(s.now, stagesv1.ReasonProgressing, fmt.Sprintf("Stage %s is being applied", w.spec.Name)), nil
	}
	return reconcile.Next(), nil
}

// intentsAfter are the intents that stand after objects were applied: what is done leaves, and some of what is new comes. There
// are never so many that a status cannot hold them; those left out are found again.
func intentsAfter(before []stagesv1.Intent, result apply.Result) []stagesv1.Intent {
	done := map[string]bool{}
	for _, outcome := range result.Outcomes {
		if outcome.Change != apply.Recreate && outcome.Change != apply.Blocked {
			done[outcome.Entry.ID.String()] = true
		}
	}
	var intents []stagesv1.Intent
	for _, intent := range before {
		if !done[intent.Object] {
			intents = append(intents, intent)
		}
	}
	for _, entry := range result.Intend {
		id := entry.ID.String()
		intents = slices.DeleteFunc(intents, func(old stagesv1.Intent) bool { return old.Object == id }) // with another UID
		if len(intents) < maxIntents {
			intents = append(intents, stagesv1.Intent{Effect: effectRecreate, Object: id, UID: string(entry.UID)})
		}
	}
	return intents
}

// send records what is going to be applied, applies it, and records what became of it.
func (c *stageSets) send(ctx context.Context, s *scope, w *stage) (apply.Result, error) {
	plan, err := c.applier.Plan(c.job(s, w))
	if err != nil {
		return apply.Result{}, err
	}
	if err := c.save(ctx, s, w, plan.Ahead(w.recorded.Entries)); err != nil {
		return apply.Result{}, err
	}
	result, err := plan.Apply(ctx, w.entriesByID())
	return result, errors.Join(err, c.note(ctx, s, w, result))
}

// rendered are the entries of what the stage renders.
func (w *stage) rendered() []inventory.Entry {
	entries := make([]inventory.Entry, len(w.objects))
	for i, object := range w.objects {
		entries[i] = apply.EntryOf(object)
	}
	return entries
}

// survey reads the metadata of what is labelled as the stage's.
func (c *stageSets) survey(ctx context.Context, s *scope, w *stage) error {
	certain := slices.DeleteFunc(slices.Clone(w.recorded.Entries), func(entry inventory.Entry) bool {
		return s.doubtful(w.spec.Name, entry) // which may be where the account may not look; clear does
	})
	live, err := cluster.SurveyOf(ctx, w.cluster, s.owner(), certain)
	if err != nil {
		return fmt.Errorf("looking at what is there: %w", err)
	}
	w.live = live
	return nil
}

// job is what is applied for a stage.
func (c *stageSets) job(s *scope, w *stage) apply.Job {
	job := apply.Job{
		Cluster: w.cluster, Owner: s.owner(), Stage: w.spec.Name, Objects: w.objects,
		Live: w.live, Policy: policyOf(w.spec), Adopt: adoptions(s.set), Most: chunk, Secrets: w.values.secrets,
		Exists: func(ctx context.Context, name types.NamespacedName) (bool, error) {
			err := c.client.Get(ctx, name, &stagesv1.StageSet{})
			if unwatched(err) { // another controller's, perhaps
				return true, nil
			}
			return err == nil, client.IgnoreNotFound(err)
		},
	}
	if s.run == nil {
		return job
	}
	job.Intended = map[inventory.ID]types.UID{}
	for _, intent := range s.set.Status.Run.Intents {
		if id, err := inventory.ParseID(intent.Object); err == nil && intent.Effect == effectRecreate {
			job.Intended[id] = types.UID(intent.UID)
		}
	}
	return job
}

// policyOf is the policy for conflicts, where force stands for recreating.
func policyOf(spec *stagesv1.Stage) *stagesv1.ConflictPolicy {
	if !spec.Force {
		return spec.ConflictPolicy
	}
	policy := stagesv1.ConflictPolicy{Default: stagesv1.ConflictRecreate}
	if spec.ConflictPolicy != nil {
		policy.Rules = spec.ConflictPolicy.Rules
	}
	return &policy
}

// note records what became of objects, and counts it.
func (c *stageSets) note(ctx context.Context, s *scope, w *stage, result apply.Result) error {
	entries := slices.Clone(w.recorded.Entries)
	at := make(map[inventory.ID]int, len(entries))
	for i, entry := range entries {
		at[entry.ID] = i
	}
	changes := map[apply.Change]int{}
	for _, outcome := range result.Outcomes {
		changes[outcome.Change]++
		w.generations[outcome.Entry.ID] = outcome.Generation
		if outcome.Drift {
			s.corrected = append(s.corrected, outcome.Entry.ID.Display())
		}
		switch outcome.Change { //nolint:exhaustive // the others are recorded and nothing more
		case apply.Unchanged, apply.Blocked, apply.Recreate:
			continue
		case apply.Created, apply.Configured:
			w.changed = true
		}
		if i, ok := at[outcome.Entry.ID]; ok && outcome.Entry.UID != "" {
			entries[i] = outcome.Entry
		}
	}
	for change, n := range changes {
		c.options.Observer.Applied(string(change), n)
	}
	return c.save(ctx, s, w, entries)
}

// await waits until objects are gone, or can be used, before others are applied.
func (c *stageSets) await(ctx context.Context, s *scope, w *stage, entries []inventory.Entry) (reconcile.Outcome, error) {
	if s.run.Deadline == nil {
		s.run.Deadline = ptr(microTime(s.now.Add(s.timeout(w))))
	}
	targets := make([]health.Target, 0, len(entries))
	for _, entry := range entries {
		targets = append(targets, health.Target{
			Entry: entry, Gone: entry.ID.Kind != "CustomResourceDefinition", Foreign: entry.ID.Kind == "Namespace",
		})
	}
	report, err := c.waits.Look(ctx, s.key(), c.waiting(s, w.cluster, targets, w.rules))
	if err != nil {
		return reconcile.Next(), err
	}
	if report.Ready {
		return c.applyAgain(s, w, entries)
	}
	return c.unhealthy(s, w, report)
}

// applyAgain has a stage applied again at once, as what it waited for is as it should be. The longer this has not helped, the
// longer the next attempt takes to come, and it ends when the time of the stage does.
func (c *stageSets) applyAgain(s *scope, w *stage, entries []inventory.Entry) (reconcile.Outcome, error) {
	message := fmt.Sprintf("Stage %s is being applied", w.spec.Name)
	if !s.now.Before(s.run.Deadline.Time) {
		return reconcile.Next(), reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonStageFailed, fmt.Errorf(
			"not applied within %s: it waits for %s, which is as it should be", s.timeout(w), naming(entries)))
	}
	until := s.now
	if s.run.Since != nil {
		until = until.Add(min(s.now.Sub(s.run.Since.Time)/againShare, againMost))
	}
	if until.After(s.run.Deadline.Time) {
		until = s.run.Deadline.Time
	}
	return reconcile.WaitUntil(until, stagesv1.ReasonProgressing, message), nil
}

// naming names the first of some objects, and the others as a number.
func naming(entries []inventory.Entry) string {
	switch len(entries) {
	case 0:
		return "nothing"
	case 1:
		return entries[0].ID.Display()
	}
	return fmt.Sprintf("%s (and %d more)", entries[0].ID.Display(), len(entries)-1)
}
