package stageset

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// patienceForNewer is how many runs in a row may be replaced by newer revisions. The next one goes on to its end, so that
// frequent revisions do not keep the last stage from ever being reached.
const patienceForNewer = 3

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
	if p.run.Spec != p.wanted.spec {
		return begin
	}
	if sameRevisions(p.run.Revisions, p.wanted.revisions) {
		return proceed
	}
	if p.run.Superseded >= patienceForNewer && p.run.Failed == "" && !p.asked {
		return proceed
	}
	return begin
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
		if s.run.Failed != "" && (asked(s.set) || s.run.Deadline == nil || !s.now.Before(s.run.Deadline.Time)) {
			again(s.run) // from the first stage: what is applied passes at once
		}
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

// newer says that there is something newer which this run does not make room for.
func (s *scope) newer() string {
	if s.choice != proceed || sameRevisions(s.run.Revisions, s.wanted.revisions) {
		return ""
	}
	return fmt.Sprintf("; newer revisions follow when this run has ended, because %d in a row were replaced before they had: "+
		"request a reconciliation to take the newest at once", s.run.Superseded)
}
