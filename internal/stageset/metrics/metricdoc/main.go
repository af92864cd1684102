// Metricdoc writes the reference of the stage controller's metrics. `make generate` runs it.
package main

import (
	"log/slog"
	"os"

	"github.com/stagewright/stagewright/internal/stageset/metrics"
)

// page is relative to the package whose go:generate line runs this.
const page = "../../../docs/reference/stageset-controller-metrics.md"

func main() {
	if err := os.WriteFile(page, []byte(metrics.Page()), 0o600); err != nil {
		slog.Error("writing the metrics reference", "error", err)
		os.Exit(1)
	}
}
