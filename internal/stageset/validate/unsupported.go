package validate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// Unsupported returns the fields that are valid and that this release does not act on. A StageSet that has one is not
// rolled out, because it would leave out what its author relies on.
func Unsupported(set *stagesv1.StageSet) field.ErrorList {
	var found field.ErrorList
	refuse := func(used bool, at *field.Path, what string) {
		if used {
			found = append(found, field.Forbidden(at, "this release does not "+what+" yet"))
		}
	}
	const (
		actions  = "run actions"
		rollback = "roll back"
	)
	spec, at := &set.Spec, field.NewPath("spec")
	for i, d := range spec.DependsOn {
		refuse(d.MinVersion != "", at.Child("dependsOn").Index(i).Child("minVersion"), "compare versions")
	}
	refuse(spec.Decryption != nil, at.Child("decryption"), "decrypt files")
	refuse(spec.Version != nil, at.Child("version"), "read versions")
	refuse(len(spec.Migrations) > 0, at.Child("migrations"), "run migrations")
	refuse(spec.MigrationsSourceRef != nil, at.Child("migrationsSourceRef"), "run migrations")
	refuse(spec.RollbackOnFailure, at.Child("rollbackOnFailure"), rollback)
	refuse(spec.OnTimeout == stagesv1.OnTimeoutRollback, at.Child("onTimeout"), rollback)
	refuse(len(spec.OnRollback) > 0, at.Child("onRollback"), rollback)
	refuse(len(spec.UpdateWindows) > 0, at.Child("updateWindows"), "keep update windows")
	for i := range spec.Stages {
		s, here := &spec.Stages[i], at.Child("stages").Index(i)
		refuse(s.OnTimeout == stagesv1.OnTimeoutRollback, here.Child("onTimeout"), rollback)
		if a := s.Actions; a != nil {
			refuse(len(a.Pre) > 0, here.Child("actions", "pre"), actions)
			refuse(len(a.Post) > 0, here.Child("actions", "post"), actions)
			refuse(len(a.OnFailure) > 0, here.Child("actions", "onFailure"), actions)
		}
	}
	return found
}
