package stageset

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/expression"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/source"
)

// maxDependencies bounds how many StageSets are looked at for a circle.
const maxDependencies = 1000

// depend lets a run begin when the StageSets that it depends on are ready. One that is under way goes on.
func (c *stageSets) depend(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.choice != begin {
		return reconcile.Next(), nil
	}
	if circle := c.circle(ctx, s.set, dependencies); circle != nil {
		return reconcile.Next(), reconcile.Stalled(stagesv1.ReasonInvalidSpec, fmt.Errorf(
			"spec.dependsOn leads in a circle: %s", strings.Join(circle, " -> ")))
	}
	if circle := c.circle(ctx, s.set, adoptions); circle != nil { // they would take objects from each other for ever
		return reconcile.Next(), reconcile.Stalled(stagesv1.ReasonInvalidSpec, fmt.Errorf(
			"spec.adoptFrom leads in a circle: %s; remove it from those that are to give objects away", strings.Join(circle, " -> ")))
	}
	for i, dependency := range s.set.Spec.DependsOn {
		why, err := c.unmet(ctx, s.set, i, dependency)
		if err != nil {
			return reconcile.Next(), err
		}
		if why != "" {
			return reconcile.Next(), reconcile.Waiting(s.now.Add(s.interval(c.options.DefaultInterval)),
				stagesv1.ReasonDependencyNotReady, fmt.Errorf("StageSet %s %s", dependencyKey(s.set.Namespace, dependency), why))
		}
	}
	// What is written from here on must not be forgotten. The status still says what was applied before; when that is published
	// again after the process has ended, nothing else would tell that it is not there any more.
	s.start()
	return reconcile.WaitUntil(s.now, stagesv1.ReasonProgressing, fmt.Sprintf("Stage %s is next", s.stages[0].spec.Name)), nil
}

// start makes the run the one that is under way.
func (s *scope) start() {
	s.set.Status.Run = s.run
	for _, w := range s.stages {
		status := s.phase(w, stagesv1.PhasePending)
		status.Blocker, status.Message, status.Held = "", "", nil
	}
}

func dependencyKey(namespace string, d stagesv1.Dependency) types.NamespacedName {
	return types.NamespacedName{Namespace: orElse(d.Namespace, namespace), Name: d.Name}
}

// unmet says in a few words why a dependency does not let a run begin, or "".
func (c *stageSets) unmet(ctx context.Context, set *stagesv1.StageSet, i int, dependency stagesv1.Dependency) (string, error) {
	other := &stagesv1.StageSet{}
	if err := c.client.Get(ctx, dependencyKey(set.Namespace, dependency), other); apierrors.IsNotFound(err) {
		return "does not exist", nil
	} else if unwatched(err) {
		return "is in a namespace that this controller does not watch", nil
	} else if err != nil {
		return "", fmt.Errorf("reading a dependency: %w", err)
	}
	status := &other.Status
	switch {
	case !other.DeletionTimestamp.IsZero():
		return "is being deleted", nil
	case status.ObservedGeneration != other.Generation:
		return "has not been reconciled since its spec changed", nil
	case !meta.IsStatusConditionTrue(status.Conditions, stagesv1.ReadyCondition):
		return "is not ready: " + reasonOf(other), nil
	case status.LastApplied == nil:
		return "has not been applied", nil
	}
	if stage := c.pending(ctx, other); stage != "" {
		return fmt.Sprintf("has a newer revision to apply in its stage %s", stage), nil
	}
	if dependency.ReadyExpr == "" {
		return "", nil
	}
	ready, err := c.readyExpr(ctx, set, other, dependency.ReadyExpr)
	if err != nil {
		return "", reconcile.Stalled(stagesv1.ReasonInvalidSpec, fmt.Errorf("spec.dependsOn[%d].readyExpr: %w", i, err))
	}
	if !ready {
		return "does not fulfil readyExpr", nil
	}
	return "", nil
}

func reasonOf(set *stagesv1.StageSet) string {
	if ready := meta.FindStatusCondition(set.Status.Conditions, stagesv1.ReadyCondition); ready != nil {
		return ready.Reason
	}
	return stagesv1.ReasonProgressing
}

// pending returns a stage for which there is something newer than what was applied.
func (c *stageSets) pending(ctx context.Context, set *stagesv1.StageSet) string {
	applied := map[string]string{}
	for _, revision := range set.Status.LastApplied.Revisions {
		applied[revision.Stage] = revision.Digest
	}
	for _, stage := range set.Spec.Stages {
		// What it cannot resolve it tells by its own condition.
		if found, err := source.Resolve(ctx, c.client, set.Namespace, stage.SourceRef); err == nil && found.Digest != applied[stage.Name] {
			return stage.Name
		}
	}
	return ""
}

func (c *stageSets) readyExpr(ctx context.Context, self, dep *stagesv1.StageSet, text string) (bool, error) {
	condition, err := expression.Compile(text)
	if err != nil {
		return false, err
	}
	variables := map[string]any{}
	for name, set := range map[string]*stagesv1.StageSet{"self": self, "dep": dep} {
		if variables[name], err = runtime.DefaultUnstructuredConverter.ToUnstructured(set); err != nil {
			return false, fmt.Errorf("encoding %s: %w", name, err)
		}
	}
	ready, err := condition.Holds(ctx, variables)
	if err != nil {
		return false, nil //nolint:nilerr // a field that is not there yet, as in Flux
	}
	return ready, nil
}

// dependencies are the StageSets that one depends on.
func dependencies(set *stagesv1.StageSet) []types.NamespacedName {
	names := make([]types.NamespacedName, 0, len(set.Spec.DependsOn))
	for _, dependency := range set.Spec.DependsOn {
		names = append(names, dependencyKey(set.Namespace, dependency))
	}
	return names
}

// adoptions are the StageSets whose objects one may take over. One that is being deleted takes none.
func adoptions(set *stagesv1.StageSet) []types.NamespacedName {
	if !set.DeletionTimestamp.IsZero() {
		return nil
	}
	names := make([]types.NamespacedName, 0, len(set.Spec.AdoptFrom))
	for _, from := range set.Spec.AdoptFrom {
		names = append(names, types.NamespacedName{Namespace: orElse(from.Namespace, set.Namespace), Name: from.Name})
	}
	return names
}

// circle returns the StageSets through which references of a kind lead from one back to itself.
func (c *stageSets) circle(
	ctx context.Context, set *stagesv1.StageSet, references func(*stagesv1.StageSet) []types.NamespacedName,
) []string {
	start := client.ObjectKeyFromObject(set)
	seen := map[types.NamespacedName]bool{}
	var follow func(at *stagesv1.StageSet, path []string) []string
	follow = func(at *stagesv1.StageSet, path []string) []string {
		for _, key := range references(at) {
			if key == start {
				return append(path, key.String())
			}
			other := &stagesv1.StageSet{}
			if seen[key] || len(seen) >= maxDependencies || c.client.Get(ctx, key, other) != nil {
				continue
			}
			seen[key] = true
			if found := follow(other, append(path, key.String())); found != nil {
				return found
			}
		}
		return nil
	}
	return follow(set, []string{start.String()})
}
