package check

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// run checks an example in a folder of its own.
func run(t *testing.T, e Example) []Diagnostic {
	t.Helper()
	dir := t.TempDir()
	if e.Project != "" {
		write(t, filepath.Join(dir, "frontmatter.yaml"), e.Project)
		if err := os.MkdirAll(filepath.Join(dir, "sql"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := e.Path
	if path == "" {
		path = "findUser.sql"
	}
	write(t, filepath.Join(dir, path), e.SQL)
	asked := dir
	if e.Project != "" {
		asked = filepath.Join(dir, path)
	}
	result, err := Run(t.Context(), Options{Paths: []string{asked}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return result.Diagnostics
}

func write(t *testing.T, path, text string) {
	t.Helper()
	writeFile(t, path, text)
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

// TestRules_ExamplesDoWhatTheySay: the wrong example of every rule yields findings of that rule and no other, the right
// one none.
func TestRules_ExamplesDoWhatTheySay(t *testing.T) {
	withoutExample := map[source.Rule]string{
		RuleUnreadable:      "depends on permissions",
		source.RuleFileSize: "is too large to print",
		source.RuleTooMany:  "is too large to print",
	}
	seen := map[source.Rule]bool{}
	for _, r := range Rules() {
		t.Run(string(r.ID), func(t *testing.T) {
			if seen[r.ID] {
				t.Error("the rule is in the table twice")
			}
			seen[r.ID] = true
			if r.Summary == "" || r.Text == "" || r.Layer == "" {
				t.Error("the rule says too little")
			}
			if withoutExample[r.ID] != "" {
				return
			}
			if r.Layer == LayerJava {
				return // nothing is generated here; the tests of that package run these examples
			}
			wrong := run(t, r.Wrong)
			for _, d := range wrong {
				if d.Rule != r.ID || d.Severity != r.Severity {
					t.Errorf("wrong example: %s of severity %s: %s", d.Rule, d.Severity, d.Message)
				}
			}
			if len(wrong) == 0 {
				t.Error("wrong example: nothing found")
			}
			for _, d := range run(t, r.Right) {
				t.Errorf("right example: %s: %s", d.Rule, d.Message)
			}
		})
	}
}

// TestRules_AreComplete: every rule that a package defines is in the table.
func TestRules_AreComplete(t *testing.T) {
	definition := regexp.MustCompile(`(?m)^\tRule\w+ +source\.Rule = "([^"]+)"|^\tRule\w+ +Rule = "([^"]+)"`)
	defined := 0
	for _, pattern := range []string{"../source/*.go", "../matter/*.go", "../statement/*.go", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range definition.FindAllStringSubmatch(string(data), -1) {
				defined++
				if _, ok := RuleNamed(m[1] + m[2]); !ok {
					t.Errorf("%s: the rule %s is not in the table", path, m[1]+m[2])
				}
			}
		}
	}
	if defined != len(Rules()) {
		t.Errorf("%d rules are defined and %d in the table", defined, len(Rules()))
	}
}
