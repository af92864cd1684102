package cli_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/frontmatter/cli"
)

// run runs the program in a folder with files and returns what it printed.
func run(t *testing.T, files map[string]string, args ...string) (stdout string, code int) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	code = cli.Run(t.Context(), args, nil, strings.NewReader(""), &out, &errs)
	return out.String(), code
}

// hostile are names and texts that a format has to escape.
func hostile() map[string]string {
	return map[string]string{
		"findA b%25#ö,:.sql":  "-- \"na\u202eem\": a\n-- \"a%0A::error::b\": x\n-- /* name: x */\nselect 1",
		"find\nNewline.sql":   "-- returning: \"a\\n::error::b\"\nselect 1",
		"findEmpty.sql":       "-- name: a",
		"findBytes.sql":       "select \xff",
		"findComments.sql":    "/* name: x */\nselect '😀', ?",
		"findUnfinished.sql":  "select '",
		"findEscape\x1b[.sql": "-- \x1b[31m: x\nselect 1",
	}
}

// sarifLog is as much of a SARIF 2.1.0 log as a consumer needs; the sections are those of the OASIS standard.
type sarifLog struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []struct {
		ColumnKind string `json:"columnKind"`
		Tool       struct {
			Driver struct {
				Name    string      `json:"name"`
				Version string      `json:"version"`
				Rules   []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	} `json:"runs"`
}

type sarifRule struct {
	ID                   string    `json:"id"`
	ShortDescription     sarifText `json:"shortDescription"`
	FullDescription      sarifText `json:"fullDescription"`
	DefaultConfiguration struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifResult struct {
	RuleID    string    `json:"ruleId"`
	RuleIndex *int      `json:"ruleIndex"`
	Level     string    `json:"level"`
	Message   sarifText `json:"message"`
	Locations []struct {
		PhysicalLocation struct {
			ArtifactLocation struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine, StartColumn, EndLine, EndColumn int
			} `json:"region"`
		} `json:"physicalLocation"`
	} `json:"locations"`
}

type sarifText struct {
	Text string `json:"text"`
}

func decodeSARIF(t *testing.T, text string) sarifLog {
	t.Helper()
	var log sarifLog
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&log); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-2.1.0") || len(log.Runs) != 1 { // 3.13
		t.Fatalf("version %s, schema %s, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	driver := log.Runs[0].Tool.Driver // 3.19
	if driver.Name == "" || driver.Version == "" || log.Runs[0].ColumnKind != "unicodeCodePoints" {
		t.Errorf("driver %+v, columns of kind %q", driver, log.Runs[0].ColumnKind)
	}
	return log
}

func TestCheck_WritesSARIF(t *testing.T) {
	files := hostile()
	text, code := run(t, files, "check", "--format", "sarif")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	log := decodeSARIF(t, text)
	levels := []string{"none", "note", "warning", "error"}
	rules := log.Runs[0].Tool.Driver.Rules
	seen := map[string]bool{}
	for _, rule := range rules { // 3.49
		if seen[rule.ID] || rule.ShortDescription.Text == "" || rule.FullDescription.Text == "" || !slices.Contains(levels, rule.DefaultConfiguration.Level) {
			t.Errorf("rule %+v", rule)
		}
		seen[rule.ID] = true
	}
	found := map[string]bool{}
	for _, r := range log.Runs[0].Results { // 3.27
		if r.RuleIndex == nil || *r.RuleIndex < 0 || *r.RuleIndex >= len(rules) || rules[*r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s does not name its rule", r.RuleID)
		}
		if r.Message.Text == "" || !slices.Contains(levels, r.Level) || len(r.Locations) != 1 {
			t.Errorf("result %+v", r)
			continue
		}
		place := r.Locations[0].PhysicalLocation
		uri, err := url.Parse(place.ArtifactLocation.URI) // 3.4: a URI reference, RFC 3986
		if err != nil || uri.Scheme != "" || !regexp.MustCompile(`^[A-Za-z0-9%._~/,@:-]+$`).MatchString(place.ArtifactLocation.URI) {
			t.Errorf("URI %q: %v", place.ArtifactLocation.URI, err)
			continue
		}
		found[uri.Path] = true
		at := place.Region // 3.30: from 1, the end behind the start
		if at.StartLine < 1 || at.StartColumn < 1 || at.EndLine < at.StartLine || at.EndLine == at.StartLine && at.EndColumn < at.StartColumn {
			t.Errorf("region %+v", at)
		}
	}
	for name := range files {
		if !found[strings.TrimPrefix(name, "./")] && !found["./"+name] {
			t.Errorf("there is no result for %q, only for %v", name, found)
		}
	}
}

// TestCheck_WritesSARIFWithoutFindings: results and rules are there and empty, which says that the run found nothing.
func TestCheck_WritesSARIFWithoutFindings(t *testing.T) {
	text, code := run(t, map[string]string{"findA.sql": "select 1"}, "check", "--format", "sarif")
	if log := decodeSARIF(t, text); code != 0 || log.Runs[0].Results == nil || log.Runs[0].Tool.Driver.Rules == nil {
		t.Errorf("exit code %d, results %v in\n%s", code, log.Runs[0].Results, text)
	}
}

// TestCheck_EscapesAnnotations: whatever files are called and hold, each line is one workflow command of the two levels,
// and no other command can be smuggled in.
func TestCheck_EscapesAnnotations(t *testing.T) {
	text, _ := run(t, hostile(), "check", "--format", "github")
	form := regexp.MustCompile(`^::(error|warning) file=[^:,\r\n]+,line=\d+,col=\d+,endLine=\d+,endColumn=\d+,title=[a-z-]+::[^\r\n]+$`)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < len(hostile()) {
		t.Errorf("%d annotations of %d files", len(lines), len(hostile()))
	}
	for _, line := range lines {
		if !form.MatchString(line) {
			t.Errorf("no annotation: %q", line)
		}
	}
	if want := "file=findA b%2525#ö%2C%3A.sql,"; !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
}

// TestCheck_KeepsTerminalsSafe: a diagnostic is one line, and nothing in it moves the cursor or turns the text around.
func TestCheck_KeepsTerminalsSafe(t *testing.T) {
	text, _ := run(t, hostile(), "check")
	line := regexp.MustCompile(`^[^\n]+:\d+:\d+: (error|warning): .+ \[[a-z-]+\]$`)
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("no diagnostic: %q", l)
		}
	}
	if i := strings.IndexAny(text, "\x1b\x07\u202a\u202b\u202d\u202e\u2066\u2067\u2068\r"); i >= 0 {
		t.Errorf("%q in the output", text[i:min(i+10, len(text))])
	}
}
