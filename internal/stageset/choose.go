package stageset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// patienceForNewer is how many runs in a row may be replaced by newer revisions. The next one goes on to its end, so that
// frequent revisions do not keep the last stage from ever being reached.
const patienceForNewer = 3

// mayPass is for how long a step may fail with what may pass before something newer takes over.
const mayPass = 10 * time.Second

// soon is when something is looked at again that is known already.
const soon = time.Millisecond

// choice is what a reconciliation is about.
type choice string

const (
	settled choice = "settled" // everything is applied: look whether it still is
	proceed choice = "proceed" // with the run that is under way
	begin   choice = "begin"   // a new run
)

// standing is all that the choice rests on.
type standing struct {
	wanted  wanted
	run     *stagesv1.Run
	applied *stagesv1.Snapshot
	asked   bool // a user asks for a reconciliation now
	now     time.Time
}

// choose decides. It is a pure function: the newest wins, except over a run that was preceded by too many that never
// reached their end.
func (p standing) choose() choice {
	if p.run == nil {
		if p.applied != nil && p.applied.Spec == p.wanted.spec && sameRevisions(p.applied.Revisions, p.wanted.revisions) {
			return settled
		}
		return begin
	}
	if p.run.Spec != p.wanted.spec || !sameStages(p.run.Revisions, p.wanted.revisions) {
		return begin
	}
	if sameRevisions(p.run.Revisions, p.wanted.revisions) {
		return proceed
	}
	// One that has come to its last step has been through all stages; what is left may never end.
	if p.run.Superseded >= patienceForNewer && p.run.Failed == "" && p.run.Step != stagesv1.StepSettle && !p.asked {
		return proceed
	}
	return begin
}

// sameStages says whether both are about the same stages. Where the spec is the same they are, unless somebody has edited the
// status.
func sameStages(had, want []stagesv1.StageRevision) bool {
	return slices.EqualFunc(had, want, func(a, b stagesv1.StageRevision) bool { return a.Stage == b.Stage })
}

// sameRevisions compares what stages were made from with what they would be made from now. What a stage was built with is
// not known before it was built.
func sameRevisions(had, want []stagesv1.StageRevision) bool {
	if len(had) != len(want) {
		return false
	}
	for i := range had {
		a, b := had[i], want[i]
		if a.Stage != b.Stage || a.Digest != b.Digest || a.Revision != b.Revision || (a.Inputs != "" && a.Inputs != b.Inputs) {
			return false
		}
	}
	return true
}

// choose says what this reconciliation is about, and pins the revisions of the stages.
func (c *stageSets) choose(_ context.Context, s *scope) (reconcile.Outcome, error) {
	status := &s.set.Status
	s.choice = standing{
		wanted: s.wanted, run: status.Run, applied: status.LastApplied, asked: asked(s.set), now: s.now,
	}.choose()
	switch s.choice {
	case settled:
	case proceed:
		s.run = status.Run
		edited := s.run.Generation != s.set.Generation // in what is about the times alone
		if s.run.Failed != "" && (asked(s.set) || edited || s.run.Deadline == nil || !s.now.Before(s.run.Deadline.Time)) {
			again(s.run) // from the first stage: what is applied passes at once
		}
		s.run.Generation = s.set.Generation
		follow(s.run, s.wanted.revisions)
	case begin:
		run, err := newRun(s)
		if err != nil {
			return reconcile.Next(), err
		}
		s.run = run
	}
	for i, w := range s.stages {
		w.revision = s.wanted.revisions[i]
		if s.run != nil {
			w.revision = s.run.Revisions[i]
		}
	}
	return reconcile.Next(), nil
}

// follow takes over where the pinned artifacts are published now. A producer may have moved them since the run began.
func follow(run *stagesv1.Run, wanted []stagesv1.StageRevision) {
	for i := range run.Revisions {
		if run.Revisions[i].Digest == wanted[i].Digest {
			run.Revisions[i].URL = wanted[i].URL
		}
	}
}

// asked says whether a user asks for a reconciliation that has not been made.
func asked(set *stagesv1.StageSet) bool {
	token, ok := fluxmeta.ReconcileAnnotationValue(set.GetAnnotations())
	return ok && token != set.Status.LastHandledReconcileAt
}

// newRun pins what is wanted.
func newRun(s *scope) (*stagesv1.Run, error) {
	encoded, err := json.Marshal(s.wanted.revisions)
	if err != nil {
		return nil, fmt.Errorf("encoding revisions: %w", err)
	}
	run := &stagesv1.Run{
		ID: hash(append(encoded, s.wanted.spec...)), Spec: s.wanted.spec, Generation: s.set.Generation,
		StartedAt: metav1.NewMicroTime(s.now),
	}
	for _, revision := range s.wanted.revisions {
		revision.Inputs = "" // until it is built
		run.Revisions = append(run.Revisions, revision)
	}
	if old := s.set.Status.Run; old != nil && old.Failed == "" && old.Spec == run.Spec {
		run.Superseded = old.Superseded + 1
	}
	return run, nil
}

// again lets a run that has failed begin anew.
func again(run *stagesv1.Run) {
	run.Failed, run.Stage, run.Step, run.Since, run.Deadline, run.Intents = "", "", "", nil, nil, nil
}

// holdsBack says whether there is something newer which this run does not make room for.
func (s *scope) holdsBack() bool {
	return s.choice == proceed && !sameRevisions(s.run.Revisions, s.wanted.revisions)
}

// giveWay ends the patience with a run that something newer waits for and that has failed: the newer one may be its remedy.
// What it fails with may be nothing that ends a run otherwise, such as a namespace that does not exist; that may also pass.
func (s *scope) giveWay(err error) {
	if err == nil || !s.holdsBack() || noRoom(err) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	if reconcile.KindOf(err) == reconcile.Transient && s.run.Since != nil && s.now.Before(s.run.Since.Add(mayPass)) {
		return
	}
	if s.run.Failed == "" {
		s.run.Failed = orElse(reconcile.ReasonOf(err), stagesv1.ReasonProgressing)
	}
	s.again = soon
}

// newer says it where there is something newer which this run does not make room for.
func (s *scope) newer() string {
	if !s.holdsBack() {
		return ""
	}
	return fmt.Sprintf("; newer revisions follow when this run has ended, because %d in a row were replaced before they had: "+
		"request a reconciliation to take the newest at once", s.run.Superseded)
}
