package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StageActions run around a stage. Those of pre and post run once for each revision of the stage.
type StageActions struct {
	// pre run before the stage is applied.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Pre []Action `json:"pre,omitempty"`

	// post run when the stage is healthy.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Post []Action `json:"post,omitempty"`

	// onFailure run when the stage has failed.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	OnFailure []Action `json:"onFailure,omitempty"`
}

// Action is something that is done once.
// +kubebuilder:validation:XValidation:rule="[has(self.patch), has(self.http), has(self.wait), has(self.job), has(self.delete), has(self.apply)].filter(x, x).size() == 1",message="exactly one of patch, http, wait, job, delete and apply is needed"
type Action struct {
	// name of the action, unique in its list.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// timeout of the action with all its retries: 5m without it.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="timeout is more than 0s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// retries after a failure.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Retries int32 `json:"retries,omitempty"`

	// patch changes an object.
	// +optional
	Patch *PatchAction `json:"patch,omitempty"`
	// http calls a server.
	// +optional
	HTTP *HTTPAction `json:"http,omitempty"`
	// wait lets time pass, or waits for an object.
	// +optional
	Wait *WaitAction `json:"wait,omitempty"`
	// job runs Jobs to completion.
	// +optional
	Job *JobAction `json:"job,omitempty"`
	// delete removes an object.
	// +optional
	Delete *DeleteAction `json:"delete,omitempty"`
	// apply applies objects.
	// +optional
	Apply *ApplyAction `json:"apply,omitempty"`
}

// PatchAction changes an object.
type PatchAction struct {
	// target of the patch.
	// +required
	Target ObjectReference `json:"target"`
	// type of the patch.
	// +kubebuilder:default=merge
	// +kubebuilder:validation:Enum=merge;json6902
	// +optional
	Type string `json:"type,omitempty"`
	// patch as YAML or JSON.
	// +kubebuilder:validation:MinLength=1
	// +required
	Patch string `json:"patch"`
}

// HTTPAction calls a server.
type HTTPAction struct {
	// url to call.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	URL string `json:"url"`
	// method of the request.
	// +kubebuilder:default=GET
	// +kubebuilder:validation:Enum=GET;HEAD;POST;PUT;PATCH;DELETE
	// +optional
	Method string `json:"method,omitempty"`
	// expectedStatus are the status codes of success: 200 to 299 without them.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Minimum=100
	// +kubebuilder:validation:items:Maximum=599
	// +listType=atomic
	// +optional
	ExpectedStatus []int32 `json:"expectedStatus,omitempty"`
	// headersFrom names Secrets and ConfigMaps whose entries become headers.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	HeadersFrom []SubstituteReference `json:"headersFrom,omitempty"`
	// bodyFrom names the body of the request.
	// +optional
	BodyFrom *KeyReference `json:"bodyFrom,omitempty"`
}

// KeyReference names a key of a ConfigMap or Secret in the StageSet's namespace.
type KeyReference struct {
	// kind of the object.
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	// +required
	Kind string `json:"kind"`
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// key in the object's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Key string `json:"key"`
}

// WaitAction lets time pass, or waits for an object.
// +kubebuilder:validation:XValidation:rule="has(self.duration) != has(self.target)",message="exactly one of duration and target is needed"
// +kubebuilder:validation:XValidation:rule="has(self.target) == has(self.expr)",message="target and expr belong together"
type WaitAction struct {
	// duration to wait.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="duration is more than 0s"
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
	// target that is waited for.
	// +optional
	Target *ObjectReference `json:"target,omitempty"`
	// expr is a CEL expression over the target that has to become true.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Expr string `json:"expr,omitempty"`
}

// JobAction runs the Jobs of an artifact to completion.
type JobAction struct {
	// sourceRef names the artifact.
	// +required
	SourceRef SourceReference `json:"sourceRef"`
	// path of the directory inside the artifact.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Path string `json:"path,omitempty"`
}

// DeleteAction removes an object.
type DeleteAction struct {
	// target to delete.
	// +required
	Target ObjectReference `json:"target"`
	// cascade says what becomes of dependents.
	// +kubebuilder:default=Background
	// +kubebuilder:validation:Enum=Background;Foreground;Orphan
	// +optional
	Cascade string `json:"cascade,omitempty"`
}

