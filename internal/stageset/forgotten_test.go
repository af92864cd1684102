package stageset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// forgetful runs the controller, which ends when it is about to write the status of a StageSet for the first time.
func (r *rig) forgetful(t testing.TB, set *stagesv1.StageSet) {
	t.Helper()
	cut := make(chan struct{})
	ended := false
	r.wire.setStop(func(what string) error {
		r.wire.mu.Lock()
		defer r.wire.mu.Unlock()
		if !ended && strings.HasSuffix(what, "/stagesets/"+set.Name+"/status") {
			ended = true
			close(cut)
		}
		if ended {
			return errCut
		}
		return nil
	})
	stop := r.start(t)
	select {
	case <-cut:
	case <-t.Context().Done():
		t.Fatal("the status was not to be written")
	}
	stop()
	r.wire.setStop(nil)
}

// TestForget_ReleaseThatIsTakenBack: the process ends before it has written in the status that it has begun with a release, and
// the one before is published again. Everything is as that has it, also where no fingerprint and no number of objects tells.
func TestForget_ReleaseThatIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, next := range map[string][]string{
		"other values":  {configMap("a", "2"), configMap("b", "2")},
		"other objects": {configMap("a", "1"), configMap("c", "1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			former := func() { r.publish(t, "one", configMap("a", "1"), configMap("b", "1")) }
			former()
			set := stageSet("shop", "one")
			stop := r.start(t)
			r.settle(t, set)
			stop()
			r.publish(t, "one", next...)
			r.forgetful(t, set)
			former()
			r.finish(t, set)
			if diff := cmp.Diff(map[string]string{"a": "1", "b": "1"}, r.configMaps(t)); diff != "" {
				t.Errorf("ConfigMaps: %s", diff)
			}
			if diff := cmp.Diff([]string{"one: a__ConfigMap", "one: b__ConfigMap"}, r.recorded(t, set)); diff != "" {
				t.Errorf("inventories: %s", diff)
			}
		})
	}
}

// TestForget_RunThatIsTakenBack: the same with a run that has come to its second stage, and is replaced.
func TestForget_RunThatIsTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "two", configMap("b", "1"))
	former := func() { r.publish(t, "one", configMap("a", "1")) }
	former()
	set := stageSet("shop", "one", "two")
	permit := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "permit", Namespace: r.Namespace}}
	set.Spec.Stages[1].ReadyChecks = &stagesv1.ReadyChecks{Checks: []stagesv1.ObjectReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: permit.Name},
	}}
	r.Create(t, set)
	stop := r.start(t)
	r.awaitWaiting(t, set, "two")
	stop()
	r.publish(t, "one", configMap("a", "2"))
	r.forgetful(t, set)
	former()
	r.Create(t, permit)
	r.finish(t, set)
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "1"}, r.configMaps(t)); diff != "" {
		t.Errorf("ConfigMaps: %s", diff)
	}
}

// TestMove_ArtifactOfARun: the same artifact is published at another address while a run waits, and a process takes over that has
// not unpacked it.
func TestMove_ArtifactOfARun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	former := r.publish(t, "one", configMap("a", "1"))
	set := stageSet("shop", "one")
	permit := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "permit", Namespace: r.Namespace}}
	set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{Checks: []stagesv1.ObjectReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: permit.Name},
	}}
	r.Create(t, set)
	stop := r.start(t)
	r.awaitWaiting(t, set, "one")
	stop()
	r.archives.Drop(former.Status.Artifact)
	r.archives = kubetest.NewArchives(t)
	r.publish(t, "one", configMap("a", "1"))
	r.options.Artifacts = load.New(load.Options{Fetcher: artifact.NewFetcher(kubetest.FastFetches())}, load.AsIs)
	r.Create(t, permit)
	r.start(t)
	r.awaitSettled(t, set)
}

// TestForget_StageSetThatWentMeanwhile: somebody takes the finalizer of a StageSet while no controller runs. Its inventories would
// hold their namespace for ever.
func TestForget_StageSetThatWentMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "one", configMap("a", "1"))
	set := stageSet("shop", "one")
	stop := r.start(t)
	r.settle(t, set)
	stop()
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Finalizers = nil })
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	kubetest.Eventually(t, func(context.Context) error {
		if left := r.recorded(t, set); len(left) > 0 {
			return fmt.Errorf("recorded are %v", left)
		}
		return nil
	})
	if diff := cmp.Diff(map[string]string{"a": "1"}, r.configMaps(t)); diff != "" {
		t.Errorf("ConfigMaps: %s", diff)
	}
}
