package operator

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/stagewright/stagewright/internal/render/storage"
)

// soon is when artifacts are looked at again that could not be removed at the end of the run that superseded them.
const soon = time.Second

// retain removes superseded artifacts whose time is up, and returns when the next one's is; zero is never. That it fails
// is no reason for the snippet to be less than ready: it is tried again.
//
// What is announced stays, and so does what a status may still tell of that was written last, or is about to be
// overwritten. Where the ExternalArtifact has not been seen since the start, it may announce something that the status does
// not tell of, because the process ended between the two.
func (c *snippets) retain(ctx context.Context, s *scope) time.Duration {
	status := &s.snippet.Status
	read, written := s.before.Status.Revision, s.past.written
	s.past.written = status.Revision
	if ctx.Err() != nil || !s.published() || s.past.announced != status.Revision || !s.snippet.DeletionTimestamp.IsZero() {
		return 0
	}
	if written != "" && read != written { // the cache is behind
		return soon
	}
	keep := storage.Retention{Grace: c.options.Publish.GCGrace}
	for _, entry := range status.History {
		keep.Keep = append(keep.Keep, entry.Revision)
	}
	leaving := map[string]bool{}
	for _, entry := range s.before.Status.History {
		leaving[entry.Revision] = !slices.Contains(keep.Keep, entry.Revision)
	}
	store := c.options.Publish.Store
	stored, err := store.List(ctx, s.ref())
	if err != nil {
		return c.retainLater(ctx, err)
	}
	now := c.options.Now()
	decision := keep.Decide(stored, now)
	again := time.Duration(0)
	for _, ref := range decision.Delete {
		if leaving[ref.Revision] {
			again = soon
			continue
		}
		if err := store.Delete(ctx, ref); err != nil {
			return c.retainLater(ctx, err)
		}
	}
	if again > 0 || decision.Next.IsZero() {
		return again
	}
	return max(decision.Next.Sub(now), soon)
}

func (c *snippets) retainLater(ctx context.Context, err error) time.Duration {
	log.FromContext(ctx).Error(err, "superseded artifacts were not removed; trying again later")
	c.options.Observe.Observer.RetentionFailed()
	return c.options.Recheck
}
