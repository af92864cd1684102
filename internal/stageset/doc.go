// Package stageset is the controller of StageSets: it takes what Flux sources publish through ordered stages, each of which
// has to be healthy before the next one begins. The list of steps is in controller.go, with a file per verb; where a run
// is stands in the status, so that another process can go on from it.
//
// How objects are built, applied, recorded and found healthy is the business of the packages below internal/stage. No wait
// holds a worker: a step that has to wait says for what and returns.
package stageset

//go:generate sh -c "$(go -C ../../tools/codegen tool -n controller-gen) rbac:roleName=stageset-controller,fileName=stageset-controller-role.yaml paths=. output:rbac:dir=../../config/rbac"
