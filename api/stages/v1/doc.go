// Package v1 holds the kinds of the stage controller: StageSet, StageInventory and ImageVerificationPolicy.
//
// The types are the API: their comments become the descriptions in the custom resource definitions, and their markers the
// rules that the API server enforces. Nothing here knows how a stage is applied.
//
// +kubebuilder:object:generate=true
// +groupName=stages.stagewright.dev
package v1

//go:generate sh -c "$(go -C ../../../tools/codegen tool -n controller-gen) object crd paths=. output:crd:dir=../../../config/crd"
