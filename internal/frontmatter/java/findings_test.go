package java

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// TestRules_ExamplesDoWhatTheySay: the wrong example of every rule yields findings of that rule and no other, the right
// one code.
func TestRules_ExamplesDoWhatTheySay(t *testing.T) {
	seen := 0
	for _, r := range check.Rules() {
		if r.Layer != check.LayerJava {
			continue
		}
		seen++
		t.Run(string(r.ID), func(t *testing.T) {
			for name, e := range map[string]check.Example{"wrong": r.Wrong, "right": r.Right} {
				dir := t.TempDir()
				writeFile(t, filepath.Join(dir, "findUser.sql"), e.SQL)
				files, findings := generated(t, dir)
				if name == "right" {
					if findings != "" || len(files) == 0 {
						t.Errorf("right example: %d files, findings:\n%s", len(files), findings)
					}
					continue
				}
				if findings == "" {
					t.Error("wrong example: nothing found")
				}
				for line := range strings.Lines(findings) {
					if !strings.HasSuffix(line, "["+string(r.ID)+"]\n") {
						t.Errorf("wrong example: %s", line)
					}
				}
			}
		})
	}
	if seen == 0 {
		t.Error("no rules")
	}
}

// TestGenerate_Findings: each case is a project with the file `want`, which has its findings. With UPDATE set, the files
// are written.
func TestGenerate_Findings(t *testing.T) {
	cases, err := filepath.Glob("testdata/findings/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			last := len(archive.Files) - 1
			want := archive.Files[last]
			if want.Name != "want" {
				t.Fatal("the last file of a case is want")
			}
			archive.Files = archive.Files[:last]
			dir := t.TempDir()
			unpack(t, archive, dir)
			_, got := generated(t, dir)
			if os.Getenv("UPDATE") != "" {
				archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
				writeFile(t, path, string(txtar.Format(archive)))
				return
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
