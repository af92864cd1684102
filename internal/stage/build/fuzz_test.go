package build

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stagewright/stagewright/internal/artifact"
)

// FuzzPlain builds any YAML.
func FuzzPlain(f *testing.F) { fuzzFile(f, ".yaml") }

// FuzzRendered builds any JSON.
func FuzzRendered(f *testing.F) { fuzzFile(f, ".json") }

// fuzzFile builds one file twice: there is an error that says so, or the same objects, which have names and are JSON.
func fuzzFile(f *testing.F, extension string) {
	f.Helper()
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range cases {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(text).Files {
			if filepath.Ext(part.Name) == extension {
				f.Add(part.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		in := Input{Files: artifact.Files{"a" + extension: content}, Namespace: "shop", Substitute: map[string]string{"a": "b"}}
		objects, err := build(t, in)
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Errorf("%v is no *Error", err)
			}
			return
		}
		again, err := build(t, in)
		if err != nil {
			t.Fatalf("the second time: %v", err)
		}
		if d := cmp.Diff(objects, again); d != "" {
			t.Error(d)
		}
		for _, o := range objects {
			if o.GetName() == "" || o.GetKind() == "" || o.GetAPIVersion() == "" {
				t.Errorf("an object without a name: %v", o)
			}
			if _, err := json.Marshal(o); err != nil {
				t.Error(err)
			}
		}
	})
}