// ApplyAction applies the objects of an artifact.
type ApplyAction struct {
	// sourceRef names the artifact.
	// +required
	SourceRef SourceReference `json:"sourceRef"`
	// path of the directory inside the artifact.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Path string `json:"path,omitempty"`
	// wait until the objects are healthy.
	// +optional
	Wait bool `json:"wait,omitempty"`
}

// Migration is a step between versions.
type Migration struct {
	// name of the migration.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// from is a constraint on the version that runs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +required
	From string `json:"from"`
	// to is the version that is reached, exactly.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +required
	To string `json:"to"`
	// stage before which the migration runs; that with migrationAnchor, or the first one, without it.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Stage string `json:"stage,omitempty"`
	// actions of the migration.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +required
	Actions []Action `json:"actions"`
	// down undoes the migration.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Down []Action `json:"down,omitempty"`
}

// MigrationsSource names a source with migrations, in the StageSet's namespace.
type MigrationsSource struct {
	// sourceRef names the source.
	// +required
	SourceRef SourceReference `json:"sourceRef"`
	// path of the directory inside the artifact.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Path string `json:"path,omitempty"`
}

// ApprovalMode says which releases wait for approval.
// +kubebuilder:validation:Enum=Never;OnMigrations;Always
type ApprovalMode string

// The modes of approval.
const (
	ApprovalNever        ApprovalMode = "Never"
	ApprovalOnMigrations ApprovalMode = "OnMigrations"
	ApprovalAlways       ApprovalMode = "Always"
)

// Version says where the semantic version of a release is found.
// +kubebuilder:validation:XValidation:rule="[has(self.value), has(self.fromObject), has(self.fromArtifact)].filter(x, x).size() == 1",message="exactly one of value, fromObject and fromArtifact is needed"
type Version struct {
	// value is the version.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Value string `json:"value,omitempty"`
	// fromObject reads it from a rendered object.
	// +optional
	FromObject *VersionFromObject `json:"fromObject,omitempty"`
	// fromArtifact reads it from a file.
	// +optional
	FromArtifact *VersionFromArtifact `json:"fromArtifact,omitempty"`
	// allowDowngrade allows a lower version than the one that runs.
	// +optional
	AllowDowngrade bool `json:"allowDowngrade,omitempty"`
	// approvalMode says which releases wait for approval.
	// +kubebuilder:default=Never
	// +optional
	ApprovalMode ApprovalMode `json:"approvalMode,omitempty"`
}

// VersionFromObject names an object that a stage renders.
type VersionFromObject struct {
	// stage that renders the object.
	// +required
	Stage           string `json:"stage"`
	ObjectReference `json:",inline"`
	// fieldPath of the version; the label app.kubernetes.io/version by default.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	FieldPath string `json:"fieldPath,omitempty"`
}

// VersionFromArtifact names a file in a stage's artifact.
type VersionFromArtifact struct {
	// stage whose artifact holds the file.
	// +required
	Stage string `json:"stage"`
	// path of the file.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +required
	Path string `json:"path"`
}

// UpdateWindow is when new revisions may start, or may not: a schedule with a duration, or a span of time.
// +kubebuilder:validation:XValidation:rule="has(self.schedule) != (has(self.from) || has(self.to))",message="either schedule and duration, or from and to"
// +kubebuilder:validation:XValidation:rule="has(self.schedule) == has(self.duration)",message="schedule and duration belong together"
type UpdateWindow struct {
	// type of the window.
	// +kubebuilder:validation:Enum=Allow;Deny
	// +required
	Type string `json:"type"`
	// schedule is when the window opens, as a cron expression.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Schedule string `json:"schedule,omitempty"`
	// duration of a scheduled window.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="duration is more than 0s"
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
	// timeZone of the schedule: UTC by default.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// from is when the window opens, such as 2030-01-31T22:00:00Z.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	// +optional
	From *metav1.Time `json:"from,omitempty"`
	// to is when the window closes, such as 2030-01-31T22:00:00Z.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	// +optional
	To *metav1.Time `json:"to,omitempty"`
}
