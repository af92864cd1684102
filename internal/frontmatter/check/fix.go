package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Apply makes the sure fixes of a file's diagnostics in its text. It returns the text and how many fixes were made.
func Apply(text string, diagnostics []Diagnostic) (string, int) {
	edits, applied := SureEdits(diagnostics)
	return Edited(text, edits), applied
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

// Edited applies edits that do not overlap.
func Edited(text string, edits []source.Edit) string {
	edits = slices.SortedFunc(slices.Values(edits), func(a, b source.Edit) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
	}
	b.WriteString(text[at:])
	return b.String()
}
