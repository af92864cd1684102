package v1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OnTimeout is what follows when a stage is not healthy in time.
// +kubebuilder:validation:Enum=Hold;Rollback
type OnTimeout string

// What follows a timeout.
const (
	OnTimeoutHold     OnTimeout = "Hold"
	OnTimeoutRollback OnTimeout = "Rollback"
)

// PruneGuard says whether large and stateful prunes are held.
// +kubebuilder:validation:Enum=Default;Off
type PruneGuard string

// The guards.
const (
	PruneGuardDefault PruneGuard = "Default"
	PruneGuardOff     PruneGuard = "Off"
)

// WindowScope says what update windows are about.
// +kubebuilder:validation:Enum=Updates;All
type WindowScope string

// The scopes of windows.
const (
	WindowScopeUpdates WindowScope = "Updates"
	WindowScopeAll     WindowScope = "All"
)

// StageSetSpec is what is rolled out, in which order, and how.
// +kubebuilder:validation:XValidation:rule="!has(self.migrations) || !has(self.migrationsSourceRef)",message="migrations and migrationsSourceRef exclude each other"
type StageSetSpec struct {
	// interval at which everything is looked at although nothing was told; the controller's --default-interval without it.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('5s')",message="interval is at least 5s"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// retryInterval after a failure; the interval without it.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="retryInterval is at least 1s"
	// +optional
	RetryInterval *metav1.Duration `json:"retryInterval,omitempty"`

	// timeout is how long a stage may take to become healthy: 15m without it.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="timeout is more than 0s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// suspend starts nothing new and leaves a run where it is.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// serviceAccountName is who reads and writes on the StageSet's behalf; the controller itself without it.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// kubeConfig names the cluster to apply to; the one of the StageSet without it.
	// +optional
	KubeConfig *meta.KubeConfigReference `json:"kubeConfig,omitempty"`

	// dependsOn are StageSets that have to be ready before a run begins.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	DependsOn []Dependency `json:"dependsOn,omitempty"`

	// decryption of encrypted files.
	// +optional
	Decryption *Decryption `json:"decryption,omitempty"`

	// version of the release.
	// +optional
	Version *Version `json:"version,omitempty"`

	// migrations run once when a run crosses their version.
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=name
	// +optional
	Migrations []Migration `json:"migrations,omitempty"`

	// migrationsSourceRef names the source that the migrations are in.
	// +optional
	MigrationsSourceRef *MigrationsSource `json:"migrationsSourceRef,omitempty"`

	// rollbackOnFailure restores the last good revision of every stage when a stage fails.
	// +optional
	RollbackOnFailure bool `json:"rollbackOnFailure,omitempty"`

	// onTimeout says what follows when a stage is not healthy in time: Hold without it.
	// +optional
	OnTimeout OnTimeout `json:"onTimeout,omitempty"`

	// onRollback are actions after a rollback.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	OnRollback []Action `json:"onRollback,omitempty"`

	// adoptFrom are StageSets whose objects this one may take over.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	AdoptFrom []StageSetReference `json:"adoptFrom,omitempty"`

	// pruneGuard holds deletions of many objects and of those with data until they are approved, unless it is
	// "Off", which YAML takes for false without the quotes.
	// +kubebuilder:default=Default
	// +optional
	PruneGuard PruneGuard `json:"pruneGuard,omitempty"`

	// updateWindows are when new revisions may start. Deny wins over Allow.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	UpdateWindows []UpdateWindow `json:"updateWindows,omitempty"`

	// windowScope says whether windows are about new revisions alone, or about every write.
	// +kubebuilder:default=Updates
	// +optional
	WindowScope WindowScope `json:"windowScope,omitempty"`

	// stages in the order in which they are applied.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	// +required
	Stages []Stage `json:"stages"`
}

// Dependency is a StageSet that has to be ready.
type Dependency struct {
	// name of the StageSet.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	// namespace of the StageSet; the own one by default.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// minVersion is the lowest version that the StageSet has to have.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	MinVersion string `json:"minVersion,omitempty"`

	// readyExpr is a CEL expression that has to be true too; dep is the StageSet that is depended on, self is this one.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	ReadyExpr string `json:"readyExpr,omitempty"`
}

// StageSetReference names a StageSet.
type StageSetReference struct {
	// name of the StageSet.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	// namespace of the StageSet; the own one by default.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// Decryption says how encrypted files are decrypted.
type Decryption struct {
	// provider of the encryption.
	// +kubebuilder:validation:Enum=sops
	// +required
	Provider string `json:"provider"`

	// secretRef names a Secret with keys: *.agekey for age, *.asc for PGP.
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`
}

// StageSet rolls artifacts out in ordered stages.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sset
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name has at most 63 characters, because it is the value of a label"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Stage",type=string,JSONPath=`.status.run.stage`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type StageSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec StageSetSpec `json:"spec"`
	// +optional
	Status StageSetStatus `json:"status,omitempty"`
}

// StageSetList is a list of StageSet.
// +kubebuilder:object:root=true
type StageSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []StageSet `json:"items"`
}
