package inventory

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

// Decision is a verdict on an entry.
type Decision struct {
	Entry   Entry
	Verdict Verdict
	Reason  string // a few words for people; for Delete the resource version and UID are in Live
	Live    Live   // for Delete and Hold
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
func Decide(in PruneInput) []Decision { panic("not yet") }
