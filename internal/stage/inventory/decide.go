package inventory

import (
	"slices"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// Verdict is what becomes of an object that its stage renders no more.
type Verdict string

// The verdicts.
const (
	Delete   Verdict = "delete"   // it is provably ours
	HandOver Verdict = "handover" // another stage of the same StageSet renders it
	Release  Verdict = "release"  // it is not ours any more, or is to be kept: it stays and is forgotten
	Hold     Verdict = "hold"     // the guard wants consent
	Gone     Verdict = "gone"     // it does not exist
)

// freely is how many objects of a stage may go without consent, however few stay.
const freely = 20

// Decision is a verdict on an entry.
type Decision struct {
	Entry   Entry
	Verdict Verdict
	Reason  string // a few words for people; for Delete the resource version and UID are in Live
	Live    Live   // for Delete and Hold, and for HandOver where the object is provably ours
}

// PruneInput is all that a decision rests on.
type PruneInput struct {
	Owner    Owner
	Stage    string        // whose inventory it is
	Recorded []Entry       // of that stage
	Rendered map[ID]string // the stage that renders an object, of all stages of the run; of none in a teardown
	Live     map[ID]Live   // of all recorded objects that exist and are not rendered by this stage
	Prune    bool          // spec.stages[].prune; false releases
	Guarded  bool          // the guard is on and there is no approval of this run
	Teardown bool          // the StageSet is deleted: nothing is guarded
	Empty    bool          // the stage renders nothing at all
}

// Decide says for each recorded entry that the stage renders no more what becomes of it, in the order in which deletions
// are to be made: reverse to applying. It is a pure function.
//
// What is being deleted already has the verdict Delete and is to be waited for. A shrink is measured against all entries
// of the stage, new ones included: a release that renames its objects is none.
func Decide(in PruneInput) []Decision {
	var decisions []Decision
	deletions := 0
	for _, e := range in.Recorded {
		if stage, ok := in.Rendered[e.ID]; ok && stage == in.Stage {
			continue
		}
		d := in.decide(e)
		if d.Verdict == Delete && !d.Live.Deleting {
			deletions++
		}
		decisions = append(decisions, d)
	}
	if in.Guarded && !in.Teardown {
		in.guard(decisions, deletions)
	}
	slices.SortStableFunc(decisions, func(a, b Decision) int { return CompareApply(b.Entry.ID, a.Entry.ID) })
	return decisions
}

// decide says what becomes of an entry, but for the guard.
func (in PruneInput) decide(e Entry) Decision {
	d := Decision{Entry: e, Verdict: Release}
	live, exists := in.Live[e.ID]
	stage, rendered := in.Rendered[e.ID]
	switch {
	case rendered:
		d.Verdict, d.Reason = HandOver, "stage "+stage+" renders it"
		if exists && in.foreign(e, live) == "" {
			d.Live = live
		}
	case !exists:
		d.Verdict, d.Reason = Gone, "it does not exist"
	case !in.Prune:
		d.Reason = "prune is off for the stage"
	default:
		d.Reason = in.foreign(e, live)
		if d.Reason == "" {
			d.Verdict, d.Reason, d.Live = Delete, "it is rendered no more", live
		}
	}
	return d
}

// foreign says why an object is not to be deleted as ours; empty when it is provably ours.
func (in PruneInput) foreign(e Entry, live Live) string {
	if other, ok := live.Owner(); !ok {
		return "it does not carry the labels of a StageSet"
	} else if !in.Owner.is(other) {
		return "it belongs to StageSet " + other.String()
	}
	switch {
	case live.Annotations[stagesv1.PruneAnnotation] == stagesv1.Disabled:
		return "it is annotated " + stagesv1.PruneAnnotation + ": " + stagesv1.Disabled
	case e.UID != "" && e.UID != live.UID:
		return "it is another object of the same name"
	case e.UID == "" && live.Labels[stagesv1.StageLabel] != in.Stage:
		return "this stage has not applied it"
	case e.UID == "" && !live.Applied():
		return "it was never seen as applied"
	default:
		return ""
	}
}

// guard turns deletions into held ones where nobody can have meant them without a second look.
func (in PruneInput) guard(decisions []Decision, deletions int) {
	all := ""
	switch {
	case in.Empty:
		all = "the stage renders nothing at all"
	case deletions > freely && 2*deletions > len(in.Recorded):
		all = "more than half of the stage's objects would go"
	}
	for i, d := range decisions {
		switch {
		case d.Verdict != Delete || d.Live.Deleting:
		case all != "":
			decisions[i].Verdict, decisions[i].Reason = Hold, all
		case d.Entry.ID.Stateful():
			decisions[i].Verdict, decisions[i].Reason = Hold, "deleting it deletes what it holds"
		}
	}
}

// Stateful says whether with the object goes what it holds: data, or other objects.
func (id ID) Stateful() bool {
	switch id.Group {
	case "":
		return id.Kind == "Namespace" || id.Kind == "PersistentVolume" || id.Kind == "PersistentVolumeClaim"
	case "apiextensions.k8s.io":
		return id.Kind == "CustomResourceDefinition"
	default:
		return false
	}
}
