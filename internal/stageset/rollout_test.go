package stageset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

func TestRollout_AppliesStagesInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("settings", "1"))
	app := r.publish(t, "app", deployment("web", 1), configMap("web", "1"))
	set := stageSet("shop", "base", "app")
	r.Create(t, set)
	r.start(t)
	r.awaitApplied(t, set, "app", app)
	if diff := cmp.Diff(map[string]string{"settings": "1", "web": "1"}, r.configMaps(t)); diff != "" {
		t.Error(diff)
	}
	app = r.publish(t, "app", deployment("web", 1), configMap("other", "2"))
	r.awaitApplied(t, set, "app", app)
	if diff := cmp.Diff(map[string]string{"settings": "1", "other": "2"}, r.configMaps(t)); diff != "" {
		t.Error(diff)
	}
}

// TestBegan_IsWhenTheStageBeforeWasReady, so that a stage's time is its own.
func TestBegan_IsWhenTheStageBeforeWasReady(t *testing.T) {
	at := func(seconds int64) metav1.MicroTime { return metav1.NewMicroTime(time.Unix(seconds, 0)) }
	set := stageSet("shop", "base", "app")
	s := &scope{set: set, run: &stagesv1.Run{StartedAt: at(100)}}
	for i := range set.Spec.Stages {
		s.stages = append(s.stages, &stage{spec: &set.Spec.Stages[i], position: i})
	}
	s.arrangeStatus()
	base := s.statusOf("base")
	for name, c := range map[string]struct {
		phase stagesv1.Phase
		since int64
		here  int64 // when the run came to the second stage in this reconciliation
		want  int64
	}{
		"the stage before took a while":   {stagesv1.PhaseReady, 160, 0, 160},
		"it was ready before the run":     {stagesv1.PhaseReady, 90, 0, 100},
		"it is not ready":                 {stagesv1.PhaseWaiting, 160, 0, 100},
		"the run came to it a moment ago": {stagesv1.PhaseReady, 160, 161, 161},
	} {
		base.Phase, base.Since, s.stages[1].began = c.phase, ptr(at(c.since)), time.Time{}
		if c.here > 0 {
			s.stages[1].began = time.Unix(c.here, 0)
		}
		if got := s.began(s.stages[1]); got.Unix() != c.want {
			t.Errorf("%s: %d, want %d", name, got.Unix(), c.want)
		}
	}
	if got := s.began(s.stages[0]); got.Unix() != 100 {
		t.Errorf("the first stage: %d", got.Unix())
	}
}

// stageSeries remembers of which stages something is shown.
type stageSeries struct {
	silent
	shown map[string]bool
}

func (o *stageSeries) StageReady(_, _, stage string, _ bool) { o.shown[stage] = true }
func (o *stageSeries) ForgetStage(_, _, stage string)        { delete(o.shown, stage) }

// TestObserve_AStageThatIsGoneIsShownNoMore: its last value would stay as long as its StageSet.
func TestObserve_AStageThatIsGoneIsShownNoMore(t *testing.T) {
	seen := &stageSeries{shown: map[string]bool{}}
	c := &stageSets{options: Options{Observer: seen, Now: time.Now}}
	set := stageSet("shop", "new")
	set.Status.Stages = []stagesv1.StageStatus{{Name: "old"}, {Name: "stays"}}
	s := &scope{set: set, before: set.DeepCopy()}
	c.observe(s)
	set.Status.Stages = []stagesv1.StageStatus{{Name: "new"}, {Name: "stays"}}
	c.observe(s)
	if diff := cmp.Diff(map[string]bool{"new": true, "stays": true}, seen.shown); diff != "" {
		t.Error(diff)
	}
}
