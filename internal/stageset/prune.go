package stageset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// maxHeld bounds how many objects a status lists.
const maxHeld = 50

// prune deletes what a stage has applied once and renders no more.
func (c *stageSets) prune(ctx context.Context, s *scope, w *stage) (reconcile.Outcome, error) {
	if s.incomplete() {
		return reconcile.Next(), nil // what moves to a stage that is not built yet would be lost; shed does it
	}
	status := s.phase(w, stagesv1.PhasePruning)
	work := pruning{
		stage: w.spec.Name, recorded: w.recorded.Entries, live: w.live, cluster: w.cluster,
		prune: prunes(w.spec), empty: len(w.objects) == 0,
	}
	left, err := c.clear(ctx, s, work)
	status.Held = left.held
	if saveErr := c.save(ctx, s, w, left.entries); err == nil {
		err = saveErr
	}
	w.changed = w.changed || left.deleted > 0
	return reconcile.Next(), err
}

// pruning is a stage whose leftovers are to go.
type pruning struct {
	stage    string
	recorded []inventory.Entry
	live     map[inventory.ID]inventory.Live // as far as it is known
	cluster  cluster.Cluster
	prune    bool
	empty    bool
	teardown bool
}

// leftovers are what a pruning leaves.
type leftovers struct {
	entries []inventory.Entry // that stay recorded: rendered, being deleted, held
	leaving []inventory.Entry // of these, what is being deleted
	held    []string
	deleted int
}

// clear decides about every recorded object that its stage renders no more, and does it. What it returns holds with an
// error too.
func (c *stageSets) clear(ctx context.Context, s *scope, work pruning) (leftovers, error) {
	recorded, err := c.dismiss(ctx, s, work)
	left := leftovers{entries: slices.Clone(recorded)}
	if err != nil {
		return left, c.explain(s, stagesv1.ReasonPruneFailed, fmt.Errorf("looking at what was to be applied: %w", err))
	}
	work.recorded = recorded
	var candidates, unknown []inventory.Entry
	for _, entry := range work.recorded {
		if s.rendered[entry.ID] == work.stage {
			continue
		}
		candidates = append(candidates, entry)
		if _, ok := work.live[entry.ID]; !ok {
			unknown = append(unknown, entry)
		}
	}
	if len(candidates) == 0 {
		return left, nil
	}
	live := map[inventory.ID]inventory.Live{}
	for _, entry := range candidates {
		if found, ok := work.live[entry.ID]; ok {
			live[entry.ID] = found
		}
	}
	read, err := cluster.Look(ctx, work.cluster, unknown)
	if err != nil {
		return left, c.explain(s, stagesv1.ReasonPruneFailed, fmt.Errorf("looking at what is no longer rendered: %w", err))
	}
	for id, found := range read {
		live[id] = found
	}
	decisions := inventory.Decide(inventory.PruneInput{
		Owner: s.owner(), Stage: work.stage, Recorded: work.recorded, Rendered: s.rendered, Live: live,
		Prune: work.prune, Guarded: s.guarded(), Teardown: work.teardown, Empty: work.empty,
	})
	return c.carryOut(ctx, s, work, left, decisions)
}

// guarded says whether deletions need approval.
func (s *scope) guarded() bool {
	if s.set.Spec.PruneGuard == stagesv1.PruneGuardOff {
		return false
	}
	return s.run == nil || s.set.Annotations[stagesv1.ApprovePruneAnnotation] != s.run.ID
}

