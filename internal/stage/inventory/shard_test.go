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
	more, small, large := named("a"), named("b"), named(strings.Repeat("z", 200))
	shard := &stagesv1.StageInventory{}
	shard.Name = "one"
	for _, e := range []Entry{small, large} {
		shard.Spec.Entries = append(shard.Spec.Entries, writeEntry(e))
	}
	l := limits{entries: 10, bytes: size(writeEntry(small)) + size(writeEntry(more))}
	plans := plan(Owner{Name: "shop", UID: "u"}, Stage{Name: "web", Entries: []Entry{more, small, large}},
		[]*stagesv1.StageInventory{shard}, l)
	for _, p := range plans {
		if p.shard != nil {
			t.Fatalf("the shard that holds it is written before the one where it goes: %+v", plans)
		}
		for _, e := range p.entries {
			if e.ID == large.ID.String() {
				return
			}
		}
	}
	t.Errorf("it is nowhere: %+v", plans)
}
