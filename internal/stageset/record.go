package stageset

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// record reads what is recorded of all stages.
func (c *stageSets) record(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	recorded, err := c.inventories.Load(ctx, s.owner())
	if err != nil {
		return reconcile.Next(), fmt.Errorf("reading the inventories: %w", err)
	}
	s.removed = nil
	for _, w := range s.stages {
		w.recorded = inventory.Stage{Name: w.spec.Name, Position: w.position}
	}
	for _, found := range recorded {
		if w := s.stageNamed(found.Name); w != nil {
			w.recorded = found
		} else {
			s.removed = append(s.removed, found)
		}
	}
	return reconcile.Next(), nil
}

// ahead writes every object that is going to be applied into the inventories, before the first one is. An object that moves
// from one stage to another is then in both, by the UID that the old one knows, and leaves the old one's when its turn comes.
func (c *stageSets) ahead(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	applied := s.applied()
	for _, w := range s.stages {
		if !w.built {
			continue
		}
		known := w.entriesByID()
		entries := slices.Clone(w.recorded.Entries)
		for _, entry := range w.rendered() {
			if _, ok := known[entry.ID]; !ok {
				entry.UID = applied[entry.ID]
				entries = append(entries, entry)
			}
		}
		if len(entries) == len(w.recorded.Entries) && w.recorded.Position == w.position {
			continue
		}
		if err := c.save(ctx, s, w, entries); err != nil {
			return reconcile.Next(), err
		}
	}
	return reconcile.Next(), nil
}

// applied are the UIDs of what any stage has applied, also of stages that the spec has no more.
func (s *scope) applied() map[inventory.ID]types.UID {
	uids := map[inventory.ID]types.UID{}
	note := func(stage inventory.Stage) {
		for _, entry := range stage.Entries {
			if entry.UID != "" {
				uids[entry.ID] = entry.UID
			}
		}
	}
	for _, w := range s.stages {
		note(w.recorded)
	}
	for _, gone := range s.removed {
		note(gone)
	}
	return uids
}

// save records entries of a stage.
func (c *stageSets) save(ctx context.Context, s *scope, w *stage, entries []inventory.Entry) error {
	slices.SortFunc(entries, byID)
	next := inventory.Stage{Name: w.spec.Name, Position: w.position, Entries: entries, Shards: w.recorded.Shards}
	if slices.Equal(entries, w.recorded.Entries) && next.Position == w.recorded.Position {
		return nil
	}
	shards, err := c.inventories.Save(ctx, s.owner(), next)
	if err != nil {
		return fmt.Errorf("recording stage %s: %w", w.spec.Name, err)
	}
	next.Shards = shards
	w.recorded = next
	s.count(w)
	return nil
}

// count keeps the numbers of the status.
func (s *scope) count(w *stage) {
	status := s.statusOf(w.spec.Name)
	status.Entries, status.Shards = int32(len(w.recorded.Entries)), int32(w.recorded.Shards)
}

func byID(a, b inventory.Entry) int { return inventory.Compare(a.ID, b.ID) }

func (w *stage) entriesByID() map[inventory.ID]inventory.Entry {
	found := make(map[inventory.ID]inventory.Entry, len(w.recorded.Entries))
	for _, entry := range w.recorded.Entries {
		found[entry.ID] = entry
	}
	return found
}

// phase sets where a stage is.
func (s *scope) phase(w *stage, phase stagesv1.Phase) *stagesv1.StageStatus {
	status := s.statusOf(w.spec.Name)
	if status.Phase != phase {
		status.Phase, status.Since = phase, ptr(microTime(s.now))
	}
	return status
}
