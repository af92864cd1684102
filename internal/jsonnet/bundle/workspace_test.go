package bundle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
)

func filesOf(texts map[string]string) bundle.Files {
	files := bundle.Files{}
	for name, text := range texts {
		files[name] = bundle.NewFile(text)
	}
	return files
}

func library(name string, texts map[string]string) bundle.Library {
	return bundle.Library{ImportPath: name, Files: filesOf(texts)}
}

type texts = map[string]string

func TestImport_ResolvesAsWithAVendorDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		entry     string
		files     texts
		libraries []bundle.Library
		want      string // the JSON, or what the error has
	}{
		"relative to the importing file": {
			entry: "apps/main.jsonnet",
			files: texts{"apps/main.jsonnet": `import "../lib/a.libsonnet"`, "lib/a.libsonnet": `import "b.libsonnet"`, "lib/b.libsonnet": `"lib"`, "b.libsonnet": `"root"`},
			want:  `"lib"`,
		},
		"by the name of a library": {
			files:     texts{"main.jsonnet": `import "k/util.libsonnet"`},
			libraries: []bundle.Library{library("k", texts{"util.libsonnet": `"alias"`})},
			want:      `"alias"`,
		},
		"a name of several parts": {
			files:     texts{"main.jsonnet": `import "github.com/shop/k/util.libsonnet"`},
			libraries: []bundle.Library{library("github.com/shop/k", texts{"util.libsonnet": `"alias"`})},
			want:      `"alias"`,
		},
		"own file before a library": {
			files:     texts{"main.jsonnet": `import "k/util.libsonnet"`, "k/util.libsonnet": `"own"`},
			libraries: []bundle.Library{library("k", texts{"util.libsonnet": `"alias"`})},
			want:      `"own"`,
		},
		"name before the search": {
			files: texts{"main.jsonnet": `import "k/util.libsonnet"`},
			libraries: []bundle.Library{
				library("k", texts{"util.libsonnet": `"alias"`}), library("other", texts{"k/util.libsonnet": `"searched"`}),
			},
			want: `"alias"`,
		},
		"search, later ones win": {
			files: texts{"main.jsonnet": `import "util.libsonnet"`},
			libraries: []bundle.Library{
				library("a", texts{"util.libsonnet": `"first"`}), library("b", texts{"util.libsonnet": `"second"`}),
			},
			want: `"second"`,
		},
		"search in the snippet from a library": {
			files:     texts{"main.jsonnet": `import "k/util.libsonnet"`, "settings.libsonnet": `"snippet's"`},
			libraries: []bundle.Library{library("k", texts{"util.libsonnet": `import "settings.libsonnet"`})},
			want:      `"snippet's"`,
		},
		"vendor directory of the snippet": {
			files: texts{"main.jsonnet": `import "k/util.libsonnet"`, "vendor/k/util.libsonnet": `"vendored"`},
			want:  `"vendored"`,
		},
		"library relative to itself": {
			files:     texts{"main.jsonnet": `import "k/deep/a.libsonnet"`, "b.libsonnet": `"snippet's"`},
			libraries: []bundle.Library{library("k", texts{"deep/a.libsonnet": `import "../b.libsonnet"`, "b.libsonnet": `"library's"`})},
			want:      `"library's"`,
		},
		"importstr and importbin": {
			files:     texts{"main.jsonnet": `[importstr "k/t.txt", importbin "k/t.txt"]`},
			libraries: []bundle.Library{library("k", texts{"t.txt": "A"})},
			want:      `["A",[65]]`,
		},
		"missing":             {files: texts{"main.jsonnet": `import "no.libsonnet"`}, want: `no match in the snippet`},
		"missing entry":       {files: texts{"other.jsonnet": `1`}, want: `reading main.jsonnet: no such file`},
		"absolute":            {files: texts{"main.jsonnet": `importstr "/etc/passwd"`}, want: `it is absolute`},
		"out of the snippet":  {files: texts{"main.jsonnet": `importstr "../../etc/passwd"`}, want: `it leads out`},
		"out, and back":       {files: texts{"main.jsonnet": `importstr "../x/main.jsonnet"`}, want: `it leads out`},
		"the directory":       {files: texts{"main.jsonnet": `importstr "."`}, want: `couldn't open import`},
		"out of a library":    {files: texts{"main.jsonnet": `import "k/a.libsonnet"`}, libraries: []bundle.Library{library("k", texts{"a.libsonnet": `import "../main.jsonnet"`})}, want: `it leads out`},
		"two of one name":     {files: texts{"main.jsonnet": `[import "k/a.libsonnet", import "b.libsonnet"]`, "k/a.libsonnet": `"own"`}, libraries: []bundle.Library{library("k", texts{"b.libsonnet": `import "a.libsonnet"`, "a.libsonnet": `"library's"`})}, want: `["own","library's"]`},
		"place of an error":   {files: texts{"main.jsonnet": `import "k/a.libsonnet"`}, libraries: []bundle.Library{library("k", texts{"a.libsonnet": "\n error 'x'"})}, want: "k/a.libsonnet:2:2"},
		"variable may search": {files: texts{"main.jsonnet": `std.extVar("v")`, "a.libsonnet": `"a"`}, want: `"a"`},
	} {
		t.Run(name, func(t *testing.T) {
			entry := c.entry
			if entry == "" {
				entry = "main.jsonnet"
			}
			engine := jsonnet.NewEngine(jsonnet.Config{Evaluator: eval.New(eval.Options{})})
			result, err := engine.Evaluate(t.Context(), jsonnet.Request{
				Program:  bundle.New(entry, filesOf(c.files), c.libraries),
				External: map[string]jsonnet.Binding{"v": {Kind: jsonnet.BindCode, Text: `import "a.libsonnet"`}},
			})
			var failed *jsonnet.Error
			var got string
			if errors.As(err, &failed) {
				got = failed.Trace()
			} else {
				got = strings.Join(strings.Fields(string(result.JSON)), "")
			}
			if err != nil && strings.Contains(got, c.want) {
				return
			}
			if d := cmp.Diff(strings.ReplaceAll(c.want, " ", ""), strings.ReplaceAll(got, " ", "")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestID_IsThatOfTheContent(t *testing.T) {
	base := bundle.New("main.jsonnet", filesOf(texts{"main.jsonnet": "1"}), nil).ID()
	for name, c := range map[string]struct {
		workspace *bundle.Workspace
		same      bool
	}{
		"the same":      {bundle.New("main.jsonnet", filesOf(texts{"main.jsonnet": "1"}), nil), true},
		"clean entry":   {bundle.New("./main.jsonnet", filesOf(texts{"main.jsonnet": "1"}), nil), true},
		"other content": {bundle.New("main.jsonnet", filesOf(texts{"main.jsonnet": "2"}), nil), false},
		"other name":    {bundle.New("main.jsonnet", filesOf(texts{"main.jsonnet": "1", "a": ""}), nil), false},
		"other entry":   {bundle.New("b.jsonnet", filesOf(texts{"main.jsonnet": "1"}), nil), false},
		"a library":     {bundle.New("main.jsonnet", filesOf(texts{"main.jsonnet": "1"}), []bundle.Library{{ImportPath: "k"}}), false},
	} {
		if got := c.workspace.ID() == base; got != c.same {
			t.Errorf("%s: the same is %v, want %v", name, got, c.same)
		}
	}
}

func TestBelow_GivesADirectory(t *testing.T) {
	files := filesOf(texts{"a/b/c": "1", "a/bc": "2", "d": "3"})
	for directory, want := range map[string][]string{
		"": {"a/b/c", "a/bc", "d"}, ".": {"a/b/c", "a/bc", "d"}, "a": {"b/c", "bc"}, "./a/": {"b/c", "bc"}, "a/b": {"c"}, "x": nil,
	} {
		below := files.Below(directory)
		if len(below) != len(want) {
			t.Errorf("%q has %d files, want %v", directory, len(below), want)
		}
		for _, name := range want {
			if _, ok := below[name]; !ok {
				t.Errorf("%q lacks %s", directory, name)
			}
		}
	}
}

func TestSession_ReportsItsLookups(t *testing.T) {
	session, err := bundle.New("main.jsonnet", filesOf(texts{"main.jsonnet": "1"}), nil).Open()
	if err != nil {
		t.Fatal(err)
	}
	entry, err := session.Entry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := session.Lookups().Weight()
	if _, err := session.Import(t.Context(), entry, "no.libsonnet"); err == nil {
		t.Fatal("a missing import was found")
	}
	if after := session.Lookups().Weight(); before == 0 || after <= before {
		t.Errorf("the look-ups weigh %d and then %d: a missed one counts too", before, after)
	}
}
