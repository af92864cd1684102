// Package stageset reconciles StageSets.
package stageset

//go:generate sh -c "$(go -C ../../tools/codegen tool -n controller-gen) rbac:roleName=stageset-controller,fileName=stageset-controller-role.yaml paths=. output:rbac:dir=../../config/rbac"
