package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Output is what a snippet's artifact holds.
// +kubebuilder:validation:Enum=rendered;source
type Output string

// The outputs.
const (
	// OutputRendered is one file, rendered.json, with the result.
	OutputRendered Output = "rendered"
	// OutputSource is the snippet's files as they are.
	OutputSource Output = "source"
)

// JsonnetSnippetSpec is what to render and how.
// +kubebuilder:validation:XValidation:rule="has(self.files) != has(self.sourceRef)",message="exactly one of files and sourceRef is needed"
// +kubebuilder:validation:XValidation:rule="!has(self.files) || self.entryFile in self.files || (has(self.output) && self.output == 'source')",message="entryFile is not one of files"
type JsonnetSnippetSpec struct {
	// serviceAccountName is who reads and writes on the snippet's behalf; the operator's --default-service-account without it.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// files of the snippet by their relative paths.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, !name.startsWith('/') && !name.split('/').exists(p, p == '..' || p == '.' || p == ''))",message="names are relative paths without .., . and empty parts"
	// +optional
	Files map[string]string `json:"files,omitempty"`

	// sourceRef names the Flux source with the snippet's files.
	// +optional
	SourceRef *SourceReference `json:"sourceRef,omitempty"`

	// entryFile is what is evaluated.
	// +kubebuilder:default="main.jsonnet"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.split('/').exists(p, p == '..')",message="entryFile is relative and has no .."
	// +optional
	EntryFile string `json:"entryFile,omitempty"`

	// libraries that the snippet may import, the last one winning.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, (has(a.importPath) && a.importPath != '' ? a.importPath : a.name) == (has(b.importPath) && b.importPath != '' ? b.importPath : b.name)))",message="import paths are unique; set importPath where two libraries have one name"
	// +optional
	Libraries []LibraryReference `json:"libraries,omitempty"`

	// externalVariables are what std.extVar returns.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	ExternalVariables []Variable `json:"externalVariables,omitempty"`

	// tlas are the top-level arguments.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	TLAs []Variable `json:"tlas,omitempty"`

	// output is what the artifact holds: the result, or the files as they are.
	// +kubebuilder:default=rendered
	// +optional
	Output Output `json:"output,omitempty"`

	// interval at which what cannot be watched is looked at again, from 30s to 24h. Without one, changes alone cause it.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('24h')",message="interval is from 30s to 24h"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// suspend stops rendering; the artifact stays as it is.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// history is how many revisions are kept.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +optional
	History int32 `json:"history,omitempty"`
}

// LibraryReference names a library and how it is imported.
type LibraryReference struct {
	// kind of the library.
	// +kubebuilder:default=JsonnetLibrary
	// +kubebuilder:validation:Enum=JsonnetLibrary
	// +optional
	Kind string `json:"kind,omitempty"`

	// name of the library.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// namespace of the library; the snippet's own by default.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// importPath is what imports of the library begin with; its name by default.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.split('/').exists(p, p == '..')",message="importPath is relative and has no .."
	// +optional
	ImportPath string `json:"importPath,omitempty"`
}

// Variable is an external variable or a top-level argument.
// +kubebuilder:validation:XValidation:rule="[has(self.value), has(self.code), has(self.valueFrom)].filter(x, x).size() == 1",message="exactly one of value, code and valueFrom is needed"
type Variable struct {
	// name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// value is a string.
	// +optional
	Value *string `json:"value,omitempty"`

	// code is a Jsonnet expression.
	// +kubebuilder:validation:MinLength=1
	// +optional
	Code *string `json:"code,omitempty"`

	// valueFrom reads a string as the snippet's ServiceAccount.
	// +optional
	ValueFrom *VariableSource `json:"valueFrom,omitempty"`
}

// VariableSource names a key of a ConfigMap or a Secret in the snippet's namespace.
// +kubebuilder:validation:XValidation:rule="has(self.configMapKeyRef) != has(self.secretKeyRef)",message="exactly one of configMapKeyRef and secretKeyRef is needed"
type VariableSource struct {
	// configMapKeyRef names a key of a ConfigMap.
	// +optional
	ConfigMapKeyRef *KeyReference `json:"configMapKeyRef,omitempty"`

	// secretKeyRef names a key of a Secret.
	// +optional
	SecretKeyRef *KeyReference `json:"secretKeyRef,omitempty"`
}

// KeyReference names a key of an object in the same namespace.
type KeyReference struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// key in the object's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	// +required
	Key string `json:"key"`
}

// JsonnetSnippetStatus is what was published last.
type JsonnetSnippetStatus struct {
	// observedGeneration is the generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the snippet: Ready.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// revision of the published artifact: sha256 and the digest of its content.
	// +optional
	Revision string `json:"revision,omitempty"`

	// artifactURL is where the published artifact can be fetched.
	// +optional
	ArtifactURL string `json:"artifactURL,omitempty"`

	// lastSyncTime is when the artifact was published.
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`

	// lastHandledReconcileAt is the value of the annotation reconcile.fluxcd.io/requestedAt that was handled last.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// fingerprint of the inputs that the published artifact was made from: while it is the same, nothing is rendered. Values of
	// Secrets are in it by the version of their object alone.
	// +optional
	Fingerprint string `json:"fingerprint,omitempty"`

	// history holds the revisions that are kept, the newest first.
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +optional
	History []PublishedRevision `json:"history,omitempty"`
}

// PublishedRevision is an artifact that was published.
type PublishedRevision struct {
	// revision of the artifact's content.
	Revision string `json:"revision"`
	// digest of the tarball.
	Digest string `json:"digest"`
	// time of its publication.
	Time metav1.Time `json:"time"`
}

// JsonnetSnippet is Jsonnet that is rendered and published as an ExternalArtifact of the same name.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=jsnip
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type JsonnetSnippet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec JsonnetSnippetSpec `json:"spec"`
	// +optional
	Status JsonnetSnippetStatus `json:"status,omitempty"`
}

// JsonnetSnippetList is a list of JsonnetSnippet.
// +kubebuilder:object:root=true
type JsonnetSnippetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []JsonnetSnippet `json:"items"`
}
