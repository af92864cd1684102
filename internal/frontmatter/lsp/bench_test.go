package lsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
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
	for _, others := range []int{0, 9500} {
		b.Run(fmt.Sprintf("with-%d-statements-in-other-files", others), func(b *testing.B) {
			w := newWorkspace(check.Overrides{})
			d := w.open("untitled:x", text.String(), 1)
			for n := range others / 10 {
				var other strings.Builder
				for i := range 10 {
					fmt.Fprintf(&other, "-- name: findOther%d_%d\n-- parameters: {id: long}\nSELECT 1 WHERE :id = 1;\n", n, i)
				}
				path := fmt.Sprintf("/other/%d.sql", n)
				d.project.files[path] = check.File(d.project.Project.Project, source.NewFile(path, other.String()), path[1:])
			}
			for b.Loop() {
				d.text += " "
				d.file = nil
				w.touch(d.project)
				if found := d.findings(); len(found) != 0 {
					b.Fatalf("%d findings", len(found))
				}
			}
		})
	}
}
