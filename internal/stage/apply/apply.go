package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// Change is what became of an object.
type Change string

// The changes.
const (
	Unchanged  Change = "unchanged" // seen from metadata, nothing was sent
	Created    Change = "created"
	Configured Change = "configured"
	Verified   Change = "verified" // sent, and the API server says that nothing changed
	Kept       Change = "kept"     // by a conflict policy
	Recreate   Change = "recreate" // it has to be deleted first, see Result.Recreate
	Blocked    Change = "blocked"  // it cannot be applied yet, see Outcome.Why; it is tried again
)

// Outcome is what became of one object.
type Outcome struct {
	Entry      inventory.Entry // with UID and fingerprint as of now
	Generation int64           // metadata.generation as of now, zero where the kind has none
	Change     Change
	Drift      bool   // it had been applied so before and was changed or deleted by somebody
	Why        string // for Kept, Blocked: a few words
}

// Job is what is to be applied for a stage.
type Job struct {
	Cluster  cluster.Cluster
	Owner    inventory.Owner
	Stage    string
	Objects  []*unstructured.Unstructured                              // as built; the labels of the owner are added to copies
	Recorded map[inventory.ID]inventory.Entry                          // as the inventory has them
	Live     map[inventory.ID]inventory.Live                           // from Survey; what is not in it may exist all the same
	Policy   *stagesv1.ConflictPolicy                                  // nil is Fail
	Adopt    []types.NamespacedName                                    // StageSets whose objects may be taken
	Exists   func(context.Context, types.NamespacedName) (bool, error) // whether a StageSet exists
	// Intended are recreations that were persisted as intended: by the UID of the object that is to be replaced.
	Intended map[inventory.ID]types.UID
	Most     int // objects that are sent before Apply returns with More; zero is no limit
}

// Result is what became of a job.
type Result struct {
	Outcomes []Outcome // of the objects that were looked at, in the order in which they were applied
	More     bool      // there are objects left: call again
	// Intend are objects that have to be replaced because immutable fields changed and the policy says so. The caller
	// persists them as intended and calls again with them in Job.Intended: only then are they deleted.
	Intend []inventory.Entry
	// Await are objects that have to be gone, established or usable before the rest can be applied (a replaced object that
	// is being deleted, a CRD being established). The caller waits for a change of them and calls again.
	Await []inventory.Entry
}

// Applier applies jobs. It can be used concurrently.
type Applier struct{}

// NewApplier returns an applier that sends that many requests at a time for one job.
func NewApplier(parallel int) *Applier { panic("not yet") }

// Apply applies the objects of a job in waves: definitions (CRDs, Namespaces, …), then the rest. It sends nothing for an
// object whose entry, live metadata and rendered content are as they were.
//
// Errors are ConflictError, cluster.DeniedError, RefusedError (the API server will not have the object as it is: retrying without
// a change does not help) or others, which may pass. Outcomes of what was applied before are in the result with an error too.
func (a *Applier) Apply(ctx context.Context, job Job) (Result, error) { panic("not yet") }

// ConflictError says that objects cannot be changed or taken without consent.
type ConflictError struct {
	ID   inventory.ID
	Why  string // with what to do about it
	More int    // further objects
}

func (e *ConflictError) Error() string { panic("not yet") }

// RefusedError says that the API server will not have an object. Its text has no value of a Secret.
type RefusedError struct {
	ID   inventory.ID
	Err  error
	More int
}

func (e *RefusedError) Error() string { panic("not yet") }
func (e *RefusedError) Unwrap() error { return e.Err }

// Removal is the deletion of objects.
type Removal struct {
	Cluster   cluster.Cluster
	Decisions []inventory.Decision // those with the verdict Delete, in their order
}

// Removed is what became of a removal.
type Removed struct {
	Gone    []inventory.ID    // a read showed it, or it is another object now
	Leaving []inventory.Entry // deletion has begun; a finalizer or dependents hold it
	Failed  map[inventory.ID]error
}

// Remove deletes objects under preconditions of UID and resource version, several at a time, and says what a read showed
// then. Objects in a namespace that is itself terminating count as leaving with it.
func (a *Applier) Remove(ctx context.Context, r Removal) (Removed, error) { panic("not yet") }
