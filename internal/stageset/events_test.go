package stageset

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

func TestEvents_TellWhatHasHappened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	r.publish(t, "base", configMap("stays", "1"), configMap("goes", "1"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: released, annotations: {"+stagesv1.PruneAnnotation+": disabled}}")
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	base := r.publish(t, "base", configMap("stays", "1"))
	r.awaitApplied(t, set, "base", base)
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Suspend = true })
	r.awaitReason(t, set, stagesv1.ReasonSuspended)
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, set)
	for reason, words := range map[string]string{
		stagesv1.EventStageReady:  "Stage base is applied and healthy at main@",
		stagesv1.EventPruned:      "Stage base: 1 objects were deleted",
		stagesv1.EventReleased:    "released",
		stagesv1.EventObjectsLeft: "its 1 objects stay",
	} {
		if note := r.awaitEvent(t, set, corev1.EventTypeNormal, reason); !strings.Contains(note, words) {
			t.Errorf("%s: the note is %q, want %q in it", reason, note, words)
		}
	}
	if _, ok := r.configMaps(t)["stays"]; !ok {
		t.Error("what a suspended StageSet had was deleted with it")
	}
}

func TestEvents_ATeardownThatIsForcedNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.MaxTeardownWait = time.Second })
	r.start(t)
	r.publish(t, "base", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: slow, finalizers: [example.com/hold]}")
	r.letGoAtTheEnd(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slow", Namespace: r.Namespace}})
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, set)
	if note := r.awaitEvent(t, set, corev1.EventTypeWarning, stagesv1.EventTeardownForced); !strings.Contains(note, "/slow") {
		t.Errorf("the note is %q", note)
	}
}

// TestEvents_EachStageHasItsOwn: several are ready in one reconciliation, and several leave objects in it.
func TestEvents_EachStageHasItsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var stages []string
	for _, name := range []string{"s0", "s1", "s2"} {
		r.publish(t, name, append(numbered(name, 10), configMap(name, "1"))...)
		stages = append(stages, name)
	}
	r.start(t)
	set := stageSet("shop", stages...)
	for i := range set.Spec.Stages {
		set.Spec.Stages[i].Prune = ptr(false)
	}
	r.settle(t, set)
	r.together(t, set, func() {
		for _, name := range stages {
			r.publish(t, name, configMap(name, "2"))
		}
	})
	r.awaitSettled(t, set)
	kubetest.Eventually(t, func(ctx context.Context) error {
		var events eventsv1.EventList
		if err := r.Client.List(ctx, &events, client.InNamespace(r.Namespace)); err != nil {
			return err
		}
		var notes []string
		for _, e := range events.Items {
			notes = append(notes, e.Note)
		}
		told := strings.Join(notes, "\n")
		for _, name := range stages {
			for _, want := range []string{"Stage " + name + " is applied and healthy", "/" + name + "-9 stays", "10 objects stay and are no longer managed"} {
				if !strings.Contains(told, want) {
					return fmt.Errorf("the events are %s, want %q", told, want)
				}
			}
		}
		return nil
	})
}
