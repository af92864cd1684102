package inventory

import (
	"strings"
	"testing"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// TestPlan_ShardThatGivesEntriesAwayGainsNone: it would be written with those that come before the others are elsewhere.
func TestPlan_ShardThatGivesEntriesAwayGainsNone(t *testing.T) {
	named := func(name string) Entry {
		return Entry{ID: ID{Namespace: "prod", Name: name, Kind: "ConfigMap"}, Version: "v1"}
	}
	small, large, more := named("a"), named(strings.Repeat("b", 200)), named("c")
	shard := &stagesv1.StageInventory{}
	shard.Name = "one"
	for _, e := range []Entry{small, large} {
		shard.Spec.Entries = append(shard.Spec.Entries, writeEntry(e))
	}
	l := limits{entries: 10, bytes: size(writeEntry(small)) + size(writeEntry(more))}
	plans := plan(Owner{Name: "shop", UID: "u"}, Stage{Name: "web", Entries: []Entry{small, large, more}},
		[]*stagesv1.StageInventory{shard}, l)
	for _, e := range plans[0].entries {
		if e.ID == large.ID.String() {
			return
		}
	}
	t.Errorf("the shard that holds what moves is not written first: %+v", plans)
}
