package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stagewright/stagewright/tools/controlplane/internal/cluster"
	"github.com/stagewright/stagewright/tools/controlplane/programs"
)

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 0:
		usage(os.Stderr)
		os.Exit(2)
	case programs.Is(args[0]):
		os.Exit(programs.Run(args))
	case args[0] == "up":
		os.Exit(cluster.Run(context.Background(), args[1:], os.Stdin, os.Stdout, os.Stderr))
	case args[0] == "help" || args[0] == "--help" || args[0] == "-h":
		usage(os.Stdout)
	default:
		fmt.Fprintf(os.Stderr, "controlplane: there is no subcommand %q\n\n", args[0])
		usage(os.Stderr)
		os.Exit(2)
	}
}

func usage(w io.Writer) {
	fmt.Fprintf(w, `A Kubernetes control plane in one binary.

  controlplane up [flags]     start a whole control plane on loopback; "controlplane up --help" lists its flags
  controlplane PROGRAM …      run one program with its own flags: %s
`, strings.Join(programs.Names(), ", "))
}
