package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StageSetStatus is where a StageSet is.
type StageSetStatus struct {
	// observedGeneration is the generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the StageSet: Ready, Reconciling, Stalled.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// lastHandledReconcileAt is the value of the annotation reconcile.fluxcd.io/requestedAt that was handled last.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// version of the release that was applied last in full.
	// +optional
	Version string `json:"version,omitempty"`

	// run that is under way or has failed; none when everything is settled.
	// +optional
	Run *Run `json:"run,omitempty"`

	// lastApplied is what was applied last in full.
	// +optional
	LastApplied *Snapshot `json:"lastApplied,omitempty"`

	// failedRevisions are snapshots that are not tried again by themselves.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	FailedRevisions []FailedRevision `json:"failedRevisions,omitempty"`

	// pendingUpdate is a newer snapshot that may not start yet.
	// +optional
	PendingUpdate *PendingUpdate `json:"pendingUpdate,omitempty"`

	// migrations that have run.
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=name
	// +optional
	Migrations []MigrationStatus `json:"migrations,omitempty"`

	// stages in the order of the spec; those that the spec has lost follow until they are pruned.
	// +listType=map
	// +listMapKey=name
	// +optional
	Stages []StageStatus `json:"stages,omitempty"`
}

// StageRevision is the revision of a stage's artifact, pinned.
type StageRevision struct {
	// stage that the artifact is for.
	// +required
	Stage string `json:"stage"`
	// revision as its source tells it.
	// +optional
	Revision string `json:"revision,omitempty"`
	// digest of the artifact.
	// +optional
	Digest string `json:"digest,omitempty"`
	// url of the artifact.
	// +optional
	URL string `json:"url,omitempty"`
	// inputs is a hash of the values that the stage was built with; empty until it was built.
	// +optional
	Inputs string `json:"inputs,omitempty"`
}

// Snapshot is what all stages were made from.
type Snapshot struct {
	// id is a digest of revisions and spec.
	// +required
	ID string `json:"id"`
	// spec is a hash of what the spec asks for, apart from when.
	// +optional
	Spec string `json:"spec,omitempty"`
	// generation of the spec.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// appliedAt is when the last stage was healthy.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`
	// revisions of the stages.
	// +listType=map
	// +listMapKey=stage
	// +optional
	Revisions []StageRevision `json:"revisions,omitempty"`
}

// Run is one way through all stages with pinned revisions.
type Run struct {
	// id is a digest of revisions and spec.
	// +required
	ID string `json:"id"`
	// spec is a hash of what the spec asks for, apart from when.
	// +optional
	Spec string `json:"spec,omitempty"`
	// generation of the spec that the run is about.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// startedAt is when the run began.
	// +optional
	StartedAt metav1.MicroTime `json:"startedAt,omitempty"`
	// revisions of the stages.
	// +listType=map
	// +listMapKey=stage
	// +optional
	Revisions []StageRevision `json:"revisions,omitempty"`
	// stage that the run is in; empty when all are done.
	// +optional
	Stage string `json:"stage,omitempty"`
	// step of that stage.
	// +optional
	Step Step `json:"step,omitempty"`
	// since is when the step began.
	// +optional
	Since *metav1.MicroTime `json:"since,omitempty"`
	// deadline of the step; of a run that has failed, when it is tried again.
	// +optional
	Deadline *metav1.MicroTime `json:"deadline,omitempty"`
	// failed says why the run ended without success.
	// +optional
	Failed string `json:"failed,omitempty"`
	// superseded counts runs that were replaced one after the other while they were in the same stage.
	// +optional
	Superseded int32 `json:"superseded,omitempty"`
	// intents are effects that have begun and must not happen twice.
	// +listType=atomic
	// +optional
	Intents []Intent `json:"intents,omitempty"`
}

// Step is a position in a stage.
type Step string

// The steps of a stage, in their order.
const (
	StepPreActions  Step = "PreActions"
	StepApply       Step = "Apply"
	StepPrune       Step = "Prune"
	StepWait        Step = "Wait"
	StepPostActions Step = "PostActions"
	StepSettle      Step = "Settle" // after the last stage
)

// Intent is an effect that is noted before it happens.
type Intent struct {
	// effect that is meant, such as Recreate.
	// +required
	Effect string `json:"effect"`
	// object that it is about: the id of an inventory entry.
	// +required
	Object string `json:"object"`
	// uid of the object as it was before.
	// +optional
	UID string `json:"uid,omitempty"`
}

// FailedRevision is a snapshot that is not tried again by itself.
type FailedRevision struct {
	// id of the snapshot.
	// +required
	ID string `json:"id"`
	// reason of the failure.
	// +optional
	Reason string `json:"reason,omitempty"`
	// failedAt is when it failed.
	// +optional
	FailedAt metav1.Time `json:"failedAt,omitempty"`
}

// PendingUpdate is a snapshot that may not start yet.
type PendingUpdate struct {
	// id of the snapshot.
	// +required
	ID string `json:"id"`
	// reason why it waits.
	// +optional
	Reason string `json:"reason,omitempty"`
	// since is when it began to wait.
	// +optional
	Since metav1.Time `json:"since,omitempty"`
	// until is when it may start, if that is known.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// MigrationStatus is a migration that has run or runs.
type MigrationStatus struct {
	// name of the migration.
	// +required
	Name string `json:"name"`
	// state of the migration.
	// +optional
	State string `json:"state,omitempty"`
	// completedAt is when its last action was done.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
}

// Phase is where a stage is.
// +kubebuilder:validation:Enum=Pending;Building;Verifying;PreActions;Applying;Pruning;Waiting;PostActions;Ready;Held;Failed
type Phase string

// The phases of a stage.
const (
	PhasePending     Phase = "Pending"
	PhaseBuilding    Phase = "Building"
	PhaseVerifying   Phase = "Verifying"
	PhasePreActions  Phase = "PreActions"
	PhaseApplying    Phase = "Applying"
	PhasePruning     Phase = "Pruning"
	PhaseWaiting     Phase = "Waiting"
	PhasePostActions Phase = "PostActions"
	PhaseReady       Phase = "Ready"
	PhaseHeld        Phase = "Held"
	PhaseFailed      Phase = "Failed"
)

// StageStatus is where a stage is.
type StageStatus struct {
	// name of the stage.
	// +required
	Name string `json:"name"`
	// phase of the stage.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// appliedRevision is the revision that was applied last and became healthy.
	// +optional
	AppliedRevision string `json:"appliedRevision,omitempty"`
	// entries is how many objects the stage's inventory has.
	// +optional
	Entries int32 `json:"entries,omitempty"`
	// shards is how many StageInventories hold them.
	// +optional
	Shards int32 `json:"shards,omitempty"`
	// since is when the phase began.
	// +optional
	Since *metav1.MicroTime `json:"since,omitempty"`
	// blocker is the object that the stage waits for first.
	// +optional
	Blocker string `json:"blocker,omitempty"`
	// message says what the stage waits for or why it failed.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Message string `json:"message,omitempty"`
	// keeps says that the stage has prune: false. It counts also when the spec has the stage no more.
	// +optional
	Keeps bool `json:"keeps,omitempty"`
	// held are the objects whose deletion waits for approval, at most fifty of them.
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +optional
	Held []string `json:"held,omitempty"`
}
