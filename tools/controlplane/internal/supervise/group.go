package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
)

// ErrStopped is the cause of a group's context after Stop.
var ErrStopped = errors.New("stopped")

// Process says what to run.
type Process struct {
	Name string // what messages call it
	Path string
	Args []string
	Env  []string // of the whole process; nothing is inherited
	Log  string   // a file that takes standard output and standard error
}

// EndedError says that a process ended although nobody had stopped it.
type EndedError struct {
	Name  string
	State string // "exit status 1", "signal: killed"
	Log   string // the end of what it wrote
}

func (e *EndedError) Error() string {
	if e.Log == "" {
		return fmt.Sprintf("%s ended by itself (%s) and wrote nothing", e.Name, e.State)
	}
	return fmt.Sprintf("%s ended by itself (%s); the end of its log:\n%s", e.Name, e.State, e.Log)
}

// Group is a set of running processes.
type Group struct {
	end      context.CancelCauseFunc
	starts   chan func()
	mu       sync.Mutex
	children []*exec.Cmd
	stopped  bool
	running  sync.WaitGroup
}

// NewGroup returns an empty group and a context that ends with the first process that does; context.Cause then returns
// an *EndedError. Stop must be called in any case.
func NewGroup(ctx context.Context) (*Group, context.Context) {
	ctx, end := context.WithCancelCause(ctx)
	g := &Group{end: end, starts: make(chan func())}
	go g.serveStarts()
	return g, ctx
}

// serveStarts starts all processes from one operating system thread that lives as long as the group: Linux counts the
// death of the thread that started a process as the death of its parent.
func (g *Group) serveStarts() {
	runtime.LockOSThread()
	for start := range g.starts {
		start()
	}
}

// Start starts a process. It ends with this process, even if this one is killed, where the system can do that (Linux).
func (g *Group) Start(p Process) error {
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }() // the child has its own

	child := &exec.Cmd{Path: p.Path, Args: append([]string{p.Path}, p.Args...), Env: p.Env, Stdout: log, Stderr: log}
	child.SysProcAttr = attributes()

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return fmt.Errorf("starting %s: %w", p.Name, ErrStopped)
	}
	result := make(chan error)
	g.starts <- func() { result <- child.Start() }
	if err := <-result; err != nil {
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	g.children = append(g.children, child)
	g.running.Go(func() { g.wait(child, p) })
	return nil
}

func (g *Group) wait(child *exec.Cmd, p Process) {
	err := child.Wait()
	state := child.ProcessState.String()
	if child.ProcessState == nil {
		state = fmt.Sprint(err)
	}
	tail, err := Tail(p.Log)
	if err != nil {
		tail = err.Error()
	}
	g.end(&EndedError{Name: p.Name, State: state, Log: tail}) // after Stop, the cause is already set
}

// Stop kills what still runs and returns when all of it is gone. There is no grace: whoever needs one has no business
// in a group that may end at any time.
func (g *Group) Stop() {
	g.end(ErrStopped)
	g.mu.Lock()
	first := !g.stopped
	g.stopped = true
	for _, child := range slices.Backward(g.children) {
		_ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL) // its process group; gone already is as good
	}
	g.mu.Unlock()
	g.running.Wait()
	if first {
		close(g.starts)
	}
}
