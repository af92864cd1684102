package cluster

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// options are what the flags of "controlplane up" say.
type options struct {
	binary     string   // this program, which is started again for each of the others
	kubeconfig string   // absolute; "" is a file in the directory
	crds       []string // directories, or single files
	directory  string   // absolute; "" is a new temporary one
	nodes      int
	timeout    time.Duration // until everything is ready
}

const usage = `Usage: controlplane up [flags]

Starts etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok on free ports of 127.0.0.1, and writes a
kubeconfig when all of it is ready. Pods on its nodes are Ready at once and those of Jobs complete; no container runs.
It stops on SIGINT and SIGTERM, when its parent process ends, and at the end of its standard input if that is a pipe.
Nothing is kept.

Flags:
`

// parse reads the flags. Its error has been printed to stderr already, with the flags, as the flag package does.
func parse(args []string, stderr io.Writer) (options, error) {
	o := options{nodes: 1, timeout: 3 * time.Minute}
	flags := flag.NewFlagSet("controlplane up", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = io.WriteString(stderr, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "write the kubeconfig of an administrator to `FILE`, which must not "+
		"exist and is removed at the end; by default it is in the directory")
	flags.Func("crds", "install the CustomResourceDefinitions of a `DIR` or file; may be repeated", func(path string) error {
		o.crds = append(o.crds, path)
		return nil
	})
	flags.StringVar(&o.directory, "directory", "", "keep data, certificates and logs in `DIR`, which must be empty or not "+
		"exist and is removed at the end; by default a temporary one")
	flags.IntVar(&o.nodes, "nodes", o.nodes, "`number` of nodes")
	flags.DurationVar(&o.timeout, "timeout", o.timeout, "give up when not ready after this `duration`")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if err := o.check(flags.Args()); err != nil {
		_, _ = fmt.Fprintf(stderr, "controlplane up: %v\n", err)
		return options{}, err
	}
	return o, nil
}

// check refuses what cannot work, before anything is started.
func (o *options) check(rest []string) (err error) {
	if len(rest) > 0 {
		return fmt.Errorf("it takes flags only, and there is %q (repeat --crds for each directory)", rest[0])
	}
	if o.nodes < 0 {
		return errors.New("--nodes must not be negative")
	}
	if o.timeout <= 0 {
		return errors.New("--timeout must be more than 0")
	}
	for _, path := range o.crds {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("looking for --crds: %w", err)
		}
	}
	if o.kubeconfig != "" {
		if o.kubeconfig, err = filepath.Abs(o.kubeconfig); err != nil {
			return fmt.Errorf("finding --kubeconfig: %w", err)
		}
		if _, err := os.Lstat(o.kubeconfig); err == nil {
			return fmt.Errorf("--kubeconfig %s exists already, and nothing is overwritten", o.kubeconfig)
		}
	}
	if o.directory != "" {
		if o.directory, err = filepath.Abs(o.directory); err != nil {
			return fmt.Errorf("finding --directory: %w", err)
		}
		if entries, err := os.ReadDir(o.directory); err == nil && len(entries) > 0 {
			return fmt.Errorf("--directory %s is not empty, and all of it would be removed at the end", o.directory)
		}
	}
	return nil
}
