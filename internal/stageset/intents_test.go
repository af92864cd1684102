package stageset

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// TestIntents_AreAsManyAsAStatusHolds: a stage can have thousands of objects that are made anew.
func TestIntents_AreAsManyAsAStatusHolds(t *testing.T) {
	entry := func(name, uid string) inventory.Entry {
		return inventory.Entry{ID: inventory.ID{Namespace: "shop", Name: name, Kind: "ConfigMap"}, UID: types.UID(uid)}
	}
	intent := func(name, uid string) stagesv1.Intent {
		return stagesv1.Intent{Effect: effectRecreate, Object: "shop_" + name + "__ConfigMap", UID: uid}
	}
	before := []stagesv1.Intent{intent("done", "1"), intent("leaving", "1"), intent("not-reached", "1"), intent("replaced", "1")}
	got := intentsAfter(before, apply.Result{
		Outcomes: []apply.Outcome{
			{Entry: entry("done", "2"), Change: apply.Created},
			{Entry: entry("leaving", "1"), Change: apply.Blocked},
			{Entry: entry("replaced", "1"), Change: apply.Recreate},
			{Entry: entry("new", "1"), Change: apply.Recreate},
		},
		Intend: []inventory.Entry{entry("replaced", "2"), entry("new", "1")},
	})
	want := []stagesv1.Intent{intent("leaving", "1"), intent("not-reached", "1"), intent("replaced", "2"), intent("new", "1")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var result apply.Result
	for i := range chunk {
		result.Intend = append(result.Intend, entry(fmt.Sprint(i), "1"))
	}
	if got := intentsAfter(before, result); len(got) != maxIntents || got[0] != before[0] {
		t.Errorf("there are %d intents, want %d", len(got), maxIntents)
	}
}
