package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/std"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// moduleDir is where go-jsonnet's module, with its test data, is.
func moduleDir(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/go-jsonnet").Output()
	if err != nil {
		tb.Fatalf("finding go-jsonnet: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// treeImporter imports files below a directory, as go-jsonnet's FileImporter does from its working directory.
type treeImporter struct {
	dir   string
	found map[string]*jsonnet.Source
}

func newTreeImporter(dir string) *treeImporter {
	return &treeImporter{dir: dir, found: map[string]*jsonnet.Source{}}
}

func (i *treeImporter) Import(_ context.Context, from *jsonnet.Source, path string) (*jsonnet.Source, error) {
	name := path
	if from != nil {
		name = filepath.Join(filepath.Dir(from.Name), path)
	}
	if src := i.found[name]; src != nil {
		return src, nil
	}
	if info, err := os.Stat(filepath.Join(i.dir, name)); err == nil && info.IsDir() {
		return nil, fmt.Errorf("read %s: is a directory", filepath.Clean(name))
	}
	content, err := os.ReadFile(filepath.Join(i.dir, name))
	if err != nil {
		return nil, fmt.Errorf("couldn't open import %#v: no match locally or in the Jsonnet library paths", path)
	}
	i.found[name] = source(name, string(content))
	return i.found[name], nil
}

// testNatives are the functions that go-jsonnet's own test registers.
func testNatives() map[string]*vm.Native {
	return map[string]*vm.Native{
		"jsonToString": {
			Name: "jsonToString", Params: []vm.NativeParam{{Name: "x"}}, Forced: 1,
			Fn: func(m *vm.Machine, pos *vm.Pos, args []vm.Value) vm.Value {
				var v any
				if err := json.Unmarshal([]byte(m.WriteJSON(args[0], pos)), &v); err != nil {
					m.Fail(pos, err.Error())
				}
				b, err := json.Marshal(v)
				if err != nil {
					m.Fail(pos, err.Error())
				}
				return std.FromGo(m, pos, string(b))
			},
		},
		"nativeError": {Name: "nativeError", Fn: func(m *vm.Machine, pos *vm.Pos, _ []vm.Value) vm.Value {
			m.Fail(pos, "native function error")
			return nil
		}},
		"nativePanic": {Name: "nativePanic", Fn: func(m *vm.Machine, pos *vm.Pos, _ []vm.Value) vm.Value {
			m.Fail(pos, `native function "nativePanic" panicked: native function panic`)
			return nil
		}},
	}
}

// testExternal are the external variables that go-jsonnet's own test sets for its extvar cases.
var testExternal = map[string]jsonnet.Binding{
	"stringVar":             {Text: "2 + 2"},
	"codeVar":               {Kind: jsonnet.BindCode, Text: "3 + 3"},
	"errorVar":              {Kind: jsonnet.BindCode, Text: "error 'xxx'"},
	"staticErrorVar":        {Kind: jsonnet.BindCode, Text: ")"},
	"UndeclaredX":           {Kind: jsonnet.BindCode, Text: "x"},
	"selfRecursiveVar":      {Kind: jsonnet.BindCode, Text: `[42, std.extVar("selfRecursiveVar")[0] + 1]`},
	"mutuallyRecursiveVar1": {Kind: jsonnet.BindCode, Text: `[42, std.extVar("mutuallyRecursiveVar2")[0] + 1]`},
	"mutuallyRecursiveVar2": {Kind: jsonnet.BindCode, Text: `[42, std.extVar("mutuallyRecursiveVar1")[0] + 1]`},
}

// exceptions are the cases that differ on purpose, with the reason.
var exceptions = map[string]string{}

// result is an output or an error, reduced to what both evaluators must agree on.
type result struct {
	Output   string
	Error    string // first line
	Location string // of the innermost frame in the author's files
}

func TestEvaluate_GoJsonnetTestdata(t *testing.T) {
	dir := moduleDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "*.jsonnet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("listing test data: %v", err)
	}
	e := eval.New(eval.Options{Natives: testNatives()})
	same, different := 0, []string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonnet")
		for i, c := range goldenCases(t, dir, name) {
			got := run(e, c.job)
			if got == c.want {
				same++
				continue
			}
			different = append(different, name)
			if reason, ok := exceptions[name]; ok {
				t.Logf("exception %s: %s", name, reason)
				continue
			}
			t.Errorf("%s (%d):\ngot  %+v\nwant %+v", name, i, got, c.want)
		}
	}
	slices.Sort(different)
	t.Logf("%d cases are the same, %d differ: %v", same, len(different), different)
}

type goldenCase struct {
	job  jsonnet.Job
	want result
}

// goldenCases reads a case of the test data. A directory of results is a case for each file in it.
func goldenCases(t *testing.T, dir, name string) []goldenCase {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "testdata", name+".jsonnet"))
	if err != nil {
		t.Fatal(err)
	}
	job := jsonnet.Job{Entry: source("testdata/"+name, string(content)), Importer: newTreeImporter(dir)}
	if strings.HasPrefix(name, "extvar_") && name != "extvar_unknown" && name != "extvar_not_a_string" {
		job.External = testExternal
	}
	golden := filepath.Join(dir, "testdata", name+".golden")
	info, err := os.Stat(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() {
		want := readGolden(t, golden)
		if strings.HasSuffix(name, "_string_output") || strings.Contains(name, "_string_output_") {
			want = stringResult(want, strings.Contains(name, "_no_newline"))
		} else if strings.Contains(name, "_no_newline") {
			want.Output += "\n"
		}
		return []goldenCase{{job, want}}
	}
	entries, err := os.ReadDir(golden)
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	for _, entry := range entries {
		want := readGolden(t, filepath.Join(golden, entry.Name()))
		field := job
		if entry.Name() != "error" {
			field.Entry = source("testdata/"+name, fmt.Sprintf("(%s)[%q]", content, entry.Name()))
		}
		if strings.Contains(name, "_string_output") {
			want = stringResult(want, false)
		} else if strings.Contains(name, "_no_newline") {
			want.Output += "\n"
		}
		cases = append(cases, goldenCase{field, want})
	}
	return cases
}

