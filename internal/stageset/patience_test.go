package stageset

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// TestPreempt_AnEditOfTheTimesTriesAgain: a run that has failed would otherwise wait for as long as the old spec says.
func TestPreempt_AnEditOfTheTimesTriesAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"))
	set := stageSet("shop", "base")
	set.Spec.Timeout = &metav1.Duration{Duration: time.Second}
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour}
	r.Create(t, set)
	r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonStageFailed)
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.RetryInterval = &metav1.Duration{Duration: 2 * time.Second} })
	r.Await(t, set, func() error {
		if run := set.Status.Run; run == nil || run.Deadline == nil || run.Deadline.After(time.Now().Add(time.Minute)) {
			return fmt.Errorf("it is tried again much later: %+v", run)
		}
		return nil
	})
}

// supersede publishes until the run that waits in the stage "base" is the one that is let through.
func (r *rig) supersede(t *testing.T, set *stagesv1.StageSet, last ...string) {
	t.Helper()
	for i := range patienceForNewer {
		r.awaitWaiting(t, set, "base")
		manifests := []string{stuck("web"), configMap("n", fmt.Sprint(i))}
		if i == patienceForNewer-1 && len(last) > 0 {
			manifests = last
		}
		r.publish(t, "base", manifests...)
	}
	r.Await(t, set, func() error {
		if run := set.Status.Run; run == nil || run.Superseded < patienceForNewer {
			return fmt.Errorf("the run is %+v", run)
		}
		return nil
	})
}

// TestPreempt_ARunThatIsLetThroughAndFailsGivesWay: what is newer may be its remedy, and nobody has to ask for it.
func TestPreempt_ARunThatIsLetThroughAndFailsGivesWay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last          []string // of the run that is let through
		reason, words string   // with which it fails
	}{
		"it is not healthy in time": {reason: stagesv1.ReasonStageProgressing, words: "newer revisions follow"},
		"with what is no end of a run otherwise": {
			last: []string{
				deployment("web", 0), configMap("n", "last"),
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost, namespace: no-such-namespace}",
			},
			reason: stagesv1.ReasonApplyFailed, words: "no-such-namespace does not exist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "base", stuck("web"))
			set := stageSet("shop", "base")
			set.Spec.Timeout = &metav1.Duration{Duration: 10 * time.Second}
			r.Create(t, set)
			r.start(t)
			r.supersede(t, set, test.last...)
			if test.last != nil {
				r.awaitMessage(t, set, test.reason, test.words)
			}
			r.publish(t, "base", deployment("web", 0), configMap("n", "remedy"))
			if test.last == nil {
				r.awaitMessage(t, set, test.reason, test.words)
			}
			r.awaitSettled(t, set) // long before the retry interval
		})
	}
}

// TestPreempt_TheLastStepGivesWay: what a removed stage has left may never be gone, and all stages have had their turn.
func TestPreempt_TheLastStepGivesWay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("n", "0"))
	r.publish(t, "gone", held("held"))
	r.start(t)
	set := stageSet("shop", "base", "gone")
	r.settle(t, set)
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Stages = set.Spec.Stages[:1] })
	for i := range patienceForNewer + 2 {
		r.publish(t, "base", configMap("n", fmt.Sprint(i+1)))
		r.Await(t, set, func() error {
			if run := set.Status.Run; run == nil || run.Step != stagesv1.StepSettle || run.Revisions[0].Digest != r.digest("base") {
				return fmt.Errorf("the run is %+v, want revision %d", run, i)
			}
			return nil
		})
	}
	r.letGo(t, "held")
	r.awaitSettled(t, set)
}

// TestChoose_AnEditedStatusIsNotTrusted: revisions are those of the stages that there are.
func TestChoose_AnEditedStatusIsNotTrusted(t *testing.T) {
	revision := func(stage, digest string) stagesv1.StageRevision {
		return stagesv1.StageRevision{Stage: stage, Digest: digest}
	}
	want := []stagesv1.StageRevision{revision("one", "new"), revision("two", "new")}
	for name, had := range map[string][]stagesv1.StageRevision{
		"fewer": want[:1], "none": nil, "others": {revision("one", "old"), revision("three", "old")},
	} {
		t.Run(name, func(t *testing.T) {
			p := standing{
				wanted: wanted{spec: "spec", revisions: want},
				run:    &stagesv1.Run{Spec: "spec", Superseded: patienceForNewer, Revisions: had},
			}
			if got := p.choose(); got != begin {
				t.Errorf("%s, want %s", got, begin)
			}
		})
	}
}
