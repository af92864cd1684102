package cli_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/frontmatter/cli"
)

// TestReference_IsCurrent: the reference in docs is what the tables say. `go generate ./...` writes it.
func TestReference_IsCurrent(t *testing.T) {
	data, err := os.ReadFile("../../../docs/reference/front-matter.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), cli.Reference()); diff != "" {
		t.Errorf("run go generate ./... (-file +tables):\n%s", diff)
	}
}
