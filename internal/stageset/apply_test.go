package stageset

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// TestApply_KindThatNeverComes: the definition is kept as it is by a policy, so that a version that it would serve is never
// served. What is waited for is as it should be, and still nothing can be applied.
func TestApply_KindThatNeverComes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	group := r.Namespace + ".example.com"
	definition := func(scope, versions string) string {
		return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "things.%[1]s"},
			spec: {group: %[1]q, scope: %[2]s, names: {kind: Thing, plural: things}, versions: [%[3]s]}}`, group, scope, versions)
	}
	const schema = `schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`
	const first = `{name: v1, served: true, storage: true, ` + schema + `}`
	existing := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(definition("Cluster", first)), &existing.Object); err != nil {
		t.Fatal(err)
	}
	if err := r.Client.Create(t.Context(), existing); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(r.Client.Delete(context.Background(), existing)); err != nil {
			t.Error(err)
		}
	})
	r.publish(t, "kinds", definition("Namespaced", first+`, {name: v2, served: true, storage: false, `+schema+`}`),
		fmt.Sprintf(`{apiVersion: %s/v2, kind: Thing, metadata: {name: thing}}`, group))
	set := stageSet("kinds", "kinds")
	set.Spec.Timeout = &metav1.Duration{Duration: 2 * time.Second}
	set.Spec.Stages[0].ConflictPolicy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictKeepExisting}
	r.start(t)
	r.Create(t, set)
	r.awaitMessage(t, set, stagesv1.ReasonStageFailed, "not applied within 2s")
}
