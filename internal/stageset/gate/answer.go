package gate

import (
	"encoding/json"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// answer is what a request is answered with.
type answer struct {
	ready bool
	body  []byte
}

// document is the body of an answer.
type document struct {
	Ready    bool           `json:"ready"`
	Phase    stagesv1.Phase `json:"phase"`    // empty for a stage that nothing is known of
	Revision string         `json:"revision"` // that the stage was ready with last
}

func newAnswer(d document) answer {
	body, err := json.Marshal(d)
	if err != nil { // a bool and two strings
		body = []byte("{}")
	}
	return answer{d.Ready, append(body, '\n')}
}

// answersOf makes the answers for all stages of a StageSet.
func answersOf(set *stagesv1.StageSet) map[string]answer {
	current := set.DeletionTimestamp == nil && set.Status.ObservedGeneration == set.Generation
	pinned := pinnedRevisions(&set.Status)
	answers := make(map[string]answer, len(set.Status.Stages))
	for i := range set.Status.Stages {
		s := &set.Status.Stages[i]
		want, ok := pinned[s.Name]
		answers[s.Name] = newAnswer(document{
			Ready:    current && ok && s.Phase == stagesv1.PhaseReady && s.AppliedRevision == want,
			Phase:    s.Phase,
			Revision: s.AppliedRevision,
		})
	}
	return answers
}

// pinnedRevisions are those of the run, or of what was applied last where there is none.
func pinnedRevisions(status *stagesv1.StageSetStatus) map[string]string {
	var revisions []stagesv1.StageRevision
	switch {
	case status.Run != nil:
		revisions = status.Run.Revisions
	case status.LastApplied != nil:
		revisions = status.LastApplied.Revisions
	}
	pinned := make(map[string]string, len(revisions))
	for _, r := range revisions {
		pinned[r.Stage] = r.Revision
	}
	return pinned
}
