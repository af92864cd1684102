package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/stagewright/stagewright/tools/controlplane/internal/supervise"
)

var errTimeout = errors.New("time is up")

// plane is a control plane that is being started or runs.
type plane struct {
	options options
	layout  *layout
	api     *api
	group   *supervise.Group
	crds    []object
	stderr  io.Writer
	started time.Time
}

// up starts a control plane, calls ready with the path of its kubeconfig, and stops it when the context ends. It
// returns nil after a context that was cancelled, and an error when something did not start or ended by itself.
func up(ctx context.Context, o options, stderr io.Writer, ready func(kubeconfig string)) (err error) {
	p := &plane{options: o, stderr: stderr, started: time.Now()}
	directory, err := p.prepare(ctx)
	if directory != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	}
	if err != nil {
		return err
	}
	group, running := supervise.NewGroup(ctx)
	p.group = group
	defer group.Stop()

	starting, cancel := context.WithTimeoutCause(running, o.timeout, errTimeout)
	defer cancel()
	if err := p.start(starting); err != nil {
		return outcome(ctx, err)
	}
	path, err := p.writeKubeconfig()
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }()
	p.report("ready", "Ctrl-C stops it and removes everything")
	ready(path)

	<-running.Done()
	return outcome(ctx, context.Cause(running))
}

// outcome is nil for an end that was asked for.
func outcome(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// prepare does what needs no process yet. It returns the directory as soon as it exists.
func (p *plane) prepare(ctx context.Context) (directory string, err error) {
	for _, place := range p.options.crds {
		crds, err := readCRDs(place)
		if err != nil {
			return "", err
		}
		p.crds = append(p.crds, crds...)
	}
	if directory = p.options.directory; directory == "" {
		directory, err = os.MkdirTemp("", "controlplane-")
	} else {
		err = os.MkdirAll(directory, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("making the directory: %w", err)
	}
	if p.layout, err = newLayout(ctx, directory); err != nil {
		return directory, err
	}
	p.api, err = newAPI(p.layout.server(), p.layout.authority, p.layout.admin)
	p.report("prepared", directory)
	return directory, err
}

// start brings up one thing after the other; the order is who needs whom.
func (p *plane) start(ctx context.Context) error {
	l := p.layout
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return p.launch(ctx, l.etcd()) },
		func(ctx context.Context) error { return p.launch(ctx, l.apiserver()) },
		p.installCRDs, // before the controller manager: it learns of later ones only after a while
		p.registerNodes,
		func(ctx context.Context) error { return p.launch(ctx, l.controllerManager(), l.scheduler(), l.kwok()) },
		p.awaitControllers,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// launch starts programs at once and waits until each of them works.
func (p *plane) launch(ctx context.Context, programs ...program) error {
	for _, program := range programs {
		if err := p.group.Start(p.layout.process(p.options.binary, program)); err != nil {
			return err
		}
	}
	for _, program := range programs {
		err := eventually(ctx, func(ctx context.Context) error { return p.api.healthy(ctx, program.ready) })
		if err != nil {
			return p.explain(program.name, err)
		}
		p.report(program.name, program.ready)
	}
	return nil
}

// explain adds the end of a log to an error that does not have one.
func (p *plane) explain(name string, err error) error {
	err = fmt.Errorf("waiting for %s: %w", name, err)
	if !errors.Is(err, errTimeout) {
		return err
	}
	tail, _ := supervise.Tail(p.layout.path(name + ".log")) // the error counts without it
	return fmt.Errorf("%w\nthe end of its log:\n%s", err, tail)
}

func (p *plane) installCRDs(ctx context.Context) error {
	for _, crd := range p.crds {
		if err := p.api.apply(ctx, crd.path, crd.content); err != nil {
			return fmt.Errorf("installing a definition: %w", err)
		}
	}
	for _, crd := range p.crds {
		err := eventually(ctx, func(ctx context.Context) error { return p.api.condition(ctx, crd.path, "Established") })
		if err != nil {
			return fmt.Errorf("waiting for a definition: %w", err)
		}
	}
	p.report("definitions", fmt.Sprintf("%d installed", len(p.crds)))
	return nil
}

func (p *plane) registerNodes(ctx context.Context) error {
	for i := range p.options.nodes {
		node, err := newNode(i)
		if err != nil {
			return fmt.Errorf("describing a node: %w", err)
		}
		if err := p.api.apply(ctx, node.path, node.content); err != nil {
			return fmt.Errorf("registering a node: %w", err)
		}
	}
	return nil
}

// awaitControllers waits for what shows that the controllers have begun to work.
func (p *plane) awaitControllers(ctx context.Context) error {
	const account = "/api/v1/namespaces/default/serviceaccounts/default"
	err := eventually(ctx, func(ctx context.Context) error { return p.api.healthy(ctx, p.api.server+account) })
	if err != nil {
		return p.explain("kube-controller-manager", err)
	}
	for i := range p.options.nodes {
		err := eventually(ctx, func(ctx context.Context) error { return p.api.condition(ctx, nodePath(i), "Ready") })
		if err != nil {
			return p.explain("kwok", err)
		}
	}
	p.report("nodes", fmt.Sprintf("%d Ready", p.options.nodes))
	return nil
}

// writeKubeconfig writes it under another name first: whoever waits for the file finds all of it.
func (p *plane) writeKubeconfig() (string, error) {
	path := p.options.kubeconfig
	if path == "" {
		path = p.layout.path("kubeconfig")
	}
	content := kubeconfig(p.layout.server(), p.layout.authority, p.layout.admin)
	temporary, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-") // for its owner only
	if err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("writing the kubeconfig: %w", err), os.Remove(temporary.Name()))
	}
	return path, nil
}

func (p *plane) report(what, detail string) {
	_, _ = fmt.Fprintf(p.stderr, "controlplane: %5.1f s  %-24s %s\n", time.Since(p.started).Seconds(), what, detail)
}
