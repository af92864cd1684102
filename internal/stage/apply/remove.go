package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// errNotOurs says that an object is not what was decided on any more.
var errNotOurs = errors.New("it was applied again, given to somebody else or is to be kept; it is decided on again")

// Removal is the deletion of objects.
type Removal struct {
	Cluster   cluster.Cluster
	Decisions []inventory.Decision // those with the verdict Delete, in their order; others are passed over
}

// Removed is what became of a removal.
type Removed struct {
	Gone    []inventory.ID    // a read showed it, or it is another object now
	Leaving []inventory.Entry // deletion has begun; a finalizer or dependents hold it
	Failed  map[inventory.ID]error
}

// Remove deletes objects under preconditions of UID and resource version, several at a time, and says what a read showed
// then. Objects in a namespace that is itself terminating count as leaving with it.
func (a *Applier) Remove(ctx context.Context, r Removal) (Removed, error) {
	work := &removal{cluster: r.Cluster, failed: map[inventory.ID]error{}}
	decisions := slices.DeleteFunc(slices.Clone(r.Decisions), func(d inventory.Decision) bool { return d.Verdict != inventory.Delete })
	for from := 0; from < len(decisions); { // wave by wave, as they come
		to := from
		for to < len(decisions) && decisions[to].Entry.ID.Wave() == decisions[from].Entry.ID.Wave() {
			to++
		}
		work.wave(ctx, a.parallel, decisions[from:to])
		from = to
	}
	if err := ctx.Err(); err != nil {
		return Removed{Failed: work.failed}, err
	}
	return work.see(ctx, decisions)
}

// removal is one call of Remove.
type removal struct {
	cluster cluster.Cluster
	mu      sync.Mutex
	failed  map[inventory.ID]error
}

func (r *removal) wave(ctx context.Context, parallel int, decisions []inventory.Decision) {
	slots := make(chan struct{}, parallel)
	var workers sync.WaitGroup
	defer workers.Wait()
	for _, d := range decisions {
		if d.Live.Deleting {
			continue
		}
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			if err := r.remove(ctx, d); err != nil {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.failed[d.Entry.ID] = err
			}
		})
	}
}

// remove deletes an object, if it is still the one that was decided on.
func (r *removal) remove(ctx context.Context, d inventory.Decision) error {
	live := d.Live
	d.Entry = live.Found(d.Entry)
	for attempt := 1; ; attempt++ {
		err := r.cluster.Client.Delete(ctx, metadataOf(d.Entry),
			client.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		switch {
		case err == nil, apierrors.IsNotFound(err), cluster.Unknown(err):
			return nil
		case !apierrors.IsConflict(err) || attempt == attempts:
			err = cluster.Denied(err, r.cluster, d.Entry.ID, d.Entry.Version)
			return fmt.Errorf("deleting %s: %w", d.Entry.ID.Display(), err)
		}
		found, err := cluster.Look(ctx, r.cluster, []inventory.Entry{d.Entry})
		if err != nil {
			return err
		}
		now, exists := found[d.Entry.ID]
		switch {
		case !exists, now.UID != live.UID, now.Deleting:
			return nil
		case !toGo(d.Live, now):
			return fmt.Errorf("deleting %s: %w", d.Entry.ID.Display(), errNotOurs)
		}
		live = now
	}
}

// toGo says that an object is still to go as far as its metadata tells. What was applied in our name since then was wanted by
// a controller that leads by now.
func toGo(decided, now inventory.Live) bool {
	for _, label := range []string{stagesv1.NameLabel, stagesv1.NamespaceLabel, stagesv1.StageLabel} {
		if decided.Labels[label] != now.Labels[label] {
			return false
		}
	}
	return now.Annotations[stagesv1.PruneAnnotation] != stagesv1.Disabled && appliedAt(decided.Managed).Equal(appliedAt(now.Managed))
}

// see reads what is left.
func (r *removal) see(ctx context.Context, decisions []inventory.Decision) (Removed, error) {
	removed := Removed{Failed: r.failed}
	var entries []inventory.Entry
	for _, d := range decisions {
		if r.failed[d.Entry.ID] == nil {
			entries = append(entries, d.Entry)
		}
	}
	found, err := cluster.Look(ctx, r.cluster, entries)
	if err != nil {
		return removed, err
	}
	terminating := r.terminating(ctx, decisions)
	for _, d := range decisions {
		entry := d.Live.Found(d.Entry)
		entry.UID = d.Live.UID
		now, exists := found[entry.ID]
		switch {
		case r.failed[entry.ID] != nil:
			if terminating[entry.ID.Namespace] {
				delete(r.failed, entry.ID)
				removed.Leaving = append(removed.Leaving, entry)
			}
		case !exists, now.UID != entry.UID:
			removed.Gone = append(removed.Gone, entry.ID)
		default:
			removed.Leaving = append(removed.Leaving, entry)
		}
	}
	return removed, nil
}

// terminating reads which namespaces of failed deletions are being deleted, where that may be read.
func (r *removal) terminating(ctx context.Context, decisions []inventory.Decision) map[string]bool {
	terminating := map[string]bool{}
	seen := map[string]bool{"": true}
	for _, d := range decisions {
		id := d.Entry.ID
		if r.failed[id] == nil || seen[id.Namespace] {
			continue
		}
		seen[id.Namespace] = true
		namespace := inventory.Entry{ID: inventory.ID{Name: id.Namespace, Kind: "Namespace"}, Version: "v1"}
		if found, err := cluster.Look(ctx, r.cluster, []inventory.Entry{namespace}); err == nil {
			terminating[id.Namespace] = found[namespace.ID].Deleting
		}
	}
	return terminating
}
