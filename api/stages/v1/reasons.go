package v1

// ReadyCondition is the type of the condition that says whether every stage is Ready at the newest revision.
const ReadyCondition = "Ready"

// The reasons of the Ready condition and of events. They are stable.
const (
	// ReasonSucceeded: every stage is applied and healthy.
	ReasonSucceeded = "Succeeded"
	// ReasonProgressing: a run is under way.
	ReasonProgressing = "Progressing"
	// ReasonSuspended: spec.suspend is true.
	ReasonSuspended = "Suspended"
	// ReasonInvalidSpec: the spec contradicts itself, or asks for what this installation cannot do.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonDependencyNotReady: a StageSet of dependsOn is not ready.
	ReasonDependencyNotReady = "DependencyNotReady"
	// ReasonSourceNotReady: a source does not exist or has no artifact yet.
	ReasonSourceNotReady = "SourceNotReady"
	// ReasonArtifactFetchFailed: an artifact cannot be fetched, verified or unpacked.
	ReasonArtifactFetchFailed = "ArtifactFetchFailed"
	// ReasonBuildFailed: a stage's manifests cannot be built.
	ReasonBuildFailed = "BuildFailed"
	// ReasonDecryptionFailed: an encrypted file cannot be decrypted.
	ReasonDecryptionFailed = "DecryptionFailed"
	// ReasonImageUnverified: an image of a stage is not signed as the policies ask.
	ReasonImageUnverified = "ImageUnverified"
	// ReasonUpdateDeferred: a new revision waits for its update window.
	ReasonUpdateDeferred = "UpdateDeferred"
	// ReasonAwaitingApproval: a release waits for approval.
	ReasonAwaitingApproval = "AwaitingApproval"
	// ReasonQuarantined: the newest revision failed and was rolled back; it is not tried again by itself.
	ReasonQuarantined = "Quarantined"
	// ReasonApplyFailed: the API server refused an object.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonConflictHeld: an object cannot be changed or taken without consent.
	ReasonConflictHeld = "ConflictHeld"
	// ReasonPruneHeld: deletions wait for approval.
	ReasonPruneHeld = "PruneHeld"
	// ReasonPruneFailed: an object could not be deleted.
	ReasonPruneFailed = "PruneFailed"
	// ReasonStageProgressing: a stage waits until its objects are healthy.
	ReasonStageProgressing = "StageProgressing"
	// ReasonStageFailed: an object of a stage has failed, or the stage was not healthy in time.
	ReasonStageFailed = "StageFailed"
	// ReasonActionFailed: an action failed.
	ReasonActionFailed = "ActionFailed"
	// ReasonMigrationFailed: an action of a migration failed.
	ReasonMigrationFailed = "MigrationFailed"
	// ReasonMigrationSourceNotPinned: migrations come from a source without an immutable revision.
	ReasonMigrationSourceNotPinned = "MigrationSourceNotPinned"
	// ReasonMigrationSourceNotVerified: migrations come from a source without a verified signature.
	ReasonMigrationSourceNotVerified = "MigrationSourceNotVerified"
	// ReasonMigrationSourceInvalid: what a source holds are no migrations.
	ReasonMigrationSourceInvalid = "MigrationSourceInvalid"
	// ReasonInvalidVersion: the version of the release is not a semantic version.
	ReasonInvalidVersion = "InvalidVersion"
	// ReasonDowngradeNotAllowed: the version is lower than the one that runs.
	ReasonDowngradeNotAllowed = "DowngradeNotAllowed"
	// ReasonDowngradeRequiresMigration: a migration on the way down has no down actions.
	ReasonDowngradeRequiresMigration = "DowngradeRequiresMigration"
	// ReasonRolledBack: a failed run was undone.
	ReasonRolledBack = "RolledBack"
	// ReasonRollbackUnavailable: a failed run cannot be undone.
	ReasonRollbackUnavailable = "RollbackUnavailable"
	// ReasonCrossNamespaceRefDenied: a reference leads into another namespace, which this installation forbids.
	ReasonCrossNamespaceRefDenied = "CrossNamespaceRefDenied"
	// ReasonAccessDenied: the identity that acts may not do what is needed.
	ReasonAccessDenied = "AccessDenied"
	// ReasonTeardownFailed: objects of a deleted StageSet cannot be removed.
	ReasonTeardownFailed = "TeardownFailed"
)

// The reasons of events that no condition has.
const (
	// EventTeardownForced: the finalizer was removed although objects are left.
	EventTeardownForced = "TeardownForced"
	// EventDriftCorrected: what somebody changed by hand is as it was rendered.
	EventDriftCorrected = "DriftCorrected"
	// EventReleased: an object is no longer managed, and stays.
	EventReleased = "Released"
	// EventPruned: objects that are no longer rendered were deleted.
	EventPruned = "Pruned"
	// EventStageReady: a stage is applied and healthy.
	EventStageReady = "StageReady"
	// EventObjectsLeft: a StageSet was deleted while it was suspended, or without its dependents; its objects stay.
	EventObjectsLeft = "ObjectsLeft"
)
