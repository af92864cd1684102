package stageset

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// TestServed_ObjectsOutliveTheirVersion: what was applied in a version that is served no more is not taken for gone. A few
// objects are read one by one, many by lists.
func TestServed_ObjectsOutliveTheirVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		things   int
		teardown bool
	}{
		"pruned, few": {1, false}, "pruned, many": {12, false}, "torn down, few": {1, true}, "torn down, many": {12, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			crd := r.twoVersions(t)
			group := r.Namespace + ".example.com"
			manifests := []string{configMap("stays", "1")}
			for i := range test.things {
				manifests = append(manifests, fmt.Sprintf(`{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}}`, group, i))
			}
			r.publish(t, "web", manifests...)
			set := stageSet("shop", "web")
			set.Spec.PruneGuard = stagesv1.PruneGuardOff
			r.start(t)
			r.Create(t, set)
			r.awaitReason(t, set, stagesv1.ReasonSucceeded)
			if got := r.things(t, "v2"); got != test.things {
				t.Fatalf("%d things were applied, want %d", got, test.things)
			}
			edit(t, r, crd, func(crd *unstructured.Unstructured) {
				versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
				versions[0].(map[string]any)["served"] = false
				_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
			})
			kubetest.Eventually(t, func(context.Context) error {
				if r.things(t, "v1") >= 0 {
					return errors.New("v1 is still served")
				}
				return nil
			})
			if test.teardown {
				if err := r.Client.Delete(t.Context(), set); err != nil {
					t.Fatal(err)
				}
				kubetest.Eventually(t, func(ctx context.Context) error {
					if err := r.Client.Get(ctx, client.ObjectKeyFromObject(set), set); err == nil {
						return fmt.Errorf("it is still there: %+v", set.Status.Conditions)
					}
					return nil
				})
			} else {
				r.awaitApplied(t, set, "web", r.publish(t, "web", configMap("stays", "2")))
			}
			if left := r.things(t, "v2"); left != 0 {
				t.Errorf("%d things are left, which nobody knows any more", left)
			}
		})
	}
}

// twoVersions defines a kind Thing in a group of the test's own.
func (r *rig) twoVersions(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	const schema = `schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: "things.%[1]s"}, spec: {group: %[1]q, scope: Namespaced, names: {kind: Thing, plural: things},
		versions: [{name: v1, served: true, storage: false, %[2]s}, {name: v2, served: true, storage: true, %[2]s}]}}`,
		r.Namespace+".example.com", schema), &crd.Object); err != nil {
		t.Fatal(err)
	}
	if err := r.Client.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(r.Client.Delete(context.Background(), crd)); err != nil {
			t.Error(err)
		}
	})
	kubetest.Eventually(t, func(context.Context) error {
		if r.things(t, "v1") < 0 || r.things(t, "v2") < 0 {
			return errors.New("the kind is not served yet")
		}
		return nil
	})
	return crd
}

// things is how many there are, or less than none where the version is not served.
func (r *rig) things(t *testing.T, version string) int {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(r.Namespace + ".example.com/" + version)
	list.SetKind("ThingList")
	if err := r.Client.List(t.Context(), list, client.InNamespace(r.Namespace)); err != nil {
		return -1
	}
	return len(list.Items)
}
