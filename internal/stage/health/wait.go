package health

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// Target is an object that is waited for.
type Target struct {
	Entry      inventory.Entry
	Generation int64 // that has to be observed at least; zero where it is not known
	Foreign    bool  // it lacks our labels and is watched by its name: a listed check
	Gone       bool  // it is waited for until it does not exist, is another object, or does not carry our labels any more
}

// Schemas knows which kinds report.
type Schemas interface {
	// ReportsGeneration reports whether the status of a custom kind has both an observed generation and conditions.
	ReportsGeneration(ctx context.Context, kind schema.GroupVersionKind) (bool, error)
}

// Wait is what somebody waits for.
type Wait struct {
	Cluster cluster.Cluster
	Owner   inventory.Owner
	Targets []Target
	Rules   *Rules  // nil is kstatus alone
	Schemas Schemas // of that cluster; nil where they are not known, and kstatus has the only word
}

// Report is how what is waited for stands.
type Report struct {
	Ready   bool
	Pending int          // targets that are not as they should be, failed ones included
	First   inventory.ID // the first of them in the order of the targets, failed ones first
	Status  Status       // of the first
	Failed  int          // targets that have failed
	// Recheck is when to look again although nothing was told; zero where watches tell everything.
	Recheck time.Duration
}

// wait is a Wait that is kept. Its fields belong to the lock of the watcher.
type wait struct {
	Wait
	user      types.NamespacedName
	parts     []*part
	interests []*interest // in the order of the targets
	pending   int         // targets that are not as they should be, as they were judged last
	settled   bool        // Look has told how it stands: from now on changes are told
	gone      bool        // it was replaced or forgotten
	alarm     alarm
	recheck   recheck
}

// part is what of a wait one watch covers.
type part struct {
	watching  *watching
	interests map[string]*interest // by the name of the object
	reports   bool                 // its kind reports, see Schemas
	untold    bool                 // not all that matters is told by the watch
}

// interest is a target of a wait and what is known of it.
type interest struct {
	wait   *wait
	part   *part
	target Target
	known  *record // nil until it was read
	told   Status  // how it was judged when it was last looked at
}

// record is what is kept of an object.
type record struct {
	assessment
	version    string // of the object; of the list that it was missing in
	exists     bool
	uid        types.UID
	generation int64
	leaving    string // why it is still there, once it was deleted
	verified   bool   // that it does not exist was read by its name, not from what carries our labels
	unlabelled bool   // no label of ours is on it, so that no watch tells of it
	foreign    bool   // it does not carry the labels of the owner
}

// judge says how a target is, and in how long that changes by itself; zero where it does not.
func (i *interest) judge(now time.Time) (Status, time.Duration) {
	r := i.known
	switch {
	case r == nil:
		return Status{InProgress, "it was not read yet"}, 0
	case i.target.Gone:
		return i.judgeGone(), 0
	case !r.exists:
		return Status{Missing, "it does not exist"}, 0
	case r.generation < i.target.Generation && (i.target.Entry.UID == "" || i.target.Entry.UID == r.uid):
		return Status{InProgress, "what was applied is not seen yet"}, 0
	}
	return r.now(now)
}

// replaced reports whether a record is of another object than the one that was applied: the one before it, perhaps, which a
// list out of a cache or a watch still has, and which may have been healthy.
func (i *interest) replaced(r *record) bool {
	return !i.target.Gone && r.exists && i.target.Entry.UID != "" && i.target.Entry.UID != r.uid
}

func (i *interest) judgeGone() Status {
	r := i.known
	switch {
	case !r.exists, r.foreign, i.target.Entry.UID != "" && i.target.Entry.UID != r.uid:
		return Status{State: Current}
	case r.leaving != "":
		return Status{InProgress, r.leaving}
	default:
		return Status{InProgress, "it still exists"}
	}
}

// report says how a wait stands.
func (w *wait) report(now time.Time) Report {
	var r Report
	var firstFailed bool
	untold := false
	for _, i := range w.interests {
		status, changes := i.judge(now)
		i.told = status
		if status.State == Current {
			continue
		}
		r.Pending++
		failed := status.State == Failed
		if failed {
			r.Failed++
		}
		if r.Pending == 1 || failed && !firstFailed {
			r.First, r.Status, firstFailed = i.target.Entry.ID, status, failed
		}
		if changes > 0 && (r.Recheck == 0 || changes < r.Recheck) {
			r.Recheck = changes
		}
		untold = untold || i.part.untold || i.known != nil && i.known.unlabelled
	}
	w.pending, r.Ready = r.Pending, r.Pending == 0
	if untold {
		if next := w.recheck.next(now); r.Recheck == 0 || next < r.Recheck {
			r.Recheck = next
		}
	}
	return r
}

// recheck is the growing delay between looks at what no watch tells.
type recheck struct {
	delay time.Duration
	at    time.Time
}

const (
	firstRecheck = time.Second
	lastRecheck  = 30 * time.Second
)

// next returns in how long to look again. It grows only when its time has come, not with looks for other reasons.
func (r *recheck) next(now time.Time) time.Duration {
	if !now.Before(r.at) {
		r.delay = min(max(2*r.delay, firstRecheck), lastRecheck)
		r.at = now.Add(r.delay)
	}
	return r.at.Sub(now)
}

// describe is a target for messages.
func describe(id inventory.ID) string {
	kind := schema.GroupKind{Group: id.Group, Kind: id.Kind}
	if id.Namespace == "" {
		return fmt.Sprintf("%s %s", kind, id.Name)
	}
	return fmt.Sprintf("%s %s/%s", kind, id.Namespace, id.Name)
}
