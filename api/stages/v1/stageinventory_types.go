package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StageInventorySpec is a part of what a stage has applied.
type StageInventorySpec struct {
	// stagePosition of the stage in its StageSet, for teardown in reverse when the spec is no help.
	// +kubebuilder:validation:Minimum=0
	// +optional
	StagePosition int32 `json:"stagePosition"`

	// entries are the objects.
	// +kubebuilder:validation:MaxItems=100000
	// +listType=atomic
	// +optional
	Entries []InventoryEntry `json:"entries,omitempty"`
}

// InventoryEntry is an object that a stage applies or has applied.
type InventoryEntry struct {
	// id of the object: namespace_name_group_kind.
	// +kubebuilder:validation:MaxLength=1024
	// +required
	ID string `json:"id"`
	// v is the version of the object's API.
	// +kubebuilder:validation:MaxLength=63
	// +required
	V string `json:"v"`
	// uid of the object; empty until it was seen.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	UID string `json:"uid,omitempty"`
	// fp is a fingerprint of the fields that are ours and of what was applied; empty where the object has to be compared.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	FP string `json:"fp,omitempty"`
}

// StageInventory holds a part of what a stage of a StageSet has applied. The controller writes it; nobody else needs to.
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=sinv
// +kubebuilder:printcolumn:name="StageSet",type=string,JSONPath=`.metadata.labels['stages\.stagewright\.dev/name']`
// +kubebuilder:printcolumn:name="Stage",type=string,JSONPath=`.metadata.labels['stages\.stagewright\.dev/stage']`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type StageInventory struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec StageInventorySpec `json:"spec,omitempty"`
}

// StageInventoryList is a list of StageInventory.
// +kubebuilder:object:root=true
type StageInventoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []StageInventory `json:"items"`
}
