package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReasons_AreThoseOfTheCode: each part of the page has every reason and event of its API, and no other.
func TestReasons_AreThoseOfTheCode(t *testing.T) {
	page := content(t, "docs/reference/reasons-and-events.md")
	rendering, stages, found := strings.Cut(page, "\n## StageSet\n")
	if !found {
		t.Fatal("the page has no part about StageSets")
	}
	for file, c := range map[string]struct {
		part  string
		least int
	}{
		"api/render/v1/reasons.go": {rendering, 20}, "api/stages/v1/reasons.go": {stages, 35},
	} {
		got := map[string]bool{}
		row := regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\|")
		for _, match := range row.FindAllStringSubmatch(c.part, -1) {
			if got[match[1]] {
				t.Errorf("%s is there twice", match[1])
			}
			got[match[1]] = true
		}
		if diff := cmp.Diff(reasonsOf(t, file), got); diff != "" || len(got) < c.least {
			t.Errorf("%s (-code +page):\n%s", file, diff)
		}
	}
}

// reasonsOf are the values of the constants of a file whose names begin as those of reasons and events do.
func reasonsOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]bool{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") && !strings.HasPrefix(spec.Names[0].Name, "Event") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		values[value] = true
		return false
	})
	return values
}

// TestExamples_AreShownAsTheyAre: what a page shows to be pasted is the file that is tested.
func TestExamples_AreShownAsTheyAre(t *testing.T) {
	for directory, guides := range map[string]string{"operator": "operator*.md", "stages": "stages*.md"} {
		shown := ""
		pages, err := filepath.Glob(filepath.Join(root, "docs/guides", guides))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%d guides of %s, %v", len(pages), directory, err)
		}
		for _, page := range pages {
			shown += content(t, filepath.Join("docs/guides", filepath.Base(page)))
		}
		files, err := filepath.Glob(filepath.Join(root, "examples", directory, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d examples of %s, %v", len(files), directory, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(shown, "```yaml\n"+string(text)+"```\n") {
				t.Errorf("no page shows %s/%s as it is", directory, filepath.Base(file))
			}
		}
	}
}
