package format

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of the txtar files")

func build(text string) *statement.File {
	return statement.Build(statement.NewProject("."), source.NewFile("in.sql", text), "in.sql")
}

// TestFile_Cases reads testdata/*.txtar: in.sql comes out as want, and want comes out as it is.
func TestFile_Cases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := File(build(string(archive.Files[0].Data)))
			if again := File(build(got)); again != got {
				t.Errorf("formatting again changes it (-once +twice):\n%s", cmp.Diff(got, again))
			}
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFile_KeepsLineEndsAndByteOrderMark(t *testing.T) {
	got := File(build("\uFEFF--  type:   reading\r\n--  name: a\r\nselect 1;\r\n--name: b\rselect 2"))
	want := "\uFEFF-- name: a\r\n-- type: reading\r\nselect 1;\r\n-- name: b\rselect 2"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMatter_KeepsWhatCannotBeRead(t *testing.T) {
	for _, text := range []string{"name: [a\n", "name: a\nname: b\n", "name: !!str a\n", "name: a\n---\nname: b\n"} {
		if got := Matter(text); got != text {
			t.Errorf("Matter(%q) = %q, want it unchanged", text, got)
		}
	}
}

// FuzzFile: formatting leaves the SQL and the meaning alone, and formatting again changes nothing.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"-- type: reading\n-- name: a\nselect 1;", "--  a: |\n--    b\n--\n--   c\nselect 1",
		"-- parameters:\n-- - type: long # x\n--   name: a\n-- # c\nselect :a", "-- a: [b,\n--  c]\n-- d: 'e\n--   f'\nselect 1",
		"-- name: a\n-- description: >+\n--   x\n--\n--\nselect 1", "-- a: b\n--   c\n-- - - x: y\n--     z: 1\nselect 1\r\n",
		"--  parameters:\n--   -\n--     # c\n--     name: x\n--   - # d\n--     name: y\nselect 1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before := build(text)
		formatted := File(before)
		after := build(formatted)
		if len(before.Statements) != len(after.Statements) {
			t.Fatalf("%d statements become %d in %q", len(before.Statements), len(after.Statements), formatted)
		}
		for i, s := range before.Statements {
			a := after.Statements[i]
			if got, want := a.Source.SQL.Text(formatted), s.Source.SQL.Text(text); got != want {
				t.Fatalf("SQL %q becomes %q", want, got)
			}
			if s.Readable() != a.Readable() || s.Readable() && !equal(s.Written, a.Written) {
				t.Fatalf("front matter of statement %d means something else in\n%s", i, formatted)
			}
		}
		if again := File(after); again != formatted {
			t.Fatalf("formatting again changes it (-once +twice):\n%s", cmp.Diff(formatted, again))
		}
	})
}

// FuzzMatter drives the same with YAML only, which reaches deeper into it.
func FuzzMatter(f *testing.F) {
	for _, k := range matter.Keys() {
		f.Add(k.Example + "\n")
	}
	f.Add("name: a # b\n# c\nparameters:\n- name: b\n  # d\n  type: c\n-\n  name: e\n")
	f.Fuzz(func(t *testing.T, text string) {
		once := Matter(text)
		if twice := Matter(once); twice != once {
			t.Fatalf("formatting again changes it (-once +twice):\n%s", cmp.Diff(once, twice))
		}
	})
}
