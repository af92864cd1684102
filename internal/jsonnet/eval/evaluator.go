package eval

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"sync/atomic"

	gojsonnet "github.com/google/go-jsonnet"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/meter"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/std"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/turns"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// release is raised whenever a result may differ from that of the release before.
const release = "1"

// Options configure an Evaluator. The zero value is usable.
type Options struct {
	// ProgramCacheBytes bounds the compiled programs that are kept; 0 is the default, a negative number keeps none.
	ProgramCacheBytes int64
	// Memory is shared by all evaluations of the process; nil is no limit.
	Memory meter.Process
	// Turns bounds how many long evaluations run at a time; nil is no limit. With it, Evaluate has to be called by a
	// goroutine that ends soon after: the thread of a long evaluation keeps its low priority.
	Turns *turns.Turns
	// Natives are the functions that std.native returns.
	Natives map[string]*vm.Native
}

// Evaluator evaluates Jsonnet. It is safe for concurrent use.
type Evaluator struct {
	opts      Options
	std       map[string]vm.Value
	programs  programCache
	collector collector
	compiling chan struct{} // holds a token for each compilation
}

var _ jsonnet.Evaluator = (*Evaluator)(nil)

// New returns an Evaluator with an empty cache.
func New(opts Options) *Evaluator {
	lib := std.Library()
	return &Evaluator{
		opts: opts, std: lib, programs: newProgramCache(opts.ProgramCacheBytes),
		compiling: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

// Version names the evaluator and the parser it builds on.
func (e *Evaluator) Version() string {
	return "stagewright-" + release + "/go-jsonnet-" + gojsonnet.Version()
}

// Evaluate implements jsonnet.Evaluator.
func (e *Evaluator) Evaluate(ctx context.Context, job jsonnet.Job) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", causeOf(ctx)
	}
	stop := &atomic.Bool{}
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	mtr := meter.New(meter.Options{
		Budget: job.MaxMemory, Process: e.opts.Memory, Collect: e.collector.collect, Stop: ctx.Done(),
	})
	defer mtr.Close()
	turn := e.opts.Turns.Begin(ctx.Done())
	defer turn.End()
	run := &evaluation{evaluator: e, job: &job, sources: map[string]*jsonnet.Source{}, done: ctx.Done()}
	run.machine = vm.New(vm.Config{
		MaxStack: job.MaxStack,
		Meter:    mtr,
		Stop:     stop,
		Done:     ctx.Done(),
		Turn:     turn,
		Cause:    func() *jsonnet.Error { return causeOf(ctx) },
		Import:   func(file, path string) (*jsonnet.Source, error) { return run.resolve(ctx, file, path) },
		Program:  run.program,
		External: run.external(),
		Natives:  e.opts.Natives,
		Std:      std.Object(e.std),
		Trace:    job.Trace,
	})
	var out string
	var failed *jsonnet.Error
	// The evaluation may have failed because of the stop; the first error it saw is the true one.
	if err := run.machine.Run(func() { out, failed = run.main() }); err != nil {
		failed = err
	}
	if failed != nil {
		return "", failed
	}
	return out, nil
}

// causeOf translates the end of a context.
func causeOf(ctx context.Context) *jsonnet.Error {
	cause := context.Cause(ctx)
	if own := (*jsonnet.Error)(nil); errors.As(cause, &own) {
		c := *own
		return &c
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || cause == nil {
		return &jsonnet.Error{Reason: jsonnet.EvaluationTimeout, Message: "evaluation timed out"}
	}
	return &jsonnet.Error{
		Reason: jsonnet.EvaluationUnavailable, Message: fmt.Sprintf("evaluation stopped: %v", cause),
	}
}

// quickBytes is the size up to which a source takes the parser about as long as an evaluation may take to stop.
const quickBytes = 8 << 10

// program finds a program in the cache or compiles it. The parser cannot be stopped, so an evaluation does not wait for
// it with a longer source: one that ends meanwhile leaves the parser behind, to finish for the cache's sake. No more than
// one such compilation for each processor runs at a time, so that what is left behind cannot pile up.
func (r *evaluation) program(src *jsonnet.Source) (*vm.Program, error) {
	e := r.evaluator
	if p := e.programs.find(src); p != nil {
		return p, nil
	}
	if len(src.Content) <= quickBytes {
		p, err := e.compile(src)
		if err == nil {
			e.programs.add(src, p)
		}
		return p, err
	}
	select {
	case e.compiling <- struct{}{}:
	case <-r.done:
		return nil, errStopped
	}
	type result struct {
		program *vm.Program
		err     error
	}
	results := make(chan result, 1)
	go func() {
		p, err := e.compile(src)
		<-e.compiling
		if err == nil {
			e.programs.add(src, p)
		}
		results <- result{p, err}
	}()
	select {
	case res := <-results:
		return res.program, res.err
	case <-r.done:
		return nil, errStopped
	}
}

// errStopped says that the evaluation has ended while something it needs was being made.
var errStopped = errors.New("stopped")

// isJSON reports whether a file may be read as plain JSON.
func isJSON(name string) bool { return path.Ext(name) == ".json" }

// evaluation is one call of Evaluate.
type evaluation struct {
	evaluator *Evaluator
	job       *jsonnet.Job
	machine   *vm.Machine
	sources   map[string]*jsonnet.Source // by name
	done      <-chan struct{}            // closed when the evaluation is to end
}

// main evaluates the entry, calls it with the arguments if it is a function, and prints the result.
func (r *evaluation) main() (string, *jsonnet.Error) {
	m := r.machine
	r.sources[r.job.Entry.Name] = r.job.Entry
	program, err := r.program(r.job.Entry)
	if err != nil {
		m.CheckDone()
		return "", asError(err)
	}
	v := m.RunProgram(program)
	if fn, ok := v.(*vm.Function); ok {
		args, err := r.arguments()
		if err != nil {
			return "", err
		}
		names := make([]string, 0, len(args))
		for name := range args {
			names = append(names, name)
		}
		slices.Sort(names)
		v = m.CallNamed(fn, names, args)
	} else if r.job.ArgumentsIgnored != nil {
		r.job.ArgumentsIgnored()
	}
	return m.WriteJSON(v, nil), nil
}

func asError(err error) *jsonnet.Error {
	if e := (*jsonnet.Error)(nil); errors.As(err, &e) {
		return e
	}
	return &jsonnet.Error{Reason: jsonnet.EvaluationFailed, Message: err.Error(), Static: true}
}

// resolve asks the job's importer.
func (r *evaluation) resolve(ctx context.Context, file, name string) (*jsonnet.Source, error) {
	if r.job.Importer == nil {
		return nil, fmt.Errorf("import not available %v", name)
	}
	src, err := r.job.Importer.Import(ctx, r.sources[file], name)
	if err != nil {
		return nil, err
	}
	r.sources[src.Name] = src
	return src, nil
}

// recovered turns a panic of the parser into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = &jsonnet.Error{
			Reason: jsonnet.EvaluationFailed, Message: fmt.Sprintf("internal error: %v", r), Static: true,
		}
	}
}
