package stageset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

func TestPrune_GuardHoldsUntilApproved(t *testing.T) {
	t.Parallel()
	claim := "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n" +
		"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: none}"
	many := numbered("many", 30)
	fewGone := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("many-%d", i))
		}
		return names
	}
	for name, test := range map[string]struct {
		before, after []string
		held          int
		listed        string
		gone          []string
	}{
		"an empty render":     {[]string{configMap("a", "1"), configMap("b", "1")}, []string{"# nothing"}, 2, "/a:", []string{"a", "b"}},
		"a shrink by 90 %":    {many, many[27:], 27, "/many-0:", fewGone(27)},
		"a claim of a volume": {[]string{claim, configMap("a", "1"), configMap("b", "1")}, []string{configMap("a", "1")}, 1, "PersistentVolumeClaim ", []string{"b"}},
	} {
		for _, off := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, off %v", name, off), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.publish(t, "base", test.before...)
				set := stageSet("shop", "base")
				set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{DisableWait: true} // nothing binds the claim
				if off {
					set.Spec.PruneGuard = stagesv1.PruneGuardOff
				}
				r.start(t)
				before := r.settle(t, set)
				bystander := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bystander"}}
				r.Create(t, bystander)
				before[bystander.Name] = bystander.UID
				r.publish(t, "base", test.after...)
				if !off {
					r.wantHeld(t, set, before, test.held, test.listed, test.gone)
				}
				r.awaitSettled(t, set)
				r.wantGone(t, before, test.gone...)
			})
		}
	}
}

// wantHeld waits until deletions are held, and approves them as the message says.
func (r *rig) wantHeld(t *testing.T, set *stagesv1.StageSet, before census, held int, listed string, gone []string) {
	t.Helper()
	message := r.awaitReason(t, set, stagesv1.ReasonPruneHeld)
	stage := set.Status.Stages[0]
	if len(stage.Held) != held || stage.Phase != stagesv1.PhaseHeld || !strings.Contains(strings.Join(stage.Held, " "), listed) {
		t.Errorf("held are %v in phase %s, want %d", stage.Held, stage.Phase, held)
	}
	command := fmt.Sprintf("kubectl -n %s annotate stageset %s --overwrite %s=%s",
		r.Namespace, set.Name, stagesv1.ApprovePruneAnnotation, set.Status.Run.ID)
	if !strings.Contains(message, command) {
		t.Errorf("message %q, want one with %q", message, command)
	}
	if held > 1 { // one that is held alone does not hold the others
		r.wantGone(t, before)
	}
	edit(t, r, set, func(set *stagesv1.StageSet) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, stagesv1.ApprovePruneAnnotation, "another run")
	})
	r.request(t, set)
	r.awaitReason(t, set, stagesv1.ReasonPruneHeld)
	if !slices.ContainsFunc(gone, func(name string) bool { _, ok := r.census(t)[name]; return ok }) && held > 1 {
		t.Errorf("the approval of another run has deleted %v", gone)
	}
	edit(t, r, set, func(set *stagesv1.StageSet) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, stagesv1.ApprovePruneAnnotation, set.Status.Run.ID)
	})
}

// TestPrune_AnApprovalEndsWithItsRun: what was approved once comes again, when there are other objects to lose.
func TestPrune_AnApprovalEndsWithItsRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	set := stageSet("shop", "base")
	r.publish(t, "base", configMap("a", "1"))
	r.settle(t, set)
	r.publish(t, "base", "# nothing")
	r.awaitReason(t, set, stagesv1.ReasonPruneHeld)
	run := set.Status.Run.ID
	edit(t, r, set, func(set *stagesv1.StageSet) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, stagesv1.ApprovePruneAnnotation, run)
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, "example.com/note", "stays")
	})
	r.awaitSettled(t, set)
	if diff := cmp.Diff(map[string]string{"example.com/note": "stays"}, set.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	r.publish(t, "base", configMap("a", "1"), configMap("new", "1"))
	r.awaitSettled(t, set)
	before := r.census(t)
	r.publish(t, "base", "# nothing")
	r.awaitReason(t, set, stagesv1.ReasonPruneHeld)
	if set.Status.Run.ID != run {
		t.Errorf("the run is %s, and was %s when it was approved: this shows nothing", set.Status.Run.ID, run)
	}
	r.wantGone(t, before)
}

// TestPrune_WhatHoldsOtherObjectsIsHeld: with a Namespace and a definition goes all that is in them.
func TestPrune_WhatHoldsOtherObjectsIsHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	// Both are unique in the control plane, as the namespace of the test is.
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace[:min(len(r.Namespace), 58)] + "-own"}}
	group := space.Name + ".example.com"
	definition := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "things." + group}}
	definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	r.publish(t, "base", configMap("a", "1"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+space.Name+"}",
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "+definition.Name+"}\nspec: {group: "+group+
			", scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}")
	t.Cleanup(func() {
		for _, object := range []client.Object{space, definition} {
			if err := client.IgnoreNotFound(r.Client.Delete(context.Background(), object)); err != nil {
				t.Error(err)
			}
		}
	})
	r.start(t)
	set := stageSet("shop", "base")
	before := r.settle(t, set)
	inside := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inside", Namespace: space.Name}}
	r.Create(t, inside)
	r.publish(t, "base", configMap("a", "1"))
	message := r.awaitReason(t, set, stagesv1.ReasonPruneHeld)
	want := []string{
		"Namespace " + space.Name + ": deleting it deletes what it holds",
		"CustomResourceDefinition " + definition.Name + ": deleting it deletes what it holds",
	}
	if diff := cmp.Diff(want, set.Status.Stages[0].Held); diff != "" || !strings.Contains(message, "2 deletions are held") {
		t.Errorf("held: %s; the message is %q", diff, message)
	}
	r.request(t, set)
	r.awaitReason(t, set, stagesv1.ReasonPruneHeld)
	for _, object := range []client.Object{space, definition, inside} {
		if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || object.GetDeletionTimestamp() != nil {
			t.Fatalf("%s is gone before it was approved: %v", object.GetName(), err)
		}
	}
	edit(t, r, set, func(set *stagesv1.StageSet) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, stagesv1.ApprovePruneAnnotation, set.Status.Run.ID)
	})
	kubetest.Eventually(t, func(ctx context.Context) error { // a Namespace takes its time, which is not the controller's
		for _, object := range []client.Object{space, definition} {
			err := r.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
			if client.IgnoreNotFound(err) != nil {
				return err
			}
			if err == nil && object.GetDeletionTimestamp() == nil {
				return fmt.Errorf("%s is not deleted", object.GetName())
			}
		}
		return nil
	})
	r.wantGone(t, before)
}
