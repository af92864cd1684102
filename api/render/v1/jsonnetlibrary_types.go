package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JsonnetLibrarySpec says where a library's files are.
// +kubebuilder:validation:XValidation:rule="has(self.files) != has(self.sourceRef)",message="exactly one of files and sourceRef is needed"
type JsonnetLibrarySpec struct {
	// files of the library by their relative paths.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, !name.startsWith('/') && !name.split('/').exists(p, p == '..' || p == '.' || p == ''))",message="names are relative paths without .., . and empty parts"
	// +optional
	Files map[string]string `json:"files,omitempty"`

	// sourceRef names the Flux source with the library's files. It is read as the ServiceAccount of the snippet that uses the
	// library.
	// +optional
	SourceRef *SourceReference `json:"sourceRef,omitempty"`
}

// JsonnetLibraryStatus says whether the library can be used.
type JsonnetLibraryStatus struct {
	// observedGeneration is the generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the library: Ready.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// JsonnetLibrary is Jsonnet that snippets import.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=jlib
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type JsonnetLibrary struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec JsonnetLibrarySpec `json:"spec"`
	// +optional
	Status JsonnetLibraryStatus `json:"status,omitempty"`
}

// JsonnetLibraryList is a list of JsonnetLibrary.
// +kubebuilder:object:root=true
type JsonnetLibraryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []JsonnetLibrary `json:"items"`
}
