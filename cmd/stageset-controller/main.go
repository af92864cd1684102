// Stageset-controller rolls Flux artifacts out in ordered, health-gated stages. See internal/stageset/cli.
package main

import (
	"context"
	"os"

	"github.com/stagewright/stagewright/internal/stageset/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
