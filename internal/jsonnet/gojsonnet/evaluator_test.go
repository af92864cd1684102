package gojsonnet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// memory is an importer over a map. It hands out the same *Source for the same name.
type memory struct {
	texts   map[string]string
	sources map[string]*jsonnet.Source
}

func newMemory(texts map[string]string) *memory {
	m := &memory{texts, map[string]*jsonnet.Source{}}
	for name, text := range texts {
		m.sources[name] = &jsonnet.Source{Name: name, Content: text, Sum: sha256.Sum256([]byte(text))}
	}
	return m
}

func (m *memory) Import(_ context.Context, _ *jsonnet.Source, path string) (*jsonnet.Source, error) {
	if source, ok := m.sources[path]; ok {
		return source, nil
	}
	return nil, fmt.Errorf("couldn't open import %q: no match", path)
}

func evaluate(texts map[string]string, change func(*jsonnet.Job)) (string, error) {
	m := newMemory(texts)
	job := jsonnet.Job{Entry: m.sources["main.jsonnet"], Importer: m}
	if change != nil {
		change(&job)
	}
	return Evaluator{}.Evaluate(context.Background(), job)
}

func TestEvaluate_Values(t *testing.T) {
	cases := map[string]struct {
		texts  map[string]string
		change func(*jsonnet.Job)
		want   string
	}{
		"import":    {map[string]string{"main.jsonnet": "(import 'a') + 1", "a": "41"}, nil, "42\n"},
		"importstr": {map[string]string{"main.jsonnet": "std.length(importstr 'a')", "a": strings.Repeat("[", 5000)}, nil, "5000\n"},
		"thisFile":  {map[string]string{"main.jsonnet": "[std.thisFile, import 'a']", "a": "std.thisFile"}, nil, "[\n   \"main.jsonnet\",\n   \"a\"\n]\n"},
		"external": {
			map[string]string{"main.jsonnet": "std.extVar('s') + std.extVar('j').a + std.extVar('c')"},
			func(j *jsonnet.Job) {
				j.External = map[string]jsonnet.Binding{
					"s": {Text: "1+1"}, "j": {Kind: jsonnet.BindJSON, Text: `{"a": "x"}`}, "c": {Kind: jsonnet.BindCode, Text: "1+1"},
				}
			}, "\"1+1x2\"\n",
		},
		"arguments": {
			map[string]string{"main.jsonnet": "function(s, j, c='default', d='default') [s, j, c, d]"},
			func(j *jsonnet.Job) {
				j.Arguments = map[string]jsonnet.Binding{
					"s": {Text: "$"},
					"j": {Kind: jsonnet.BindJSON, Text: `{"n":1.5,"b":true,"z":null,"s":"é\n${x}","a":[1e2,{}]}`},
					"c": {Kind: jsonnet.BindCode, Text: "1+1"},
				}
			},
			`["$",{"a":[100,{}],"b":true,"n":1.5,"s":"é\n${x}","z":null},2,"default"]`,
		},
		"arguments of no function": {
			map[string]string{"main.jsonnet": "1"},
			func(j *jsonnet.Job) { j.Arguments = map[string]jsonnet.Binding{"a": {Text: "x"}} }, "1\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := evaluate(c.texts, c.change)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(c.want, "\n") {
				got = strings.NewReplacer("\n", "", " ", "").Replace(got)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvaluate_Errors(t *testing.T) {
	arguments := func(names ...string) func(*jsonnet.Job) {
		return func(j *jsonnet.Job) {
			j.Arguments = map[string]jsonnet.Binding{}
			for _, name := range names {
				j.Arguments[name] = jsonnet.Binding{Text: "x"}
			}
		}
	}
	cases := map[string]struct {
		texts  map[string]string
		change func(*jsonnet.Job)
		want   string // reason, and the error with its trace
	}{
		"syntax":             {map[string]string{"main.jsonnet": "{\n  a: ,\n}"}, nil, "EvaluationFailed main.jsonnet:2:6-7 Unexpected: \",\" while parsing terminal\n\tmain.jsonnet:2:6-7\t"},
		"unknown variable":   {map[string]string{"main.jsonnet": "x"}, nil, "EvaluationFailed main.jsonnet:1:1-2 Unknown variable: x\n\tmain.jsonnet:1:1-2\t"},
		"syntax of import":   {map[string]string{"main.jsonnet": "import 'a'", "a": "{"}, nil, "EvaluationFailed RUNTIME ERROR: a:1:2 Unexpected: end of file while parsing field definition\n\tmain.jsonnet:1:1-11\t$"},
		"error":              {map[string]string{"main.jsonnet": "local f(x) = error 'no';\nf(1)"}, nil, "EvaluationFailed RUNTIME ERROR: no\n\tmain.jsonnet:1:14-24\tfunction <f>\n\tmain.jsonnet:2:1-5\t$"},
		"inside std":         {map[string]string{"main.jsonnet": "std.map(function(x) error 'no', [1])[0]"}, nil, "EvaluationFailed RUNTIME ERROR: no\n\tmain.jsonnet:1:21-31\tfunction <anonymous>\n\tmain.jsonnet:1:1-40\t$"},
		"missing import":     {map[string]string{"main.jsonnet": "import 'a'"}, nil, "EvaluationFailed RUNTIME ERROR: couldn't open import \"a\": no match\n\tmain.jsonnet:1:1-11\t$"},
		"unknown argument":   {map[string]string{"main.jsonnet": "function(a=1) a"}, arguments("b"), "InvalidArguments RUNTIME ERROR: function has no parameter b"},
		"missing argument":   {map[string]string{"main.jsonnet": "function(a) a"}, arguments(), "InvalidArguments RUNTIME ERROR: Missing argument: a"},
		"argument in a call": {map[string]string{"main.jsonnet": "local f(a) = a; f()"}, nil, "EvaluationFailed RUNTIME ERROR: Missing argument: a\n\tmain.jsonnet:1:17-20\t$"},
		"recursion":          {map[string]string{"main.jsonnet": "local f(x) = 1 + f(x); f(1)"}, func(j *jsonnet.Job) { j.MaxStack = 50 }, "StackExceeded RUNTIME ERROR: max stack frames exceeded."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := evaluate(c.texts, c.change)
			var failed *jsonnet.Error
			if !errors.As(err, &failed) {
				t.Fatalf("got %q, %v", text, err)
			}
			got := string(failed.Reason) + " " + failed.Trace()
			if failed.Reason == jsonnet.StackExceeded {
				got = string(failed.Reason) + " " + failed.Error() // the trace has as many lines as the limit
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvaluate_Trace(t *testing.T) {
	var got []jsonnet.TraceMessage
	texts := map[string]string{"main.jsonnet": "\nstd.trace('two\\nlines: 3 x', 1)"}
	if _, err := evaluate(texts, func(j *jsonnet.Job) {
		j.Entry = &jsonnet.Source{Name: "with space/x.jsonnet", Content: j.Entry.Content}
		j.Trace = func(m jsonnet.TraceMessage) { got = append(got, m) }
	}); err != nil {
		t.Fatal(err)
	}
	want := []jsonnet.TraceMessage{{File: "with space/x.jsonnet", Line: 2, Text: "two\nlines: 3 x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("traces (-want +got):\n%s", diff)
	}
}
