package stageset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
