package stageset

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// TestDepend_AnExpressionAsksForMore: what it says does not stand for being ready.
func TestDepend_AnExpressionAsksForMore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("base", "1"))
	r.publish(t, "app", configMap("app", "1"))
	base, app := stageSet("base", "base"), dependsOn(stageSet("app", "app"), "base")
	app.Spec.DependsOn[0].ReadyExpr = "true"
	r.Create(t, base)
	r.start(t)
	r.awaitSettled(t, base)
	r.publish(t, "base", configMap("base", "2"), stuck("web"))
	r.awaitWaiting(t, base, "base")
	r.Create(t, app)
	r.awaitMessage(t, app, stagesv1.ReasonDependencyNotReady, "base is not ready: StageProgressing")
	healthy := r.publish(t, "base", configMap("base", "3"), deployment("web", 0))
	r.awaitApplied(t, base, "base", healthy)
	r.awaitReason(t, app, stagesv1.ReasonSucceeded)
}

// TestScope_WhatIsNotWatchedIsToldSo: where the controller watches some namespaces, references into others cannot be followed.
func TestScope_WhatIsNotWatchedIsToldSo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := r.NewNamespace(t)
	r.publish(t, "app", configMap("app", "1"), configMap("theirs", "1"))
	const words = "this controller does not watch"
	needs, from, takes := stageSet("needs", "app"), stageSet("from", "app"), stageSet("takes", "app")
	needs.Spec.DependsOn = []stagesv1.Dependency{{Name: "shop", Namespace: other}}
	from.Spec.Stages[0].SourceRef.Namespace = other
	r.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Labels: map[string]string{
		stagesv1.NameLabel: "shop", stagesv1.NamespaceLabel: other, stagesv1.StageLabel: "app",
	}}})
	r.Create(t, needs, from, takes)
	r.start(t)
	r.awaitMessage(t, needs, stagesv1.ReasonDependencyNotReady, "StageSet "+other+"/shop is in a namespace that "+words)
	r.awaitMessage(t, from, stagesv1.ReasonSourceNotReady, "ExternalArtifact "+other+"/app: "+words)
	r.awaitMessage(t, takes, stagesv1.ReasonConflictHeld, "it belongs to StageSet "+other+"/shop")
	edit(t, r, takes, func(set *stagesv1.StageSet) {
		set.Spec.AdoptFrom = []stagesv1.StageSetReference{{Name: "shop", Namespace: other}}
	})
	r.awaitReason(t, takes, stagesv1.ReasonSucceeded)
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
