// Renderer evaluates Jsonnet over HTTP. See internal/render/cli.
package main

import (
	"context"
	"os"

	"github.com/stagewright/stagewright/internal/render/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
