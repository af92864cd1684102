package operator

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// snippets reconciles JsonnetSnippets.
type snippets struct {
	options Options
	client  client.Client // the operator's own, for snippets and libraries and their status
	exit    *reconcile.Exit
	events  reconcile.Recorder
	memory  *memory
	watches watches
}

// watches is told which ConfigMaps and Secrets a snippet needs; *objectwatch.Watcher is one.
type watches interface {
	Set(user types.NamespacedName, needs []objectwatch.Need) (told bool)
}

// steps are what a run does, in this order. Each has a file of its name.
func (c *snippets) steps() []step {
	return []step{
		{"withdraw", c.withdraw}, // a deleted snippet's artifact, and done
		{"suspend", c.suspend},   // or hold
		{"identify", c.identify}, // the ServiceAccount to act as
		{"check", c.check},       // what the spec says against what is allowed
		{"locate", c.locate},     // the snippet's source
		{"collect", c.collect},   // its libraries
		{"order", c.order},       // refuse a circle of snippets
		{"resolve", c.resolve},   // variables from ConfigMaps and Secrets
		{"compare", c.compare},   // done, if the same inputs gave what is published
		{"load", c.load},         // fetch and unpack what is not inline
		{"limit", c.limit},       // the budget of evaluations
		{"evaluate", c.evaluate}, // once
		{"pack", c.pack},         // into a tarball
		{"claim", c.claim},       // the finalizer, before there is something to clean up
		{"store", c.store},       // and read back
		{"publish", c.publish},   // the ExternalArtifact
		{"remember", c.remember}, // in the status
	}
}

// Reconcile brings one snippet to what its spec asks for.
func (c *snippets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	snippet := &renderv1.JsonnetSnippet{}
	if err := c.client.Get(ctx, request.NamespacedName, snippet); err != nil {
		if client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, fmt.Errorf("reading snippet %s: %w", request, err)
		}
		c.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	began := time.Now()
	past := c.memory.of(request.NamespacedName, snippet.UID, c.options.Rerender)
	s := &scope{snippet: snippet, before: snippet.DeepCopy(), past: past}
	s.hold = c.options.Sources.Hold(snippet.Namespace)
	defer s.hold.Close()

	ctx, span := c.startSpan(ctx, snippet)
	defer span.End()
	outcome, err := reconcile.Run(ctx, s, c.traced(c.steps())...)
	stalled := err != nil && reconcile.KindOf(err) == reconcile.Stalling
	result, err := c.exit.Finish(ctx, s.before, snippet, c.report(s, outcome, err))
	result = sooner(result, c.retain(ctx, s))
	if stalled { // the user's change that is waited for may be one that nobody tells of
		result = sooner(result, s.interval(c.options.Recheck))
	}
	observe(c.options.Observe.Observer, snippetKind, snippet.Status.Conditions, time.Since(began))
	return result, err
}

// observe tells what a run came to.
func observe(observer Observer, kind string, conditions []metav1.Condition, took time.Duration) {
	if ready := meta.FindStatusCondition(conditions, renderv1.ReadyCondition); ready != nil {
		observer.ReconcileEnded(kind, ready.Reason, took)
	}
}

// report is what the exit makes a condition and an event of.
func (c *snippets) report(s *scope, outcome reconcile.Outcome, err error) reconcile.Report {
	status := &s.snippet.Status
	report := reconcile.Report{
		Outcome: outcome, Err: err, Revision: s.fingerprint,
		Message:  fmt.Sprintf("Published revision %s", status.Revision),
		Interval: s.interval(c.options.Recheck),
	}
	if err == nil {
		report.Revision = status.Revision
	} else if s.published() && s.snippet.DeletionTimestamp.IsZero() &&
		reconcile.ReasonOf(err) != renderv1.ReasonArtifactConflict {
		report.Err = fmt.Errorf("%w; the last good revision %s stays published", err, status.Revision)
	}
	return report
}

// forget drops what is known of a snippet that is gone.
func (c *snippets) forget(key types.NamespacedName) {
	c.memory.forget(key)
	c.watches.Set(key, nil)
}

// sooner is the result, or an earlier time.
func sooner(result ctrl.Result, again time.Duration) ctrl.Result {
	if again > 0 && (result.RequeueAfter == 0 || again < result.RequeueAfter) {
		result.RequeueAfter = again
	}
	return result
}
