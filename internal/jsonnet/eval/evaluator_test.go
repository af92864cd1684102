package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
)

// files is an importer of named texts.
type files struct {
	texts   map[string]string
	sources map[string]*jsonnet.Source
	asked   []string
}

func (f *files) Import(_ context.Context, from *jsonnet.Source, path string) (*jsonnet.Source, error) {
	f.asked = append(f.asked, from.Name+" imports "+path)
	text, ok := f.texts[path]
	if !ok {
		return nil, fmt.Errorf("no file %q", path)
	}
	if f.sources == nil {
		f.sources = map[string]*jsonnet.Source{}
	}
	if f.sources[path] == nil {
		f.sources[path] = source(path, text)
	}
	return f.sources[path], nil
}

func TestEvaluate_Bindings(t *testing.T) {
	bind := func(kind jsonnet.BindingKind, text string) map[string]jsonnet.Binding {
		return map[string]jsonnet.Binding{"x": {Kind: kind, Text: text}}
	}
	tests := map[string]struct {
		program   string
		external  map[string]jsonnet.Binding
		arguments map[string]jsonnet.Binding
		want      string
		reason    jsonnet.Reason
	}{
		"external string":           {program: `std.extVar('x')`, external: bind(jsonnet.BindString, `1 + 1`), want: `"1 + 1"`},
		"external code":             {program: `std.extVar('x')`, external: bind(jsonnet.BindCode, `1 + 1`), want: `2`},
		"external JSON":             {program: `std.extVar('x')`, external: bind(jsonnet.BindJSON, `{"a":[1,null]}`), want: `{"a":[1,null]}`},
		"JSON is no code":           {program: `std.extVar('x')`, external: bind(jsonnet.BindJSON, `1 + 1`), reason: jsonnet.InvalidArguments},
		"unused external":           {program: `1`, external: bind(jsonnet.BindCode, `)`), want: `1`},
		"broken external":           {program: `std.extVar('x')`, external: bind(jsonnet.BindCode, `)`), want: "<extvar:x>:1:1-2 Unexpected: \")\" while parsing terminal", reason: jsonnet.EvaluationFailed},
		"argument string":           {program: `function(x) x`, arguments: bind(jsonnet.BindString, `a`), want: `"a"`},
		"argument code":             {program: `function(x) x`, arguments: bind(jsonnet.BindCode, `[1] + [2]`), want: `[1,2]`},
		"argument JSON":             {program: `function(x) x.a`, arguments: bind(jsonnet.BindJSON, `{"a": "b"}`), want: `"b"`},
		"argument with default":     {program: `function(x=1, y=x) [x, y]`, want: `[1,1]`},
		"argument of no function":   {program: `1`, arguments: bind(jsonnet.BindString, `a`), want: `1`},
		"argument of a native":      {program: `std.length`, arguments: bind(jsonnet.BindString, `abc`), want: `3`},
		"missing argument":          {program: `function(x) x`, want: "RUNTIME ERROR: Missing argument: x", reason: jsonnet.InvalidArguments},
		"unknown argument":          {program: `function(y=1) y`, arguments: bind(jsonnet.BindString, `a`), want: "RUNTIME ERROR: function has no parameter x", reason: jsonnet.InvalidArguments},
		"unknown native argument":   {program: `std.type`, arguments: map[string]jsonnet.Binding{"z": {}}, reason: jsonnet.InvalidArguments},
		"broken argument":           {program: `function(x) 1`, arguments: bind(jsonnet.BindCode, `)`), reason: jsonnet.InvalidArguments},
		"broken JSON argument":      {program: `function(x) 1`, arguments: bind(jsonnet.BindJSON, `{`), reason: jsonnet.InvalidArguments},
		"JSON too deep":             {program: `function(x) 1`, arguments: bind(jsonnet.BindJSON, strings.Repeat("[", 100_000)), reason: jsonnet.InvalidArguments},
		"error in an argument":      {program: `function(x) x`, arguments: bind(jsonnet.BindCode, `error 'e'`), want: "RUNTIME ERROR: e", reason: jsonnet.EvaluationFailed},
		"unused error in argument":  {program: `function(x) 1`, arguments: bind(jsonnet.BindCode, `error 'e'`), want: `1`},
		"mismatch inside a program": {program: `(function(x) x)()`, want: "RUNTIME ERROR: Missing argument: x", reason: jsonnet.EvaluationFailed},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := eval.New(eval.Options{}).Evaluate(context.Background(), jsonnet.Job{
				Entry: source("main.jsonnet", c.program), External: c.external, Arguments: c.arguments,
			})
			if got := reason(err); got != c.reason {
				t.Fatalf("got %v (%s), want %q", err, got, c.reason)
			}
			out = compact(out)
			if err != nil {
				out = err.Error()
			}
			if c.want != "" && out != c.want {
				t.Errorf("got %s, want %s", out, c.want)
			}
		})
	}
}

