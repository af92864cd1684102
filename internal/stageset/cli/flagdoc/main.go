// Flagdoc writes the reference of the stage controller's flags. `make generate` runs it.
package main

import (
	"log/slog"
	"os"

	"github.com/stagewright/stagewright/internal/stageset/cli"
)

// page is relative to the package whose go:generate line runs this.
const page = "../../../docs/reference/stageset-controller-flags.md"

func main() {
	if err := os.WriteFile(page, []byte(cli.Table().Markdown()), 0o600); err != nil {
		slog.Error("writing the flag reference", "error", err)
		os.Exit(1)
	}
}
