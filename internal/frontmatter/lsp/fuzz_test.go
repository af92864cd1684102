package lsp

import (
	"testing"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// FuzzFeatures: whatever the text and the place, everything that looks at a place comes back with places in the text.
func FuzzFeatures(f *testing.F) {
	for _, text := range []string{
		"-- name: a\n-- parameters:\n--   - name: b\n--     ty\nselect :b", "-- \nselect 1", "--", "-- a: [\n--- - x", "-- resultRowType: a.B\r\n-- vendor: 😀\r\nselect ':x'",
	} {
		f.Add(text, 5, 1)
		f.Add(text, len(text)-1, 2)
	}
	f.Fuzz(func(t *testing.T, text string, line, character int) {
		w := newWorkspace(check.Overrides{})
		d := w.open("untitled:x", text, 1)
		file := d.current()
		offset := w.offsetOf(file.File, position{line, character})
		if offset < 0 || offset > len(text) {
			t.Fatalf("offset %d of %d bytes", offset, len(text))
		}
		if c := readCursor(file.File, offset); c != nil {
			if c.word.Start < 0 || c.word.End < c.word.Start || c.word.End > len(text) {
				t.Fatalf("the word is %+v of %d bytes", c.word, len(text))
			}
			c.options()
		}
		s := &server{workspace: w}
		a := s.locate(positionParams{documentID{"untitled:x"}, position{line, character}})
		if a.statement != nil {
			a.describe()
			a.class()
			if p, _ := a.parameter(); p != nil {
				renameEdits(a.statement, p, "other")
			}
		}
		for _, found := range d.findings() {
			s.diagnostic(d, found)
		}
	})
}
