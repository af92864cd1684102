package stageset

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
	"github.com/stagewright/stagewright/internal/stageset/validate"
)

// keptChecks bounds of how many specs is known whether they are right.
const keptChecks = 4096

// suspend starts nothing and leaves a run where it is.
func (c *stageSets) suspend(_ context.Context, s *scope) (reconcile.Outcome, error) {
	if !s.set.Spec.Suspend {
		return reconcile.Next(), nil
	}
	c.waits.Forget(s.key())
	c.watches.Set(s.key(), nil)
	return reconcile.Hold(stagesv1.ReasonSuspended, "Nothing is started while spec.suspend is true"), nil
}

// check refuses what contradicts itself, what leads where it must not, and what cannot be done yet.
func (c *stageSets) check(_ context.Context, s *scope) (reconcile.Outcome, error) {
	s.stages = make([]*stage, 0, len(s.set.Spec.Stages))
	for i := range s.set.Spec.Stages {
		s.stages = append(s.stages, &stage{
			spec: &s.set.Spec.Stages[i], position: i, generations: map[inventory.ID]int64{},
		})
	}
	s.arrangeStatus()
	known := c.checked.of(s.set, c.options.NoCrossNamespaceRefs)
	if known.err != nil {
		return reconcile.Next(), known.err
	}
	for i, w := range s.stages {
		w.rules = known.rules[i]
	}
	return reconcile.Next(), nil
}

// checks remembers what was found out about specs: expressions take long to compile, and specs change seldom.
type checks struct {
	kept *lru.Cache // from the UID of a StageSet to *checked
}

type checked struct {
	generation int64
	err        error
	rules      []*health.Rules // one for each stage
}

func newChecks() *checks { return &checks{kept: lru.New(keptChecks)} }

// of returns what is known of a spec.
func (k *checks) of(set *stagesv1.StageSet, noCrossNamespace bool) *checked {
	if kept, ok := k.kept.Get(set.UID); ok && kept.(*checked).generation == set.Generation {
		return kept.(*checked)
	}
	found := examine(set, noCrossNamespace)
	found.generation = set.Generation
	k.kept.Add(set.UID, found)
	return found
}

func examine(set *stagesv1.StageSet, noCrossNamespace bool) *checked {
	problems := validate.Validate(set, validate.Rules{NoCrossNamespaceRefs: noCrossNamespace})
	for _, problem := range problems {
		if problem.Type == field.ErrorTypeForbidden {
			return &checked{err: reconcile.Stalled(stagesv1.ReasonCrossNamespaceRefDenied, problem)}
		}
	}
	if problems = append(problems, validate.Unsupported(set)...); len(problems) > 0 {
		return &checked{err: reconcile.Stalled(stagesv1.ReasonInvalidSpec, problems.ToAggregate())}
	}
	rules := make([]*health.Rules, len(set.Spec.Stages))
	for i, stage := range set.Spec.Stages {
		var exprs []stagesv1.HealthExpressions
		if stage.ReadyChecks != nil {
			exprs = stage.ReadyChecks.Exprs
		}
		compiled, err := health.Compile(exprs)
		if err != nil {
			return &checked{err: reconcile.Stalled(stagesv1.ReasonInvalidSpec, fmt.Errorf("spec.stages[%d].readyChecks.%w", i, err))}
		}
		rules[i] = compiled
	}
	return &checked{rules: rules}
}

// arrangeStatus puts the statuses of stages into the order of the spec. Those of stages that are gone and have left objects
// follow.
func (s *scope) arrangeStatus() {
	arranged := make([]stagesv1.StageStatus, 0, len(s.stages))
	for _, w := range s.stages {
		status := *s.statusOf(w.spec.Name)
		status.Keeps = !prunes(w.spec)
		arranged = append(arranged, status)
	}
	for _, old := range s.set.Status.Stages {
		if s.stageNamed(old.Name) == nil && (old.Entries > 0 || old.Keeps) { // else it has left nothing
			arranged = append(arranged, old)
		}
	}
	s.set.Status.Stages = arranged
}

// prunes says whether what a stage renders no more is deleted.
func prunes(spec *stagesv1.Stage) bool { return spec.Prune == nil || *spec.Prune }

// claim sets the finalizer.
func (c *stageSets) claim(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	return reconcile.Next(), c.setFinalizer(ctx, s, controllerutil.AddFinalizer)
}

// setFinalizer adds or removes the finalizer where that changes something.
func (c *stageSets) setFinalizer(ctx context.Context, s *scope, change func(client.Object, string) bool) error {
	err := c.setMetadata(ctx, s, func(set *stagesv1.StageSet) bool { return change(set, stagesv1.Finalizer) })
	if err != nil {
		return fmt.Errorf("writing the finalizer: %w", err)
	}
	return nil
}

// setMetadata writes metadata where change says that it changes something. The status of the steps stays as it is.
func (c *stageSets) setMetadata(ctx context.Context, s *scope, change func(*stagesv1.StageSet) bool) error {
	changed := &stagesv1.StageSet{ObjectMeta: *s.set.ObjectMeta.DeepCopy()}
	from := changed.DeepCopy()
	if !change(changed) {
		return nil
	}
	if err := c.client.Patch(ctx, changed, client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	s.set.SetFinalizers(changed.GetFinalizers())
	s.set.SetAnnotations(changed.GetAnnotations())
	s.set.SetResourceVersion(changed.GetResourceVersion())
	return nil
}

func orElse(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
