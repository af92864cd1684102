package gojsonnet

import (
	"context"
	"errors"
	"fmt"

	gojsonnet "github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/ast"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/scan"
)

// DefaultMaxStack is the stack limit of a job that names none.
const DefaultMaxStack = 500

// Evaluator implements jsonnet.Evaluator.
type Evaluator struct {
	pool *pool
}

// New returns an evaluator that keeps up to idle virtual machines with what they have parsed.
func New(idle int) *Evaluator {
	return &Evaluator{pool: &pool{limit: idle}}
}

// Version implements jsonnet.Evaluator.
func (e *Evaluator) Version() string { return "go-jsonnet " + gojsonnet.Version() }

// Evaluate implements jsonnet.Evaluator. The context is not looked at once the virtual machine runs.
func (e *Evaluator) Evaluate(ctx context.Context, job jsonnet.Job) (string, error) {
	if err := checkBindings(job); err != nil {
		return "", err
	}
	m := e.pool.take(job.Entry.Name)
	text, err := m.run(ctx, job)
	if errors.Is(err, errStale) {
		m = newMachine(job.Entry.Name)
		text, err = m.run(ctx, job)
	}
	if m.weight <= maxMachineBytes {
		e.pool.give(m)
	}
	if err != nil {
		return "", describe(err)
	}
	return text, nil
}

// machine is a virtual machine that remembers what it has parsed. It runs one job at a time.
type machine struct {
	vm      *gojsonnet.VM
	entry   string // the name of the programs it runs
	sum     [32]byte
	node    ast.Node // the program of that sum, parsed
	imports *importer
	trace   *traceWriter
	weight  int // bytes of the sources it has parsed
}

// maxMachineBytes bounds the sources whose syntax trees an idle machine keeps alive.
const maxMachineBytes = 8 << 20

func newMachine(entry string) *machine {
	m := &machine{vm: gojsonnet.MakeVM(), entry: entry, trace: &traceWriter{}}
	m.imports = &importer{contents: map[string]content{}}
	m.vm.Importer(m.imports)
	m.vm.SetTraceOut(m.trace)
	return m
}

func (m *machine) run(ctx context.Context, job jsonnet.Job) (string, error) {
	if m.node == nil || m.sum != job.Entry.Sum {
		node, err := parse(job.Entry.Name, job.Entry.Content)
		if err != nil {
			return "", err
		}
		m.node, m.sum = node, job.Entry.Sum
		m.weight += len(job.Entry.Content)
	}
	m.imports.begin(ctx, job)
	defer m.imports.end()
	m.trace.sink = job.Trace
	m.bind(job)

	text, err := m.vm.Evaluate(m.node)
	m.weight += m.imports.added
	if m.imports.stale {
		return "", errStale
	}
	return text, err
}

// bind sets the variables, which also forgets the values of the last run's imports.
func (m *machine) bind(job jsonnet.Job) {
	m.vm.MaxStack = job.MaxStack
	if job.MaxStack == 0 {
		m.vm.MaxStack = DefaultMaxStack
	}
	m.vm.ExtReset()
	for name, binding := range job.External {
		switch binding.Kind {
		case jsonnet.BindCode:
			m.vm.ExtCode(name, binding.Text)
		case jsonnet.BindJSON:
			m.vm.ExtNode(name, literal(binding.Text))
		default:
			m.vm.ExtVar(name, binding.Text)
		}
	}
	m.vm.TLAReset()
	for name, binding := range job.Arguments {
		switch binding.Kind {
		case jsonnet.BindCode:
			m.vm.TLACode(name, binding.Text)
		case jsonnet.BindJSON:
			m.vm.TLANode(name, literal(binding.Text))
		default:
			m.vm.TLAVar(name, binding.Text)
		}
	}
}

// parse checks the source limits first: the parser is recursive.
func parse(name, source string) (ast.Node, error) {
	if err := checkSource(name, source); err != nil {
		return nil, err
	}
	return gojsonnet.SnippetToAST(name, source)
}

func checkSource(name, source string) error {
	err := scan.Check(source)
	var limit *scan.Error
	if !errors.As(err, &limit) {
		return err
	}
	return &jsonnet.Error{
		Reason:  jsonnet.EvaluationFailed,
		Message: limit.Message,
		Static:  true,
		Frames:  []jsonnet.Frame{{File: name, Line: limit.Line, Column: limit.Column}},
	}
}

func checkBindings(job jsonnet.Job) error {
	for kind, bindings := range map[string]map[string]jsonnet.Binding{"extvar": job.External, "top-level-arg": job.Arguments} {
		for name, binding := range bindings {
			if binding.Kind != jsonnet.BindCode {
				continue
			}
			if err := checkSource(fmt.Sprintf("<%s:%s>", kind, name), binding.Text); err != nil {
				return err
			}
		}
	}
	return nil
}
