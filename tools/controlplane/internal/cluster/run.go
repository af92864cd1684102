package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const parentInterval = 200 * time.Millisecond

// Run is "controlplane up": it returns the exit code, 0 after an end that was asked for.
func Run(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go watchParent(ctx, cancel, os.Getppid)
	if isPipe(stdin) {
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			cancel()
		}()
	}
	if o.binary, err = os.Executable(); err != nil {
		_, _ = fmt.Fprintf(stderr, "controlplane: finding this program: %v\n", err)
		return 1
	}
	err = up(ctx, o, stderr, func(kubeconfig string) {
		_, _ = fmt.Fprintf(stdout, "export KUBECONFIG='%s'\n", kubeconfig)
	})
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "controlplane: %v\n", err)
		return 1
	}
	return 0
}

// watchParent calls end when the process that started this one is gone: the system gives orphans another parent.
func watchParent(ctx context.Context, end func(), parent func() int) {
	first := parent()
	ticker := time.NewTicker(parentInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if parent() != first {
				end()
				return
			}
		}
	}
}

// isPipe tells whether the end of standard input means something. A terminal or /dev/null says nothing about who
// started the process: shells give the latter to what runs in the background.
func isPipe(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
