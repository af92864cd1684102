package apply_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/google/go-cmp/cmp"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

func TestApply_ObjectOfAnotherStageSet(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	s.apply(t, object)
	other := s.sibling("rival", "web")
	theirs := s.configMap(t, "one", "2")

	t.Log("is not taken, and nothing else is sent")
	s.requests.take()
	_, err := other.try(t, theirs, s.configMap(t, "two", "2"))
	conflict := wantError[*apply.ConflictError](t, err)
	if !strings.Contains(conflict.Error(), "StageSet "+s.Namespace+"/shop") || !strings.Contains(conflict.Error(), "adoptFrom") {
		t.Errorf("error %q does not say whose it is and what to do", conflict)
	}
	if sent := s.requests.take()["PATCH"]; sent != 0 {
		t.Errorf("%d objects were sent", sent)
	}

	t.Log("is taken with consent, and the old owner does not take it back")
	other.adopt = []types.NamespacedName{{Namespace: s.Namespace, Name: "shop"}}
	wantChanges(t, other.apply(t, theirs), map[string]string{"one": "configured"})
	if got := s.read(t, object).GetLabels()[stagesv1.NameLabel]; got != "rival" {
		t.Errorf("the owner is %q", got)
	}
	s.others = []types.NamespacedName{{Namespace: s.Namespace, Name: "rival"}}
	_, err = s.try(t, object)
	wantError[*apply.ConflictError](t, err)
	wantChanges(t, other.apply(t, theirs), map[string]string{"one": "unchanged"})
}

func TestApply_ObjectOfAStageSetThatIsGoneIsTaken(t *testing.T) {
	s := newSite(t)
	s.apply(t, s.configMap(t, "one", "1"))
	other := s.sibling("rival", "web")
	other.others = nil
	wantChanges(t, other.apply(t, s.configMap(t, "one", "2")), map[string]string{"one": "configured"})
}

func TestApply_ObjectOfNobodyIsTaken(t *testing.T) {
	s := newSite(t)
	s.Create(t, s.configMap(t, "one", "0"))
	wantChanges(t, s.apply(t, s.configMap(t, "one", "1")), map[string]string{"one": "configured"})
	wantChanges(t, s.apply(t, s.configMap(t, "one", "1")), map[string]string{"one": "unchanged"})
}

// TestApply_OwnerThatChangesMeanwhile: what the survey showed is old when the object is sent.
func TestApply_OwnerThatChangesMeanwhile(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	s.apply(t, object)
	changed := s.configMap(t, "one", "2")
	live := s.survey(t, nil)
	other := s.sibling("rival", "web")
	other.adopt = []types.NamespacedName{{Namespace: s.Namespace, Name: "shop"}}
	other.apply(t, s.configMap(t, "one", "3"))

	job := s.job(live, changed)
	job.Exists = s.exists("rival")
	_, err := s.send(t, job)
	wantError[*apply.ConflictError](t, err)
	if got := s.read(t, object).GetLabels()[stagesv1.NameLabel]; got != "rival" {
		t.Errorf("the owner is %q: it was taken back", got)
	}
}

// TestApply_ObjectThatChangesMeanwhile: somebody's change of other fields is no reason to fail.
func TestApply_ObjectThatChangesMeanwhile(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	s.apply(t, object)
	live := s.survey(t, nil)
	now := s.read(t, object)
	now.SetAnnotations(map[string]string{"theirs": "x"})
	if err := s.Client.Update(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	result, err := s.send(t, s.job(live, s.configMap(t, "one", "2")))
	if err != nil {
		t.Fatal(err)
	}
	wantChanges(t, result, map[string]string{"one": "configured"})
}

// TestApply_AppliedByAnotherControllerMeanwhile: one that leads no more, and does not know it yet, takes nothing back.
func TestApply_AppliedByAnotherControllerMeanwhile(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	s.apply(t, object)
	live := s.survey(t, nil)
	s.applyLate(t, object)
	before := s.read(t, object)
	_, err := s.send(t, s.job(live, s.configMap(t, "one", "2")))
	if err == nil || !strings.Contains(err.Error(), "another controller has applied it") {
		t.Errorf("the error is %v", err)
	}
	if diff := cmp.Diff(before, s.read(t, object)); diff != "" {
		t.Errorf("it was changed: %s", diff)
	}
}

// TestApply_ObjectThatIsReplacedMeanwhile: the survey's object is gone, and another has its name.
func TestApply_ObjectThatIsReplacedMeanwhile(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	s.apply(t, object)
	live := s.survey(t, nil)
	if err := s.Client.Delete(t.Context(), s.read(t, object)); err != nil {
		t.Fatal(err)
	}
	result, err := s.send(t, s.job(live, s.configMap(t, "one", "2")))
	if err != nil {
		t.Fatal(err)
	}
	wantChanges(t, result, map[string]string{"one": "created"})
	if got := result.Outcomes[0].Entry.UID; got != s.read(t, object).GetUID() {
		t.Errorf("the UID is %s, want that of the new object", got)
	}
}

// TestApply_KeptObjectThatNeverGotOurLabels: the survey does not find it, and yet it is looked at once and left alone.
func TestApply_KeptObjectThatNeverGotOurLabels(t *testing.T) {
	s := newSite(t)
	s.policy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictKeepExisting}
	s.Create(t, s.object(t, immutables["an immutable ConfigMap"].before))
	after := s.object(t, immutables["an immutable ConfigMap"].after)
	wantChanges(t, s.apply(t, after), map[string]string{"x": "kept"})
	s.requests.take()
	wantChanges(t, s.apply(t, after), map[string]string{"x": "kept"})
	wantRequests(t, s, map[string]int{"GET": 2})
	for _, d := range s.decisions(t) {
		if d.Verdict == inventory.Delete {
			t.Error("an object that was never ours would be deleted")
		}
	}
}
