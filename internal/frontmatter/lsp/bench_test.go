package lsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// BenchmarkKeystroke diagnoses a file of 500 statements after a change. The goal is less than 20 ms; the number is
// printed, and nothing fails on it.
func BenchmarkKeystroke(b *testing.B) {
	var text strings.Builder
	for n := range 500 {
		fmt.Fprintf(&text, `-- name: findThing%d
-- returning: single
-- parameters:
--   - name: id
--     type: long
SELECT id, name FROM things WHERE id = :id AND note <> 'a; b :c';

`, n)
	}
	w := newWorkspace(check.Overrides{})
	d := w.open("untitled:x", text.String(), 1)
	for b.Loop() {
		d.text += " "
		d.file = nil
		w.touch(d.project)
		if found := d.findings(); len(found) != 0 {
			b.Fatalf("%d findings", len(found))
		}
	}
}
