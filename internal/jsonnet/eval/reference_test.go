package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gojsonnet "github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/ast"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
)

// outcome is all that two evaluators can be compared by.
type outcome struct {
	Output string
	Error  string
	Frames []string
}

// reference evaluates with go-jsonnet.
func reference(job jsonnet.Job) outcome {
	vm := gojsonnet.MakeVM()
	if job.MaxStack > 0 {
		vm.MaxStack = job.MaxStack
	}
	vm.SetTraceOut(discard{})
	if job.Importer != nil {
		vm.Importer(&referenceImporter{job.Importer, map[string]*jsonnet.Source{}, map[string]gojsonnet.Contents{}})
	}
	vm.NativeFunction(&gojsonnet.NativeFunction{
		Name: "jsonToString", Params: ast.Identifiers{"x"},
		Func: func(x []any) (any, error) {
			b, err := json.Marshal(x[0])
			return string(b), err
		},
	})
	vm.NativeFunction(&gojsonnet.NativeFunction{
		Name: "nativeError", Func: func([]any) (any, error) { return nil, errors.New("native function error") },
	})
	vm.NativeFunction(&gojsonnet.NativeFunction{
		Name: "nativePanic", Func: func([]any) (any, error) { panic("native function panic") },
	})
	for name, b := range job.External {
		if b.Kind == jsonnet.BindCode {
			vm.ExtCode(name, b.Text)
		} else {
			vm.ExtVar(name, b.Text)
		}
	}
	node, err := gojsonnet.SnippetToAST(job.Entry.Name, job.Entry.Content)
	if err != nil {
		return outcome{Error: err.Error()}
	}
	out, err := vm.Evaluate(node)
	if err == nil {
		return outcome{Output: out}
	}
	o := outcome{Error: err.Error()}
	var re gojsonnet.RuntimeError
	if errors.As(err, &re) {
		for i := len(re.StackTrace) - 1; i >= 0; i-- {
			f := re.StackTrace[i]
			if f.Loc.Begin.Line == 0 || f.Loc.File == nil || f.Loc.File.DiagnosticFileName == "<std>" {
				continue
			}
			o.Frames = append(o.Frames, f.Loc.String()+" "+f.Name)
		}
	}
	return o
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

type referenceImporter struct {
	importer jsonnet.Importer
	sources  map[string]*jsonnet.Source
	contents map[string]gojsonnet.Contents
}

func (i *referenceImporter) Import(from, path string) (gojsonnet.Contents, string, error) {
	src, err := i.importer.Import(context.Background(), &jsonnet.Source{Name: from}, path)
	if err != nil {
		return gojsonnet.Contents{}, "", err
	}
	if _, ok := i.contents[src.Name]; !ok {
		i.contents[src.Name] = gojsonnet.MakeContents(src.Content)
	}
	return i.contents[src.Name], src.Name, nil
}

// own evaluates with the evaluator under test.
func own(e jsonnet.Evaluator, job jsonnet.Job) outcome {
	out, err := e.Evaluate(context.Background(), job)
	if err == nil {
		return outcome{Output: out}
	}
	var je *jsonnet.Error
	if !errors.As(err, &je) {
		return outcome{Error: "not an *Error: " + err.Error()}
	}
	o := outcome{Error: je.Error()}
	if !je.Static {
		for _, f := range je.Frames {
			o.Frames = append(o.Frames, f.String()+" "+f.Function)
		}
	}
	return o
}

func TestEvaluate_TracesOfGoJsonnetTestdata(t *testing.T) {
	dir := moduleDir(t)
	files, _ := filepath.Glob(filepath.Join(dir, "testdata", "*.jsonnet"))
	e := eval.New(eval.Options{Natives: testNatives()})
	same := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonnet")
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		job := jsonnet.Job{Entry: source("testdata/"+name, string(content)), Importer: newTreeImporter(dir)}
		if strings.HasPrefix(name, "extvar_") {
			job.External = testExternal
		}
		want, got := reference(job), own(e, job)
		if want.Error == "RUNTIME ERROR: max stack frames exceeded." {
			// Frames of the standard library count in go-jsonnet, so that the innermost frame may be another one.
			want.Frames, got.Frames = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
			continue
		}
		same++
	}
	t.Logf("%d of %d cases have the same output or trace", same, len(files))
}
