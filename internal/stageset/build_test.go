package stageset

import (
	"testing"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/cluster"
)

// TestBuildKey_IsOfTheCluster: objects without a namespace get one where their kind has namespaces there.
func TestBuildKey_IsOfTheCluster(t *testing.T) {
	s := &scope{set: &stagesv1.StageSet{}}
	keys := map[string]bool{}
	for _, key := range []string{"local", "remote/a", "remote/b"} {
		got, err := buildKey(s, &stage{spec: &stagesv1.Stage{Name: "web"}, cluster: cluster.Cluster{Key: key}})
		if err != nil {
			t.Fatal(err)
		}
		keys[got] = true
	}
	if len(keys) != 3 {
		t.Errorf("%d keys of three clusters", len(keys))
	}
}