// compact removes the white space between the tokens of a JSON text.
func compact(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

func TestEvaluate_Imports(t *testing.T) {
	importer := &files{texts: map[string]string{
		"lib.libsonnet":  `{ a: std.thisFile, b: import 'data.json', c: importstr 'data.json', d: importbin 'two' }`,
		"data.json":      `{"z": 1, "y": [true]}`,
		"two":            "ab",
		"cycle":          `import 'cycle'`,
		"lazy cycle":     `{ a: (import 'lazy cycle').b, b: 1 }`,
		"broken":         `)`,
		"not quite.json": "{ a: 1 + 1 } // a comment",
		"failing":        `error 'failed'`,
	}}
	tests := map[string]struct{ program, want string }{
		"all kinds":       {`std.toString(import 'lib.libsonnet')`, `"{\"a\": \"lib.libsonnet\", \"b\": {\"y\": [true], \"z\": 1}, \"c\": \"{\\\"z\\\": 1, \\\"y\\\": [true]}\", \"d\": [97, 98]}"`},
		"missing":         {`import 'nothing'`, `RUNTIME ERROR: no file "nothing"`},
		"cycle":           {`import 'cycle'`, `RUNTIME ERROR: max stack frames exceeded.`},
		"lazy cycle":      {`(import 'lazy cycle').a`, `1`},
		"broken":          {`import 'broken'`, `RUNTIME ERROR: broken:1:1-2 Unexpected: ")" while parsing terminal`},
		"Jsonnet in JSON": {`(import 'not quite.json').a`, `2`},
		"failing":         {`import 'failing'`, `RUNTIME ERROR: failed`},
		"JSON extended":   {`((import 'data.json') { z+: 1 }).z`, `2`},
	}
	e := eval.New(eval.Options{})
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: source("main.jsonnet", c.program), Importer: importer})
			if err != nil {
				out = err.Error()
			}
			if got := strings.TrimSpace(out); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestEvaluate_AsksTheImporterWithTheImportingSource(t *testing.T) {
	importer := &files{texts: map[string]string{"a": `import 'b'`, "b": `importstr 'c'`, "c": "text"}}
	job := jsonnet.Job{Entry: source("main", `import 'a'`), Importer: importer}
	e := eval.New(eval.Options{})
	for range 2 { // the second time from compiled programs
		importer.asked = nil
		if _, err := e.Evaluate(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		want := []string{"main imports a", "a imports b", "b imports c"}
		if diff := cmp.Diff(want, importer.asked); diff != "" {
			t.Error(diff)
		}
	}
}

// TestEvaluate_LimitsCodeButNotText: the limits of sources hold for everything that is parsed, wherever it comes from and
// however often it was read as text before, and for nothing else.
func TestEvaluate_LimitsCodeButNotText(t *testing.T) {
	deep := strings.Repeat("[", 2000)
	importer := &files{texts: map[string]string{"deep": deep, "other": "import 'deep'", "data.json": `"` + deep + `"`}}
	const said = "more than 1000 brackets are nested here"
	e := eval.New(eval.Options{})
	for program, want := range map[string]string{
		`[std.length(importstr 'deep'), std.length(import 'data.json')]`: "",
		`import 'deep'`: "RUNTIME ERROR: deep:1:1001 " + said,
		`[std.length(importstr 'deep'), import 'deep']`:  "RUNTIME ERROR: deep:1:1001 " + said,
		`[std.length(importstr 'deep'), import 'other']`: "RUNTIME ERROR: deep:1:1001 " + said,
		`std.extVar('x')`: "<extvar:x>:1:1001 " + said,
		deep:              "main:1:1001 " + said,
	} {
		_, err := e.Evaluate(context.Background(), jsonnet.Job{
			Entry: source("main", program), Importer: importer,
			External: map[string]jsonnet.Binding{"x": {Kind: jsonnet.BindCode, Text: deep}},
		})
		if got := fmt.Sprint(err); want != "" && got != want || want == "" && err != nil {
			t.Errorf("%.60s: got %s, want %s", program, got, want)
		}
		var failed *jsonnet.Error
		if errors.As(err, &failed) && strings.Contains(want, "deep:1") && (failed.At == nil || failed.At.File != "deep" || failed.At.Column != 1001) {
			t.Errorf("%.60s: the error is at %v", program, failed.At)
		}
	}
}

func TestEvaluate_ReportsTraces(t *testing.T) {
	var got []jsonnet.TraceMessage
	job := jsonnet.Job{
		Entry: source("main", "local f(x) =\n  std.trace('x is ' + x, x);\nf(1) + f(2)"),
		Trace: func(m jsonnet.TraceMessage) { got = append(got, m) },
	}
	if _, err := eval.New(eval.Options{}).Evaluate(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	want := []jsonnet.TraceMessage{{File: "main", Line: 2, Text: "x is 1"}, {File: "main", Line: 2, Text: "x is 2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEvaluate_OffersTheWholeLibrary(t *testing.T) {
	job := jsonnet.Job{Entry: source("main", `[f for f in std.objectFieldsAll(std) if f[0] != '$']`)}
	got, want := own(eval.New(eval.Options{}), job), reference(job)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEvaluate_EndsAtOnceIfTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("too late"))
	_, err := eval.New(eval.Options{}).Evaluate(ctx, jsonnet.Job{Entry: source("main", "1")})
	if got := reason(err); got != jsonnet.EvaluationUnavailable {
		t.Errorf("got %v (%s)", err, got)
	}
}
