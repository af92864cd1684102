package operator

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/stagewright/stagewright/internal/render/storage"
)

// retain removes superseded artifacts whose time is up, and returns when the next one's is; zero is never. That it fails
// is no reason for the snippet to be less than ready: it is tried again.
func (c *snippets) retain(ctx context.Context, s *scope) time.Duration {
	status := &s.snippet.Status
	// What is announced stays. Where the ExternalArtifact has not been seen since the start, it may announce something that
	// the status does not tell of, because the process ended between the two.
	if ctx.Err() != nil || !s.published() || s.past.announced != status.Revision || !s.snippet.DeletionTimestamp.IsZero() {
		return 0
	}
	keep := storage.Retention{Grace: c.options.Publish.GCGrace}
	for _, entry := range status.History {
		keep.Keep = append(keep.Keep, entry.Revision)
	}
	store := c.options.Publish.Store
	stored, err := store.List(ctx, s.ref())
	if err != nil {
		return c.retainLater(ctx, err)
	}
	now := c.options.Now()
	decision := keep.Decide(stored, now)
	for _, ref := range decision.Delete {
		if err := store.Delete(ctx, ref); err != nil {
			return c.retainLater(ctx, err)
		}
	}
	if decision.Next.IsZero() {
		return 0
	}
	return max(decision.Next.Sub(now), time.Second)
}

func (c *snippets) retainLater(ctx context.Context, err error) time.Duration {
	log.FromContext(ctx).Error(err, "superseded artifacts were not removed; trying again later")
	c.options.Observe.Observer.RetentionFailed()
	return c.options.Recheck
}
