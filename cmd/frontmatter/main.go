// The frontmatter program checks, formats and explains the YAML above SQL statements.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/stagewright/stagewright/internal/frontmatter/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
