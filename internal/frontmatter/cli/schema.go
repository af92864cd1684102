package cli

import (
	"context"
	"fmt"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

func (a *app) schema(_ context.Context, _ []string) error {
	schema := matter.Schema
	if a.values.bool("project") {
		schema = matter.ProjectSchema
	}
	data, err := schema()
	if err != nil {
		return fmt.Errorf("making the schema: %w", err)
	}
	return printTo(a.stdout, string(data))
}
