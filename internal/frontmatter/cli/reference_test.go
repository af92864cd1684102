package cli_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/frontmatter/cli"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

// TestReference_IsCurrent: the reference and the schemas in docs are what the tables say. `go generate ./...` writes
// them.
func TestReference_IsCurrent(t *testing.T) {
	schema, err := matter.Schema()
	if err != nil {
		t.Fatal(err)
	}
	project, err := matter.ProjectSchema()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"front-matter.md":                  cli.Reference(),
		"front-matter.schema.json":         string(schema),
		"front-matter-project.schema.json": string(project),
	} {
		data, err := os.ReadFile("../../../docs/reference/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(data), want); diff != "" {
			t.Errorf("%s: run go generate ./... (-file +tables):\n%s", name, diff)
		}
	}
}
