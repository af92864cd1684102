package inventory

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

func TestAbandoned(t *testing.T) {
	owned := func(kind, name string, uid types.UID) []metav1.OwnerReference {
		yes := true
		return []metav1.OwnerReference{{Kind: kind, Name: name, UID: uid, Controller: &yes}}
	}
	for name, test := range map[string]struct {
		owners  []metav1.OwnerReference
		current types.UID
		want    bool
	}{
		"of one that is gone":                          {owned("StageSet", "shop", "old"), "", true},
		"of one that is gone, and there is another":    {owned("StageSet", "shop", "old"), "new", true},
		"of the one that there is":                     {owned("StageSet", "shop", "new"), "new", false},
		"of another name, labelled by somebody else":   {owned("StageSet", "store", "old"), "", false},
		"of another kind":                              {owned("Deployment", "shop", "old"), "", false},
		"of nobody":                                    {nil, "", true},
		"of nobody, and there is one that may want it": {nil, "new", false},
	} {
		t.Run(name, func(t *testing.T) {
			shard := &stagesv1.StageInventory{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.owners}}
			if got := abandoned(shard, "shop", test.current); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}
