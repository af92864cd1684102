package stageset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// teardownRetry is when a teardown is tried again that could not go on.
const teardownRetry = 30 * time.Second

// teardown removes the objects of a deleted StageSet from the inventories alone, stage by stage from the last, each gone
// before the one before it is touched. It is tried for a limited time.
func (c *stageSets) teardown(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.set.DeletionTimestamp.IsZero() {
		return reconcile.Next(), nil
	}
	if !controllerutil.ContainsFinalizer(s.set, stagesv1.Finalizer) {
		return reconcile.Wait(stagesv1.ReasonProgressing, "The objects are removed"), nil
	}
	s.rendered = map[inventory.ID]string{}
	recorded, err := c.inventories.Load(ctx, s.owner())
	if err != nil {
		return reconcile.Next(), fmt.Errorf("reading the inventories: %w", err)
	}
	if why := s.leaves(); why != "" {
		c.emit(s, corev1.EventTypeNormal, stagesv1.EventObjectsLeft, "The StageSet was %s: its %d objects stay", why, entriesOf(recorded))
		return c.letGo(ctx, s)
	}
	force := s.set.DeletionTimestamp.Add(c.options.MaxTeardownWait)
	attempt, cancel := half(ctx)
	defer cancel()
	outcome, err := c.tearDown(attempt, s, recorded)
	switch {
	case err == nil && outcome == reconcile.Next():
		return c.letGo(ctx, s)
	case ctx.Err() != nil, errors.As(err, &askingError{}):
		return outcome, err
	case s.now.Before(force):
		s.again = force.Sub(s.now)
		return outcome, c.teardownLater(s, force, err)
	}
	recorded, loadErr := c.inventories.Load(ctx, s.owner())
	if loadErr != nil {
		return reconcile.Next(), fmt.Errorf("reading the inventories: %w", loadErr)
	}
	c.emit(s, corev1.EventTypeWarning, stagesv1.EventTeardownForced, "The objects could not be removed within %s: %s. Left are %s",
		c.options.MaxTeardownWait, whyNot(outcome, err), orphans(recorded))
	return c.letGo(ctx, s)
}

// half is a context for half of the time that is left: a server that answers too slowly must not take the time for letting go
// with it.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// leaves says why a deleted StageSet leaves its objects in place; "" where it does not.
func (s *scope) leaves() string {
	switch {
	case s.set.Spec.Suspend:
		return "suspended when it was deleted"
	case controllerutil.ContainsFinalizer(s.set, metav1.FinalizerOrphanDependents):
		return "deleted without its dependents"
	}
	return ""
}

func whyNot(_ reconcile.Outcome, err error) string {
	if err != nil {
		return err.Error()
	}
	return "they are still being deleted"
}

// tearDown removes the stages. It answers Next when all are gone.
func (c *stageSets) tearDown(ctx context.Context, s *scope, recorded []inventory.Stage) (reconcile.Outcome, error) {
	if len(recorded) == 0 {
		return reconcile.Next(), nil
	}
	for _, stage := range slices.Backward(recorded) {
		outcome, err := c.tearDownStage(ctx, s, stage)
		if err != nil || outcome != reconcile.Next() {
			return outcome, err
		}
	}
	return reconcile.Next(), nil
}

func (c *stageSets) tearDownStage(ctx context.Context, s *scope, gone inventory.Stage) (reconcile.Outcome, error) {
	spec := s.specOf(gone.Name)
	in, err := c.clusterOf(ctx, s, spec.ServiceAccountName)
	var left leftovers
	if err == nil {
		left, err = c.clear(ctx, s, pruning{
			stage: gone.Name, recorded: gone.Entries, cluster: in, prune: prunes(&spec), teardown: true,
		})
	} else {
		left.entries = gone.Entries
	}
	if lost(err) && c.terminating(ctx, s.set.Namespace) {
		// Roles and ServiceAccounts of the namespace go in any order, and so do its objects.
		left.entries = slices.DeleteFunc(left.entries, func(e inventory.Entry) bool { return e.ID.Namespace == s.set.Namespace })
		if len(left.entries) == 0 {
			err = nil
		}
	}
	gone.Entries = left.entries
	if _, saveErr := c.inventories.Save(ctx, s.owner(), gone); err == nil && saveErr != nil {
		err = fmt.Errorf("recording stage %s: %w", gone.Name, saveErr)
	}
	status := s.statusOf(gone.Name)
	status.Phase, status.Entries = stagesv1.PhasePruning, int32(len(left.entries))
	if err != nil {
		return reconcile.Next(), fmt.Errorf("stage %s: %w", gone.Name, err)
	}
	if len(left.entries) == 0 {
		return reconcile.Next(), nil
	}
	outcome, err := c.awaitGone(ctx, s, in, gone.Name, left.entries)
	return outcome, err
}

// lost says whether an account cannot act any more. There are no new tokens in a namespace that is being deleted.
func lost(err error) bool {
	var missing *tenant.MissingError
	var denied *cluster.DeniedError
	return errors.As(err, &missing) || errors.As(err, &denied) || cluster.Terminating(err) || apierrors.IsUnauthorized(err)
}

// specOf is the spec of a stage, or what stands for that of one that the spec has no more.
func (s *scope) specOf(name string) stagesv1.Stage {
	for _, stage := range s.set.Spec.Stages {
		if stage.Name == name {
			return stage
		}
	}
	return stagesv1.Stage{
		Name: name, ServiceAccountName: accountOfTheGone(&s.set.Spec), Prune: ptr(!s.statusOf(name).Keeps),
	}
}

// teardownLater tries again before it is given up.
func (c *stageSets) teardownLater(s *scope, force time.Time, err error) error {
	if err == nil {
		return nil
	}
	again := s.now.Add(teardownRetry)
	if force.Before(again) {
		again = force
	}
	return reconcile.Waiting(again, stagesv1.ReasonTeardownFailed, fmt.Errorf("%w; it is given up at %s", err, force.UTC().Format(time.RFC3339)))
}

// letGo gives up what is recorded and lets the StageSet go.
func (c *stageSets) letGo(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if err := c.inventories.Forget(ctx, s.owner()); err != nil {
		return reconcile.Next(), fmt.Errorf("removing the inventories: %w", err)
	}
	c.forget(s.key())
	if err := client.IgnoreNotFound(c.setFinalizer(ctx, s, controllerutil.RemoveFinalizer)); err != nil {
		return reconcile.Next(), err
	}
	return reconcile.Wait(stagesv1.ReasonProgressing, "The objects are removed"), nil
}

func entriesOf(recorded []inventory.Stage) int {
	n := 0
	for _, stage := range recorded {
		n += len(stage.Entries)
	}
	return n
}

// orphans names what is left.
func orphans(recorded []inventory.Stage) string {
	const most = 10
	var names []string
	for _, stage := range recorded {
		for _, entry := range stage.Entries {
			names = append(names, entry.ID.Display())
		}
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// terminating says whether a namespace is being deleted.
func (c *stageSets) terminating(ctx context.Context, name string) bool {
	namespace := &corev1.Namespace{}
	err := c.live.Get(ctx, types.NamespacedName{Name: name}, namespace)
	return err == nil && !namespace.DeletionTimestamp.IsZero()
}