func (c *stageSets) carryOut(
	ctx context.Context, s *scope, work pruning, left leftovers, decisions []inventory.Decision,
) (leftovers, error) {
	forget := map[inventory.ID]bool{}
	removal := apply.Removal{Cluster: work.cluster}
	if err := c.handOver(ctx, s, decisions); err != nil {
		return left, err
	}
	holds := 0
	var released []string
	for _, decision := range decisions {
		id := decision.Entry.ID
		switch decision.Verdict {
		case inventory.Gone, inventory.HandOver:
			forget[id] = true
		case inventory.Release:
			forget[id] = true
			released = append(released, fmt.Sprintf("%s stays and is no longer managed: %s", id.Display(), decision.Reason))
		case inventory.Hold:
			if holds++; len(left.held) < maxHeld {
				left.held = append(left.held, fmt.Sprintf("%s: %s", id.Display(), decision.Reason))
			}
		case inventory.Delete:
			removal.Decisions = append(removal.Decisions, decision)
		}
	}
	c.emitReleased(s, work.stage, released)
	removed, err := c.applier.Remove(ctx, removal)
	for _, id := range removed.Gone {
		forget[id] = true
	}
	left.leaving = removed.Leaving
	left.deleted = len(removed.Gone) + len(removed.Leaving)
	left.entries = slices.DeleteFunc(left.entries, func(entry inventory.Entry) bool { return forget[entry.ID] })
	if len(removed.Gone) > 0 {
		c.options.Observer.Pruned(len(removed.Gone))
		c.emitOf(s, work.stage, corev1.EventTypeNormal, stagesv1.EventPruned, "Stage %s: %d objects were deleted", work.stage, len(removed.Gone))
	}
	switch {
	case err != nil:
		return left, c.explain(s, stagesv1.ReasonPruneFailed, err)
	case len(removed.Failed) > 0:
		return left, c.refusedDeletion(s, removed.Failed)
	case holds > 0:
		return left, reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonPruneHeld, fmt.Errorf(
			"%d deletions are held: %s; if they are meant, run: kubectl -n %s annotate stageset %s --overwrite %s=%s",
			holds, left.held[0], s.set.Namespace, s.set.Name, stagesv1.ApprovePruneAnnotation, s.run.ID))
	}
	return left, nil
}

// emitReleased tells of objects that stay, in one event for all of a stage.
func (c *stageSets) emitReleased(s *scope, stage string, released []string) {
	n := len(released)
	if n == 0 {
		return
	}
	text := strings.Join(released[:min(n, maxNamed)], "; ")
	if n > maxNamed {
		text = fmt.Sprintf("%d objects stay and are no longer managed: %s; and %d more", n, text, n-maxNamed)
	}
	c.emitOf(s, stage, corev1.EventTypeNormal, stagesv1.EventReleased, "%s", text)
}

// handOver records with the stages that render objects now which ones these are, before the stage that has applied them
// forgets them. Otherwise an object that is rendered no more before its new stage's turn comes would be nobody's.
func (c *stageSets) handOver(ctx context.Context, s *scope, decisions []inventory.Decision) error {
	handed := map[inventory.ID]types.UID{}
	for _, decision := range decisions {
		if decision.Verdict == inventory.HandOver && decision.Live.UID != "" {
			handed[decision.Entry.ID] = decision.Live.UID
		}
	}
	if len(handed) == 0 {
		return nil
	}
	for _, w := range s.stages {
		entries := slices.Clone(w.recorded.Entries)
		for i, entry := range entries {
			if entry.UID == "" && s.rendered[entry.ID] == w.spec.Name {
				entries[i].UID = handed[entry.ID]
			}
		}
		if err := c.save(ctx, s, w, entries); err != nil {
			return err
		}
	}
	return nil
}

// refusedDeletion tells the first of some deletions that were refused, in the order of their names.
func (c *stageSets) refusedDeletion(s *scope, failed map[inventory.ID]error) error {
	ids := make([]inventory.ID, 0, len(failed))
	for id := range failed {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, inventory.Compare)
	err := fmt.Errorf("deleting %s: %w", ids[0].Display(), failed[ids[0]])
	if len(ids) > 1 {
		err = fmt.Errorf("%w (and %d more)", err, len(ids)-1)
	}
	var denied *cluster.DeniedError
	if errors.As(err, &denied) {
		return c.explain(s, stagesv1.ReasonPruneFailed, err)
	}
	return reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonPruneFailed, err)
}
