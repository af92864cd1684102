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

// TestReasons_AreThoseOfTheCode: the page has every reason of the API, in its order, and no other.
func TestReasons_AreThoseOfTheCode(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "api/render/v1/reasons.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		want[value] = true
		return false
	})
	got := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\|")
	for _, match := range row.FindAllStringSubmatch(content(t, "docs/reference/reasons-and-events.md"), -1) {
		if got[match[1]] {
			t.Errorf("%s is there twice", match[1])
		}
		got[match[1]] = true
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 20 {
		t.Errorf("reasons (-code +page):\n%s", diff)
	}
}

// TestOperatorExamples_AreShownAsTheyAre: what a page shows to be pasted is the file that is tested.
func TestOperatorExamples_AreShownAsTheyAre(t *testing.T) {
	shown := content(t, "docs/guides/operator.md") + content(t, "docs/guides/operator-tenancy.md")
	files, err := filepath.Glob(filepath.Join(root, "examples/operator/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(shown, "```yaml\n"+string(text)+"```\n") {
			t.Errorf("no page shows %s as it is", filepath.Base(file))
		}
	}
}
