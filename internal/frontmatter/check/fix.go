package check

import (
	"slices"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Apply makes the sure fixes of a file's diagnostics in its text. It returns the text and how many fixes were made.
func Apply(text string, diagnostics []Diagnostic) (string, int) {
	edits, applied := SureEdits(diagnostics)
	return source.Edited(text, edits), applied
}

// SureEdits returns the edits of the sure fixes of a file's diagnostics, and of how many fixes they are. Of fixes that
// touch the same place, the first one is taken; a further round finds the others.
func SureEdits(diagnostics []Diagnostic) (edits []source.Edit, fixes int) {
	for _, d := range diagnostics {
		for _, f := range d.Fixes {
			if f.Sure && !overlap(edits, f.Edits) {
				edits = append(edits, f.Edits...)
				fixes++
				break
			}
		}
	}
	return edits, fixes
}

func overlap(edits, more []source.Edit) bool {
	for _, m := range more {
		if slices.ContainsFunc(edits, func(e source.Edit) bool { return m.Start < e.End && e.Start < m.End || m.Start == e.Start }) {
			return true
		}
	}
	return false
}
