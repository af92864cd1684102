package gojsonnet

import (
	"context"

	gojsonnet "github.com/google/go-jsonnet"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// Evaluator implements jsonnet.Evaluator. Each evaluation has a virtual machine of its own.
type Evaluator struct{}

// Version implements jsonnet.Evaluator.
func (Evaluator) Version() string { return "go-jsonnet " + gojsonnet.Version() }

// Evaluate implements jsonnet.Evaluator. The context is not looked at once the virtual machine runs.
func (Evaluator) Evaluate(ctx context.Context, job jsonnet.Job) (string, error) {
	node, err := gojsonnet.SnippetToAST(job.Entry.Name, job.Entry.Content)
	if err != nil {
		return "", describe(err)
	}
	text, err := machine(ctx, job).Evaluate(node)
	if err != nil {
		return "", describe(err)
	}
	return text, nil
}

func machine(ctx context.Context, job jsonnet.Job) *gojsonnet.VM {
	vm := gojsonnet.MakeVM()
	if job.MaxStack > 0 {
		vm.MaxStack = job.MaxStack
	}
	vm.SetTraceOut(&traceWriter{job.Trace})
	vm.Importer(&importer{
		ctx: ctx, job: job, sources: map[string]*jsonnet.Source{job.Entry.Name: job.Entry}, contents: map[string]gojsonnet.Contents{},
	})
	for name, binding := range job.External {
		switch binding.Kind {
		case jsonnet.BindCode:
			vm.ExtCode(name, binding.Text)
		case jsonnet.BindJSON:
			vm.ExtNode(name, literal(binding.Text))
		default:
			vm.ExtVar(name, binding.Text)
		}
	}
	for name, binding := range job.Arguments {
		switch binding.Kind {
		case jsonnet.BindCode:
			vm.TLACode(name, binding.Text)
		case jsonnet.BindJSON:
			vm.TLANode(name, literal(binding.Text))
		default:
			vm.TLAVar(name, binding.Text)
		}
	}
	return vm
}

// importer asks the job's importer.
type importer struct {
	ctx      context.Context //nolint:containedctx // go-jsonnet's importer interface has none
	job      jsonnet.Job
	sources  map[string]*jsonnet.Source // by name
	contents map[string]gojsonnet.Contents
}

// Import implements gojsonnet.Importer.
func (i *importer) Import(from, path string) (gojsonnet.Contents, string, error) {
	source, err := i.job.Importer.Import(i.ctx, i.sources[from], path) // from code that came as a variable: nil
	if err != nil {
		return gojsonnet.Contents{}, "", err
	}
	if _, ok := i.contents[source.Name]; !ok {
		i.sources[source.Name] = source
		i.contents[source.Name] = gojsonnet.MakeContents(source.Content)
	}
	return i.contents[source.Name], source.Name, nil
}
