package stageset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// doubtful says whether an entry was written ahead for an object that nobody has seen since, and that is rendered no more.
func (s *scope) doubtful(stage string, entry inventory.Entry) bool {
	return entry.UID == "" && s.rendered[entry.ID] != stage
}

// dismiss releases entries of objects that nobody has ever seen and that the account may not look at: a manifest for a
// namespace that is not the tenant's, which was refused, would otherwise hold its StageSet for ever.
func (c *stageSets) dismiss(ctx context.Context, s *scope, work pruning) ([]inventory.Entry, error) {
	var doubtful []inventory.Entry
	for _, entry := range work.recorded {
		if _, seen := work.live[entry.ID]; !seen && s.doubtful(work.stage, entry) {
			doubtful = append(doubtful, entry)
		}
	}
	var denied *cluster.DeniedError
	if _, err := cluster.Look(ctx, work.cluster, doubtful); !errors.As(err, &denied) {
		return work.recorded, err
	}
	dismissed := map[inventory.ID]bool{}
	var released []string
	for _, entry := range doubtful {
		_, err := cluster.Look(ctx, work.cluster, []inventory.Entry{entry})
		switch {
		case errors.As(err, &denied):
			dismissed[entry.ID] = true
			released = append(released, fmt.Sprintf("%s is no longer managed: it was not seen since it was to be applied, and %s",
				entry.ID.Display(), denied))
		case err != nil:
			return work.recorded, err
		}
	}
	c.emitReleased(s, work.stage, released)
	return slices.DeleteFunc(slices.Clone(work.recorded), func(entry inventory.Entry) bool { return dismissed[entry.ID] }), nil
}
