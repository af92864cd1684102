package health

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// State is how an object is.
type State string

// The states.
const (
	Current    State = "Current"
	InProgress State = "InProgress"
	Failed     State = "Failed" // it will not become healthy by itself
	Missing    State = "Missing"
)

// Status is how an object is, and why.
type Status struct {
	State   State
	Message string // why, in a few words of the object itself; no value of a Secret
}

// Rules say when objects are healthy, beyond kstatus.
type Rules struct{}

// Compile compiles the expressions of a stage. An error names the place: exprs[2].current: ….
func Compile(exprs []stagesv1.HealthExpressions) (*Rules, error) { panic("not yet") }

// Evaluate says how an object is.
func (r *Rules) Evaluate(object *unstructured.Unstructured) Status { panic("not yet") }

// Target is an object that is waited for.
type Target struct {
	Entry      inventory.Entry
	Generation int64 // that has to be observed at least; zero where it is not known
	Foreign    bool  // it lacks our labels and is watched by its name: a listed check
	Gone       bool  // it is waited for until it does not exist, or is another object
}

// Wait is what somebody waits for.
type Wait struct {
	Cluster cluster.Cluster
	Owner   inventory.Owner
	Targets []Target
	Rules   *Rules
}

// Report is how what is waited for stands.
type Report struct {
	Ready   bool
	Pending int          // targets that are not as they should be
	First   inventory.ID // the first of them in the order of the targets, failed ones first
	Status  Status       // of the first
	Failed  int          // targets that have failed
	// Recheck is when to look again although nothing was told; zero where watches tell everything.
	Recheck time.Duration
}

// Watcher keeps waits. Its Start runs it; it can be used concurrently.
type Watcher struct{}

// WatcherOptions are what a Watcher is made of.
type WatcherOptions struct {
	Wake       func(user types.NamespacedName) // called when something that matters has changed, at most once in Coalesce
	Coalesce   time.Duration                   // zero is 20 ms
	Idle       time.Duration                   // how long a watch without users is kept; zero is 30 s
	MaxWatches int                             // beyond it, waits are re-checked instead; zero is 20,000
}

// NewWatcher returns a watcher.
func NewWatcher(o WatcherOptions) *Watcher { panic("not yet") }

// Start allows watches until the context ends, and then waits for them to end.
func (w *Watcher) Start(ctx context.Context) error { panic("not yet") }

// Look registers what a user waits for, in place of what it waited for before, and says how it stands now: from watches
// that have it already, else by one list per kind and namespace, with which the watch begins. After a Report that is not
// Ready every change that matters wakes the user. Errors are cluster.DeniedError where not even reading is allowed, or
// others, which may pass.
func (w *Watcher) Look(ctx context.Context, user types.NamespacedName, wait Wait) (Report, error) {
	panic("not yet")
}

// Forget ends the wait of a user.
func (w *Watcher) Forget(user types.NamespacedName) { panic("not yet") }

// Len is the number of watches, for metrics.
func (w *Watcher) Len() int { panic("not yet") }
