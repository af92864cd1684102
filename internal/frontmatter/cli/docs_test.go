package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/cli"
	"github.com/stagewright/stagewright/internal/frontmatter/format"
)

// TestExamples_AreCleanAndFormatted: what users copy has no findings and is written as fmt writes it.
func TestExamples_AreCleanAndFormatted(t *testing.T) {
	dir, err := filepath.Abs("../../../examples/sql")
	if err != nil {
		t.Fatal(err)
	}
	result, err := check.Run(t.Context(), check.Options{Paths: []string{dir}, Dir: dir, Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Diagnostics {
		t.Errorf("%s: %s [%s]", d.Path, d.Message, d.Rule)
	}
	statements := 0
	for _, f := range result.Files {
		statements += len(f.Statements)
		if format.File(f) != f.Text {
			t.Errorf("%s is not formatted", f.Path)
		}
	}
	if statements < 20 {
		t.Errorf("%d statements, want about 20", statements)
	}
}

var sqlBlock = regexp.MustCompile("(?ms)^```sql\n(.*?)^```")

// TestGuides_StatementsAreClean: every SQL block of the guides passes the check, each in a folder of its own. Blocks that
// show mistakes are marked as text.
func TestGuides_StatementsAreClean(t *testing.T) {
	guides, err := filepath.Glob("../../../docs/guides/front-matter*.md")
	if err != nil || len(guides) < 4 {
		t.Fatalf("%d guides: %v", len(guides), err)
	}
	for _, guide := range guides {
		data, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range sqlBlock.FindAllStringSubmatch(string(data), -1) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "findExample.sql"), []byte(block[1]), 0o644); err != nil {
				t.Fatal(err)
			}
			result, err := check.Run(t.Context(), check.Options{Paths: []string{dir}, Dir: dir, Overrides: check.Overrides{Dialect: "postgresql"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range result.Diagnostics {
				t.Errorf("%s: %s [%s] in\n%s", filepath.Base(guide), d.Message, d.Rule, block[1])
			}
		}
	}
}

// TestRun_FailsWhenOutputCannotBeWritten: a full disk is not a clean result.
func TestRun_FailsWhenOutputCannotBeWritten(t *testing.T) {
	var stderr bytes.Buffer
	if code := cli.Run(t.Context(), []string{"schema"}, nil, strings.NewReader(""), failing{}, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1; %s", code, stderr.String())
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }
