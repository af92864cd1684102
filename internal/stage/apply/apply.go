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
	Recreate   Change = "recreate" // it has to be deleted first, see Result.Intend
	Blocked    Change = "blocked"  // it cannot be applied yet, see Outcome.Why; it is tried again
)

// Outcome is what became of one object.
type Outcome struct {
	// Entry has UID and fingerprint as of now; as they were recorded where nothing was applied. It is to be recorded.
	Entry      inventory.Entry
	Generation int64 // metadata.generation as of now, zero where the kind has none
	Change     Change
	Drift      bool   // it had been applied so before and was changed or deleted by somebody
	Why        string // for Kept, Blocked: a few words
}

// Job is what is to be applied for a stage.
type Job struct {
	Cluster cluster.Cluster
	Owner   inventory.Owner
	Stage   string
	Objects []*unstructured.Unstructured                              // as built; the labels of the owner are added to copies
	Live    map[inventory.ID]inventory.Live                           // from Survey; what is not in it may exist all the same
	Policy  *stagesv1.ConflictPolicy                                  // nil is Fail
	Adopt   []types.NamespacedName                                    // StageSets whose objects may be taken
	Exists  func(context.Context, types.NamespacedName) (bool, error) // whether a StageSet exists
	// Intended are recreations that were persisted as intended: by the UID of the object that is to be replaced.
	Intended map[inventory.ID]types.UID
	Most     int      // objects that are sent before Apply returns with More; zero is no limit
	Secrets  []string // values that errors must not show
}

// Result is what became of a job.
type Result struct {
	Outcomes []Outcome // of the objects that were looked at, in the order in which they were applied
	More     bool      // there are objects left: call again
	// Intend are objects that have to be replaced because immutable fields changed and the policy says so. The caller
	// persists them as intended with their UIDs, records them without one (inventory.Ahead) and calls again with them in
	// Job.Intended: only then are they deleted.
	Intend []inventory.Entry
	// Await are objects that have to be gone, established or usable before the rest can be applied (a replaced object that
	// is being deleted, a CRD being established). The caller waits for a change of them and calls again.
	Await []inventory.Entry
}

// defaultParallel is how many requests one job has under way at a time.
const defaultParallel = 32

// Applier applies jobs. It can be used concurrently.
type Applier struct {
	parallel int
	prints   prints
}

// NewApplier returns an applier that sends that many requests at a time for one job; zero is 32.
func NewApplier(parallel int) *Applier {
	if parallel <= 0 {
		parallel = defaultParallel
	}
	return &Applier{parallel: parallel, prints: newPrints()}
}

// Keyed returns an applier whose fingerprints depend on a secret key, so that nobody else can tell from them what was
// applied. Without one, only those of Secrets do, on a key of the process: after a restart each Secret is sent once.
func (a *Applier) Keyed(key []byte) *Applier {
	return &Applier{parallel: a.parallel, prints: prints{all: key, secrets: key}}
}
