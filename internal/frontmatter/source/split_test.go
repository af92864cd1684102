package source

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of the txtar files")

// TestParse_Cases reads testdata/split/*.txtar: the comment names the dialect, in.sql is the file, want is what was
// found in it. Backslash escapes \r, \t and \uFEFF in in.sql stand for these characters.
func TestParse_Cases(t *testing.T) {
	files, err := filepath.Glob("testdata/split/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(string(archive.Comment), "\n")
			text := strings.NewReplacer(`\r`, "\r", `\t`, "\t", `\uFEFF`, "\uFEFF").Replace(string(archive.Files[0].Data))
			got := describe(Parse(NewFile("in.sql", text), Options{Dialect: dialectNamed(t, name), Match: matchForTest}))
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

func describe(p *Parsed) string {
	var b strings.Builder
	place := func(s Span) string {
		at := p.File.Position(s.Start)
		return fmt.Sprintf("%d:%d", at.Line, at.Column)
	}
	for _, s := range p.Statements {
		fmt.Fprintf(&b, "statement %s %s %q\n", place(s.SQL), s.Dialect.Name, s.SQL.Text(p.File.Text))
		if s.Block != nil {
			fmt.Fprintf(&b, "  front matter %s %q\n", place(s.Block.Span), s.Block.YAML())
		}
		for _, o := range s.Parameters {
			fmt.Fprintf(&b, "  parameter %s %s\n", place(o.Span), o.Name)
		}
		for _, q := range s.Questions {
			fmt.Fprintf(&b, "  operator %s\n", place(q))
		}
	}
	for _, f := range p.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", place(f.Span), f.Rule, f.Message)
	}
	return b.String()
}