// stringResult turns what string output prints into the JSON of it.
func stringResult(want result, noNewline bool) result {
	if want.Error != "" {
		return want
	}
	if !noNewline {
		want.Output = strings.TrimSuffix(want.Output, "\n")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(want.Output)
	return result{Output: b.String()}
}

var (
	frameLine   = regexp.MustCompile(`^\t(\S.*?)\t`)
	staticError = regexp.MustCompile(`^(testdata/[^ ]*|<[a-z-]+:[^ ]*>[^ ]*) (.*)$`)
)

// readGolden reads what go-jsonnet printed, an error with its trace or an output.
func readGolden(t *testing.T, file string) result {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	first, rest, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "RUNTIME ERROR: ") {
		r := result{Error: first}
		for line := range strings.Lines(rest) {
			m := frameLine.FindStringSubmatch(line)
			if m != nil && (strings.HasPrefix(m[1], "testdata/") || strings.HasPrefix(m[1], "<extvar:")) {
				r.Location = m[1]
				break
			}
		}
		return r
	}
	if m := staticError.FindStringSubmatch(first); m != nil {
		return result{Error: first, Location: m[1]}
	}
	return result{Output: text}
}

// source makes a source with its sum.
func source(name, content string) *jsonnet.Source {
	return &jsonnet.Source{Name: name, Content: content, Sum: sum(content)}
}

func run(e jsonnet.Evaluator, job jsonnet.Job) result {
	out, err := e.Evaluate(context.Background(), job)
	if err == nil {
		return result{Output: out}
	}
	var je *jsonnet.Error
	if !errors.As(err, &je) {
		return result{Error: "not an *Error: " + err.Error()}
	}
	first, _, _ := strings.Cut(je.Error(), "\n")
	r := result{Error: first}
	if len(je.Frames) > 0 {
		r.Location = je.Frames[0].String()
	}
	return r
}
