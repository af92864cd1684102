package v1

import (
	"github.com/fluxcd/pkg/apis/kustomize"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stage is one step of a release: what it applies, and what has to hold before the next stage begins.
// +kubebuilder:validation:XValidation:rule="!(has(self.force) && self.force) || !has(self.conflictPolicy) || !has(self.conflictPolicy.default)",message="force and conflictPolicy.default exclude each other"
type Stage struct {
	// name of the stage, unique in its StageSet.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// sourceRef names what publishes the stage's artifact.
	// +required
	SourceRef SourceReference `json:"sourceRef"`

	// path of the directory inside the artifact.
	// +kubebuilder:default="./"
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.split('/').exists(p, p == '..')",message="path is relative and has no .."
	// +optional
	Path string `json:"path,omitempty"`

	// serviceAccountName is who applies this stage; that of the StageSet without it.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// prune deletes objects that the stage applied once and renders no more.
	// +kubebuilder:default=true
	// +optional
	Prune *bool `json:"prune,omitempty"`

	// timeout is how long the stage may take to become healthy; that of the StageSet without it.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="timeout is more than 0s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// onTimeout says what follows when the stage is not healthy in time; that of the StageSet without it.
	// +optional
	OnTimeout OnTimeout `json:"onTimeout,omitempty"`

	// force recreates objects with changed immutable fields: conflictPolicy.default Recreate.
	// +optional
	Force bool `json:"force,omitempty"`

	// patches change the objects before they are applied, as those of kustomize.
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	// +optional
	Patches []kustomize.Patch `json:"patches,omitempty"`

	// postBuild replaces ${variables} in the built objects.
	// +optional
	PostBuild *PostBuild `json:"postBuild,omitempty"`

	// conflictPolicy says what becomes of objects whose immutable fields change.
	// +optional
	ConflictPolicy *ConflictPolicy `json:"conflictPolicy,omitempty"`

	// readyChecks say when the stage is healthy, beyond its objects being so.
	// +optional
	ReadyChecks *ReadyChecks `json:"readyChecks,omitempty"`

	// actions run before and after the stage, and when it fails.
	// +optional
	Actions *StageActions `json:"actions,omitempty"`

	// migrationAnchor makes this the stage before which migrations without a stage run.
	// +optional
	MigrationAnchor bool `json:"migrationAnchor,omitempty"`
}

// SourceReference names what publishes an artifact: one of Flux's four kinds of sources, or a producer, which is any other
// kind: its artifact is that of the ExternalArtifact whose spec.sourceRef points back at it.
type SourceReference struct {
	// apiVersion of the source; needed for kinds that are not Flux's.
	// +kubebuilder:validation:MaxLength=317
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// kind of the source.
	// +kubebuilder:default=ExternalArtifact
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Z][A-Za-z0-9]*)?$`
	// +optional
	Kind string `json:"kind,omitempty"`

	// name of the source.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// namespace of the source; the StageSet's own by default.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// PostBuild replaces ${variables} in built objects, as Flux's Kustomization does.
type PostBuild struct {
	// substitute holds variables and their values; they win over those of substituteFrom.
	// +kubebuilder:validation:MaxProperties=1024
	// +optional
	Substitute map[string]string `json:"substitute,omitempty"`

	// substituteFrom names ConfigMaps and Secrets with variables, the last one winning.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	SubstituteFrom []SubstituteReference `json:"substituteFrom,omitempty"`
}

// SubstituteReference names a ConfigMap or Secret in the StageSet's namespace.
type SubstituteReference struct {
	// kind of the object.
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	// +required
	Kind string `json:"kind"`

	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// optional allows that the object does not exist.
	// +optional
	Optional bool `json:"optional,omitempty"`
}

// ConflictAction is what becomes of an object whose immutable fields change.
// +kubebuilder:validation:Enum=Fail;Recreate;KeepExisting
type ConflictAction string

// The actions on conflicts.
const (
	// ConflictFail fails the stage.
	ConflictFail ConflictAction = "Fail"
	// ConflictRecreate deletes the object and applies it anew.
	ConflictRecreate ConflictAction = "Recreate"
	// ConflictKeepExisting leaves the object as it is.
	ConflictKeepExisting ConflictAction = "KeepExisting"
)

// ConflictPolicy says what becomes of objects whose immutable fields change.
type ConflictPolicy struct {
	// default for objects that no rule selects: Fail without it.
	// +optional
	Default ConflictAction `json:"default,omitempty"`

	// rules for selected objects; the first one that selects an object decides.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Rules []ConflictRule `json:"rules,omitempty"`
}

// ConflictRule is what becomes of the objects that it selects.
type ConflictRule struct {
	// target selects objects as the target of a kustomize patch does.
	// +required
	Target kustomize.Selector `json:"target"`

	// action on a conflict.
	// +required
	Action ConflictAction `json:"action"`

	// allowDataLoss is the consent to recreate PersistentVolumes and PersistentVolumeClaims.
	// +optional
	AllowDataLoss bool `json:"allowDataLoss,omitempty"`
}

// ReadyChecks say when a stage is healthy.
type ReadyChecks struct {
	// timeout for becoming healthy; it wins over those of the stage and of the StageSet.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="timeout is more than 0s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// disableWait goes on as soon as everything is applied: neither the stage's objects nor checks are waited for.
	// +optional
	DisableWait bool `json:"disableWait,omitempty"`

	// checks are further objects that have to be healthy.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Checks []ObjectReference `json:"checks,omitempty"`

	// exprs say for a kind when its objects are healthy.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Exprs []HealthExpressions `json:"exprs,omitempty"`
}

// ObjectReference names an object of any kind.
type ObjectReference struct {
	// apiVersion of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +required
	APIVersion string `json:"apiVersion"`

	// kind of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`

	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// namespace of the object; the StageSet's own by default, none for a kind without namespaces.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// HealthExpressions are CEL expressions over an object of a kind. They are looked at in the order inProgress, failed, current;
// fields of the object are variables (status, metadata, spec, data).
type HealthExpressions struct {
	// apiVersion of the kind.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +required
	APIVersion string `json:"apiVersion"`

	// kind that the expressions are about.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`

	// current is true when the object is healthy.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +required
	Current string `json:"current"`

	// inProgress is true while the object is on its way.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	InProgress string `json:"inProgress,omitempty"`

	// failed is true when the object will not become healthy.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Failed string `json:"failed,omitempty"`
}
