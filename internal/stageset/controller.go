package stageset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/build"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/health"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// stageSets reconciles StageSets.
type stageSets struct {
	options     Options
	client      client.Client // the controller's own, with the manager's cache
	live        client.Reader // past the cache
	exit        *reconcile.Exit
	events      reconcile.Recorder
	clusters    *clusters
	checked     *checks
	inventories *inventory.Store
	builder     *build.Builder
	applier     *apply.Applier
	waits       *health.Watcher
	schemas     health.Schemas // of the cluster of the StageSets
	watches     watches
}

// watches is told which ConfigMaps and Secrets a StageSet needs; *objectwatch.Watcher is one.
type watches interface {
	Set(user types.NamespacedName, needs []objectwatch.Need) (told bool)
}

// steps are what a reconciliation does, in this order. Each has a file of its name.
func (c *stageSets) steps() []step {
	return []step{
		{"teardown", c.teardown}, // a deleted StageSet's objects, stage by stage from the last, and done
		{"suspend", c.suspend},   // or hold
		{"check", c.check},       // what the spec says against what is possible and allowed
		{"claim", c.claim},       // the finalizer, before there is something to clean up
		{"identify", c.identify}, // who acts, and on which cluster
		{"resolve", c.resolve},   // what the sources publish and the variables hold now
		{"choose", c.choose},     // a new run, the one under way, or nothing but a look at what is there
		{"record", c.record},     // the inventories
		{"watch", c.watchDrift},  // done, if everything is settled and as it was applied
		{"build", c.build},       // every stage, before anything is written
		{"verify", c.verify},     // the images, or hold
		{"depend", c.depend},     // wait for other StageSets before a run begins
		{"ahead", c.ahead},       // every object into the inventories, before the first one is applied
		{"roll", c.roll},         // stage by stage: apply, prune, wait until healthy
		{"shed", c.shed},         // the stages that the spec has lost
		{"settle", c.settle},     // in the status
	}
}

// reconcileTimeout bounds a reconciliation: no server that does not answer holds a worker for longer.
const reconcileTimeout = 2 * time.Minute

// Reconcile takes one StageSet as far as it can go now.
func (c *stageSets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, reconcileTimeout)
	defer cancel()
	// Read past the cache: which run is under way, and where it is, must not be of the past.
	set := &stagesv1.StageSet{}
	if err := c.live.Get(ctx, request.NamespacedName, set); err != nil {
		if client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, fmt.Errorf("reading StageSet %s: %w", request, err)
		}
		c.forget(request.NamespacedName)
		return ctrl.Result{}, c.sweep(ctx, request.NamespacedName)
	}
	s := &scope{set: set, before: set.DeepCopy(), now: c.options.Now()}
	s.hold = c.options.Artifacts.Hold(set.Namespace)
	defer s.hold.Close()

	ctx, span := c.startSpan(ctx, set)
	defer span.End()
	outcome, err := reconcile.Run(ctx, s, c.traced(c.steps())...)
	if errors.As(err, &askingError{}) { // whoever asks wakes it up; the time is for when that is lost
		return ctrl.Result{RequeueAfter: probeTimeout}, nil
	}
	s.giveWay(err)
	err = s.conceal(err)
	stalled := err != nil && reconcile.KindOf(err) == reconcile.Stalling
	result, err := c.exit.Finish(ctx, s.before, set, c.report(s, outcome, err))
	if err != nil {
		c.observe(s)
		return ctrl.Result{}, err
	}
	if stalled || s.recheck { // what has to change may be something that nobody tells of
		result = sooner(result, s.interval(c.options.DefaultInterval))
	}
	c.observe(s)
	return sooner(result, s.again), err
}

// report is what the exit makes a condition and an event of.
func (c *stageSets) report(s *scope, outcome reconcile.Outcome, err error) reconcile.Report {
	report := reconcile.Report{Outcome: outcome, Err: err, Interval: s.interval(c.options.DefaultInterval)}
	status := &s.set.Status
	switch {
	case status.Run != nil:
		report.Revision = status.Run.ID + "/" + status.Run.Stage
	case status.LastApplied != nil:
		report.Revision = status.LastApplied.ID
		report.Message = appliedMessage(status.LastApplied)
	}
	return report
}

func appliedMessage(snapshot *stagesv1.Snapshot) string {
	if n := len(snapshot.Revisions); n != 1 {
		return fmt.Sprintf("%d stages are applied and healthy (snapshot %s)", n, snapshot.ID)
	}
	return "Applied revision " + snapshot.Revisions[0].Revision
}

// observe tells the metrics how it ended.
func (c *stageSets) observe(s *scope) {
	if ready := meta.FindStatusCondition(s.set.Status.Conditions, stagesv1.ReadyCondition); ready != nil {
		c.options.Observer.ReconcileEnded(ready.Reason, c.options.Now().Sub(s.now))
	}
	for i := range s.set.Status.Stages {
		stage := &s.set.Status.Stages[i]
		c.options.Observer.StageReady(s.set.Namespace, s.set.Name, stage.Name, stage.Phase == stagesv1.PhaseReady)
	}
	for _, old := range s.before.Status.Stages {
		if !slices.ContainsFunc(s.set.Status.Stages, func(now stagesv1.StageStatus) bool { return now.Name == old.Name }) {
			c.options.Observer.ForgetStage(s.set.Namespace, s.set.Name, old.Name)
		}
	}
}

// waiting is what is waited for in a cluster.
func (c *stageSets) waiting(s *scope, in cluster.Cluster, targets []health.Target, rules *health.Rules) health.Wait {
	wait := health.Wait{Cluster: in, Owner: s.owner(), Targets: targets, Rules: rules}
	if s.set.Spec.KubeConfig == nil {
		wait.Schemas = c.schemas
	}
	return wait
}

// forget drops what is known of a StageSet that is gone.
func (c *stageSets) forget(key types.NamespacedName) {
	c.watches.Set(key, nil)
	c.waits.Forget(key)
	c.options.Observer.Forget(key.Namespace, key.Name)
}

// sweep removes what a StageSet has left that went without a teardown.
func (c *stageSets) sweep(ctx context.Context, key types.NamespacedName) error {
	return c.inventories.Sweep(ctx, key.Namespace, key.Name, func(ctx context.Context) (types.UID, error) {
		set := &stagesv1.StageSet{}
		if err := client.IgnoreNotFound(c.live.Get(ctx, key, set)); err != nil {
			return "", fmt.Errorf("reading StageSet %s: %w", key, err)
		}
		return set.UID, nil
	})
}

// sooner is the result, or an earlier time.
func sooner(result ctrl.Result, again time.Duration) ctrl.Result {
	if again > 0 && (result.RequeueAfter == 0 || again < result.RequeueAfter) {
		result.RequeueAfter = again
	}
	return result
}
