package stageset

import (
	"fmt"
	"strings"
	"testing"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// dependsOn lets a StageSet depend on others.
func dependsOn(set *stagesv1.StageSet, names ...string) *stagesv1.StageSet {
	for _, name := range names {
		set.Spec.DependsOn = append(set.Spec.DependsOn, stagesv1.Dependency{Name: name})
	}
	return set
}

func TestDepend_AChainMovesByEventsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const links = 5
	var last *stagesv1.StageSet
	for i := range links {
		name := fmt.Sprintf("link%d", i)
		r.publish(t, name, configMap(name, "1"))
		last = stageSet(name, name)
		if i > 0 {
			dependsOn(last, fmt.Sprintf("link%d", i-1))
		}
		r.Create(t, last)
	}
	r.start(t)
	r.awaitReason(t, last, stagesv1.ReasonSucceeded)

	// A new revision goes through the whole chain: nobody begins before what it depends on has the newest.
	for i := range links {
		r.publish(t, fmt.Sprintf("link%d", i), configMap(fmt.Sprintf("link%d", i), "2"))
	}
	r.Await(t, last, func() error {
		if !r.settledAt(last) {
			return fmt.Errorf("it is at %+v", last.Status.LastApplied)
		}
		for i := range links - 1 {
			if value := r.configMaps(t)[fmt.Sprintf("link%d", i)]; value != "2" {
				t.Fatalf("the last link was applied while link%d was at %s", i, value)
			}
		}
		return nil
	})
}

func TestDepend_WaitsForWhatIsNotReady(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"))
	r.publish(t, "app", configMap("app", "1"))
	base, app := stageSet("base", "base"), dependsOn(stageSet("app", "app"), "base", "missing")
	r.Create(t, base, app)
	r.start(t)
	r.awaitMessage(t, app, stagesv1.ReasonDependencyNotReady, "base is not ready")
	r.publish(t, "base", configMap("base", "1"))
	r.awaitMessage(t, app, stagesv1.ReasonDependencyNotReady, "missing does not exist")
	r.publish(t, "missing", configMap("missing", "1"))
	r.Create(t, stageSet("missing", "missing"))
	r.awaitReason(t, app, stagesv1.ReasonSucceeded)
}

func TestDepend_ExpressionsDecide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("base", "1"))
	r.publish(t, "app", configMap("app", "1"))
	base, app := stageSet("base", "base"), dependsOn(stageSet("app", "app"), "base")
	app.Spec.DependsOn[0].ReadyExpr = "dep.metadata.labels.tested == self.metadata.name"
	r.Create(t, base, app)
	r.start(t)
	r.awaitMessage(t, app, stagesv1.ReasonDependencyNotReady, "readyExpr")
	edit(t, r, base, func(set *stagesv1.StageSet) { set.Labels = map[string]string{"tested": "app"} })
	r.awaitReason(t, app, stagesv1.ReasonSucceeded)
}

func TestDepend_ACircleIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "a", configMap("a", "1"))
	a, b := dependsOn(stageSet("a", "a"), "b"), dependsOn(stageSet("b", "a"), "a")
	r.Create(t, a, b)
	r.start(t)
	if message := r.awaitReason(t, a, stagesv1.ReasonInvalidSpec); !strings.Contains(message, "/a -> ") || !strings.Contains(message, "/b -> ") {
		t.Errorf("the message is %q", message)
	}
}
