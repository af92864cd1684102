package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Apply makes the sure fixes of a file's diagnostics in its text. Of fixes that touch the same place, the first one is
// made; a further round finds the others. It returns the text and how many fixes were made.
func Apply(text string, diagnostics []Diagnostic) (string, int) {
	var edits []source.Edit
	applied := 0
	for _, d := range diagnostics {
		for _, f := range d.Fixes {
			if f.Sure && !overlap(edits, f.Edits) {
				edits = append(edits, f.Edits...)
				applied++
				break
			}
		}
	}
	return Edited(text, edits), applied
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
