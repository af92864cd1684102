package java

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var note = regexp.MustCompile(`\s{2,}// .*$`)

// TestReference_AnnotatedFile: the reference shows what is generated. Its lines, without their notes, are those of the file
// in that order; the page leaves some out.
func TestReference_AnnotatedFile(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/generated-java.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```java\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the page shows no file")
	}
	project := t.TempDir()
	if err := os.CopyFS(project, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	files, findings := generated(t, project)
	if findings != "" {
		t.Fatal(findings)
	}
	rest := ""
	for _, f := range files {
		if filepath.Base(f.Path) == "TaskRepository.java" {
			rest = "\n" + f.Content
		}
	}
	lines := 0
	for line := range strings.Lines(block) {
		line = note.ReplaceAllString(strings.TrimRight(line, "\n"), "")
		if line == "" {
			continue
		}
		var shown bool
		if _, rest, shown = strings.Cut(rest, "\n"+line+"\n"); !shown {
			t.Fatalf("the file has no line %q behind those before it", line)
		}
		rest = "\n" + rest
		lines++
	}
	if lines < 20 {
		t.Errorf("%d lines are shown", lines)
	}
}
