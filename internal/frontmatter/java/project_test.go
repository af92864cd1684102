package java

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// unpack writes the files of an archive into a folder.
func unpack(tb testing.TB, archive *txtar.Archive, dir string) {
	tb.Helper()
	for _, f := range archive.Files {
		writeFile(tb, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
}

func writeFile(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// generated generates the code of a project; a project with findings yields their lines instead.
func generated(tb testing.TB, dir string) (files []File, findings string) {
	tb.Helper()
	result, err := check.Run(tb.Context(), check.Options{Paths: []string{dir}, Dir: dir, Whole: true})
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	for _, d := range result.Diagnostics {
		at := d.File.Position(d.Span.Start)
		fmt.Fprintf(&b, "%s:%d:%d: %s [%s]\n", d.Path, at.Line, at.Column, d.Message, d.Rule)
	}
	if b.Len() > 0 {
		return nil, b.String()
	}
	p := result.Projects[0]
	schema, err := p.Schema()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := Generate(Input{Project: p.Project, Files: result.Files, Schema: schema, Sources: p.Sources()})
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range out.Project {
		at := p.File.Position(f.Span.Start)
		fmt.Fprintf(&b, "%s:%d:%d: %s [%s]\n", p.File.Path, at.Line, at.Column, f.Message, f.Rule)
	}
	for _, file := range result.Files {
		for _, f := range out.Findings[file] {
			at := file.Position(f.Span.Start)
			fmt.Fprintf(&b, "%s:%d:%d: %s [%s]\n", file.Path, at.Line, at.Column, f.Message, f.Rule)
		}
	}
	return out.Files, b.String()
}
