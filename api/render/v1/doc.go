// Package v1 holds the renderer's kinds: JsonnetSnippet and JsonnetLibrary.
//
// The types are the API: their comments become the descriptions in the custom resource definitions, and their markers the
// rules that the API server enforces. Nothing here knows how a snippet is rendered.
//
// +kubebuilder:object:generate=true
// +groupName=render.stagewright.dev
package v1

//go:generate sh -c "$(go -C ../../../tools/codegen tool -n controller-gen) object crd paths=. output:crd:dir=../../../config/crd"
