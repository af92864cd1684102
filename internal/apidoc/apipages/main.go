// Apipages writes the references of the API groups. `make generate` runs it.
package main

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/stagewright/stagewright/internal/apidoc"
)

// These are relative to the package whose go:generate line runs this.
const (
	definitions = "../../config/crd"
	reference   = "../../docs/reference"
)

func main() {
	for _, group := range apidoc.Groups() {
		text, err := group.Markdown(definitions)
		if err == nil {
			err = os.WriteFile(filepath.Join(reference, group.Page), []byte(text), 0o600)
		}
		if err != nil {
			slog.Error("writing the API reference", "page", group.Page, "error", err)
			os.Exit(1)
		}
	}
}
