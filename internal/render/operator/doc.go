// Package operator reconciles JsonnetSnippet and JsonnetLibrary objects: it renders what a snippet asks for and publishes the
// result as an ExternalArtifact of the same name.
//
// A snippet's run is the list of steps in snippets.go, one file per verb. Everything a step reads or writes on behalf of a
// snippet goes through a client of its ServiceAccount; the operator's own client has the two kinds and their status alone.
// Nothing here listens on a port, reads a flag or knows which store keeps the artifacts.
package operator

//go:generate sh -c "$(go -C ../../../tools/codegen tool -n controller-gen) rbac:roleName=renderer paths=. output:rbac:dir=../../../config/rbac"
