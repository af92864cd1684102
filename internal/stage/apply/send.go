package apply

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// attempts bounds how often an object is read again and sent again because somebody else changed it meanwhile. The last
// attempt no longer asks that it is as it was read: there are objects that never rest.
const attempts = 3

// errAppliedMeanwhile says that what is to be sent may be old: what was applied in our name is not from here.
var errAppliedMeanwhile = errors.New("another controller has applied it in the meantime; it is looked at again")

// send applies an object and says what became of it.
func (r *run) send(ctx context.Context, it *item) (Outcome, error) {
	for attempt := 1; ; attempt++ {
		if it.exists && it.live.Deleting {
			return Outcome{Entry: it.entry}, &blockedError{why: "it is being deleted", until: seen(it)}
		}
		applied, err := r.patch(ctx, it, attempt < attempts)
		switch {
		case err == nil:
			return r.applied(it, applied), nil
		case apierrors.IsConflict(err) && attempt < attempts:
			before := it.live
			if err := r.lookAgain(ctx, it); err != nil {
				return Outcome{Entry: it.entry}, err
			}
			if it.live.UID == before.UID && !appliedAt(it.live.Managed).Equal(appliedAt(before.Managed)) {
				return Outcome{Entry: it.entry}, errAppliedMeanwhile
			}
			continue
		}
		if fields := immutableFields(err); it.exists && len(fields) > 0 {
			return r.replace(ctx, it, fields)
		}
		return Outcome{Entry: it.entry}, err
	}
}

// patch sends the object and returns the metadata that it has then. The content does not come back.
func (r *run) patch(ctx context.Context, it *item, withVersion bool) (inventory.Live, error) {
	body, err := it.bodyFor(withVersion)
	if err != nil {
		return inventory.Live{}, err
	}
	object := metadataOf(it.entry)
	err = r.job.Cluster.Client.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, body),
		client.ForceOwnership, client.FieldOwner(stagesv1.FieldManager))
	if err != nil {
		return inventory.Live{}, err
	}
	return cluster.LiveOf(object), nil
}

// applied is the outcome of what was sent.
func (r *run) applied(it *item, now inventory.Live) Outcome {
	outcome := Outcome{Entry: it.entry, Generation: now.Generation}
	outcome.Entry.UID = now.UID
	outcome.Entry.Fingerprint = fingerprint{live: managedPrint(now.Managed), rendered: it.rendered}.String()
	switch {
	case !it.exists:
		outcome.Change = Created
	case it.live.ResourceVersion == now.ResourceVersion:
		outcome.Change = Verified
	default:
		outcome.Change = Configured
	}
	outcome.Drift = outcome.Change != Verified && it.drifted()
	return outcome
}

// lookAgain reads an object that somebody else has changed, and refuses it where it is another's now.
func (r *run) lookAgain(ctx context.Context, it *item) error {
	found, err := cluster.Look(ctx, r.job.Cluster, []inventory.Entry{it.entry})
	if err != nil {
		return err
	}
	it.live, it.exists = found[it.entry.ID]
	return r.owners(ctx, []*item{it})
}

// replace does what the policy says about an object whose immutable fields were to change.
func (r *run) replace(ctx context.Context, it *item, fields []string) (Outcome, error) {
	outcome := Outcome{Entry: it.entry, Generation: it.live.Generation}
	res, err := resolve(r.job.Policy, it.entry.ID, it.entry.Version, it.object)
	if err != nil {
		return outcome, err
	}
	if keeps(res) {
		outcome.Entry.UID = it.live.UID
		outcome.Change = Kept
		outcome.Why = strings.Join(fields, ", ") + " cannot be changed"
		outcome.Entry.Fingerprint = fingerprint{
			live: managedPrint(it.live.Managed), rendered: it.rendered, kept: true,
		}.String()
		return outcome, nil
	}
	if why := res.consent(it.entry.ID, fields); why != "" {
		return outcome, &ConflictError{ID: it.entry.ID, Why: why}
	}
	if r.job.Intended[it.entry.ID] != it.live.UID {
		outcome.Change = Recreate
		outcome.Why = strings.Join(fields, ", ") + " cannot be changed"
		return outcome, nil
	}
	return r.recreate(ctx, it)
}

// recreate deletes an object, as was intended, and applies it anew when it is gone at once.
func (r *run) recreate(ctx context.Context, it *item) (Outcome, error) {
	old := seen(it)
	err := r.job.Cluster.Client.Delete(ctx, metadataOf(it.entry),
		client.Preconditions{UID: &it.live.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return Outcome{Entry: it.entry}, cluster.Denied(err, r.job.Cluster, it.entry.ID, it.entry.Version)
	}
	if err := r.lookAgain(ctx, it); err != nil {
		return Outcome{Entry: it.entry}, err
	}
	if it.exists {
		return Outcome{Entry: it.entry}, &blockedError{why: "it is being deleted, to be made anew", until: old}
	}
	applied, err := r.patch(ctx, it, false)
	if err != nil {
		return Outcome{Entry: it.entry}, err
	}
	return r.applied(it, applied), nil
}

func keeps(res resolution) bool { return res.action == stagesv1.ConflictKeepExisting }

// seen is the entry of an item with the UID that it has now.
func seen(it *item) inventory.Entry {
	e := it.entry
	e.UID = it.live.UID
	return e
}

func metadataOf(e inventory.Entry) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(e.Kind())
	object.SetNamespace(e.ID.Namespace)
	object.SetName(e.ID.Name)
	return object
}
