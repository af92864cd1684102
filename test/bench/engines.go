package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/files"
	"github.com/stagewright/stagewright/internal/jsonnet/gojsonnet"
)

// program is something to evaluate, with its own directory and the examples' libraries.
type program struct {
	name      string
	files     *files.Program
	arguments map[string]jsonnet.Binding
}

// engines compares evaluators: go-jsonnet, ours when it has to compile the files (cold), and ours when it has compiled
// them before (warm).
func engines(ctx context.Context, o options, out io.Writer) error {
	programs, err := enginePrograms(ctx, o)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "Evaluators\tgo-jsonnet\tcold\twarm\tcold is\twarm is\tallocations, cold\tof go-jsonnet's\t")
	var cold, warm, allocations []float64
	for _, p := range programs {
		evaluators := [3]jsonnet.Evaluator{
			gojsonnet.Evaluator{}, eval.New(eval.Options{ProgramCacheBytes: -1}), eval.New(eval.Options{}),
		}
		var m [3]measurement
		for i, evaluator := range evaluators {
			if m[i], err = measure(o.duration/3, func(int) error { return p.evaluate(ctx, evaluator) }); err != nil {
				return fmt.Errorf("evaluating %s: %w", p.name, err)
			}
		}
		cold = append(cold, float64(m[0].each)/float64(m[1].each))
		warm = append(warm, float64(m[0].each)/float64(m[2].each))
		allocations = append(allocations, m[1].allocations/m[0].allocations)
		last := len(cold) - 1
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.1f x\t%.1f x\t%.0f\t%.0f %%\t\n", p.name, shown(m[0].each), shown(m[1].each),
			shown(m[2].each), cold[last], warm[last], m[1].allocations, 100*allocations[last])
	}
	fmt.Fprintf(table, "geometric mean\t\t\t\t%.1f x\t%.1f x\t\t%.0f %%\t\n", geometricMean(cold), geometricMean(warm),
		100*geometricMean(allocations))
	return flush(table, out)
}

func (p program) evaluate(ctx context.Context, evaluator jsonnet.Evaluator) error {
	session, err := p.files.Open()
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }() // nothing was written
	entry, err := session.Entry(ctx)
	if err != nil {
		return err
	}
	_, err = evaluator.Evaluate(ctx, jsonnet.Job{
		Entry: entry, Importer: session, Arguments: p.arguments, MaxStack: 500, MaxMemory: 512 << 20,
		External: map[string]jsonnet.Binding{"environment": {Text: "staging"}},
	})
	return err
}

// enginePrograms are the examples and go-jsonnet's own benchmark programs.
func enginePrograms(ctx context.Context, o options) ([]program, error) {
	store := files.NewStore(64 << 20)
	library, err := files.NewRoot(filepath.Join(o.examples, "lib"))
	if err != nil {
		return nil, err
	}
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/go-jsonnet").Output()
	if err != nil {
		return nil, fmt.Errorf("finding go-jsonnet: %w", err)
	}
	var programs []program
	for _, set := range []struct{ directory, pattern string }{
		{filepath.Join(o.examples, "snippets"), "*/main.jsonnet"},
		{filepath.Join(strings.TrimSpace(string(module)), "builtin-benchmarks"), "*.jsonnet"},
	} {
		entries, err := filepath.Glob(filepath.Join(set.directory, set.pattern))
		if err != nil || len(entries) == 0 {
			return nil, fmt.Errorf("no programs in %s: %w", set.directory, err)
		}
		root, err := files.NewRoot(set.directory)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			inside, err := filepath.Rel(set.directory, entry)
			if err != nil {
				return nil, err
			}
			p := program{
				name:  strings.TrimSuffix(strings.TrimSuffix(inside, ".jsonnet"), "/main"),
				files: store.Program(files.Location{Root: root, Path: filepath.ToSlash(inside)}, []*files.Root{library}),
			}
			if arguments, ok := exampleArguments[path.Base(p.name)]; ok {
				p.arguments = arguments
			}
			programs = append(programs, p)
		}
	}
	return programs, nil
}

// exampleArguments are those of examples that need some.
var exampleArguments = map[string]map[string]jsonnet.Binding{
	"arguments": {"service": {Text: "cart"}},
	"dashboard": {"team": {Text: "payments"}, "service": {Text: "ledger"}},
	"webapp":    {"name": {Text: "shop"}, "replicas": {Text: "3"}},
}

func shown(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

func geometricMean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}
