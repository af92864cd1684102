package v1

// ReadyCondition is the type of the condition that says whether the published artifact is what the spec asks for.
const ReadyCondition = "Ready"

// The reasons of a snippet's Ready condition and of its events. They are stable.
const (
	// ReasonSynced: the artifact is published and can be fetched.
	ReasonSynced = "Synced"
	// ReasonProgressing: the snippet is being rendered or published.
	ReasonProgressing = "Progressing"
	// ReasonSuspended: spec.suspend is true.
	ReasonSuspended = "Suspended"
	// ReasonInvalidSpec: the spec contradicts itself in a way that the API server could not see.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonServiceAccountMissing: there is no ServiceAccount to act as.
	ReasonServiceAccountMissing = "ServiceAccountMissing"
	// ReasonAccessDenied: the ServiceAccount may not do what the snippet needs.
	ReasonAccessDenied = "AccessDenied"
	// ReasonSourceNotReady: a source does not exist or has no artifact yet.
	ReasonSourceNotReady = "SourceNotReady"
	// ReasonSourceFetchFailed: a source's artifact cannot be fetched, verified or unpacked.
	ReasonSourceFetchFailed = "SourceFetchFailed"
	// ReasonLibraryNotFound: a library does not exist.
	ReasonLibraryNotFound = "LibraryNotFound"
	// ReasonCrossNamespaceRefRejected: a reference leads into another namespace, which this installation forbids.
	ReasonCrossNamespaceRefRejected = "CrossNamespaceRefRejected"
	// ReasonExternalVariableConflict: an external variable is set by the operator's command line.
	ReasonExternalVariableConflict = "ExternalVariableConflict"
	// ReasonDependencyCycle: the snippet uses, directly or through others, its own artifact.
	ReasonDependencyCycle = "DependencyCycle"
	// ReasonEvaluationFailed: the program is wrong, or it called error.
	ReasonEvaluationFailed = "EvaluationFailed"
	// ReasonEvaluationTimeout: the program ran out of time.
	ReasonEvaluationTimeout = "EvaluationTimeout"
	// ReasonEvaluationMemoryExceeded: the program needed more memory than one evaluation may hold.
	ReasonEvaluationMemoryExceeded = "EvaluationMemoryExceeded"
	// ReasonStackExceeded: the program called deeper than the stack limit.
	ReasonStackExceeded = "StackExceeded"
	// ReasonEvaluationUnavailable: the renderer had no capacity; it tries again.
	ReasonEvaluationUnavailable = "EvaluationUnavailable"
	// ReasonRateLimited: the snippet was rendered too often; it is rendered again when its budget allows.
	ReasonRateLimited = "RateLimited"
	// ReasonArtifactConflict: an ExternalArtifact of this name belongs to somebody else.
	ReasonArtifactConflict = "ArtifactConflict"
	// ReasonArtifactTooLarge: the artifact is larger than --max-artifact-bytes.
	ReasonArtifactTooLarge = "ArtifactTooLarge"
	// ReasonStorageFailed: the artifact could not be stored or read back.
	ReasonStorageFailed = "StorageFailed"
	// ReasonWithdrawForced is the event of a deleted snippet whose artifact could not be withdrawn in time.
	ReasonWithdrawForced = "WithdrawForced"
	// ReasonAccepted: a library can be used.
	ReasonAccepted = "Accepted"
)

// Finalizer keeps a deleted snippet until its artifact is withdrawn.
const Finalizer = "render.stagewright.dev/withdraw"
