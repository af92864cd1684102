package build

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/stagewright/stagewright/internal/artifact"
)

var update = flag.Bool("update", false, "write what is built into testdata")

// settings are what a case has in its file input.yaml.
type settings struct {
	Path       string            `json:"path"`
	Patches    []kustomize.Patch `json:"patches"`
	Substitute map[string]string `json:"substitute"`
	Secrets    []string          `json:"secrets"`
	Namespace  string            `json:"namespace"`
}

// TestBuild_Cases builds the files of each case: all but input.yaml, objects.yaml and error.txt, of which the latter two say
// what comes out.
func TestBuild_Cases(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, want, kept := readCase(t, archive)
			objects, err := build(t, in)
			got := map[string]string{}
			if err != nil {
				if !errors.As(err, new(*Error)) {
					t.Errorf("the error %v is no *Error", err)
				}
				got["error.txt"] = err.Error() + "\n"
			} else {
				got["objects.yaml"] = asYAML(t, objects)
			}
			if *update {
				archive.Files = kept
				for _, name := range []string{"error.txt", "objects.yaml"} {
					if text, ok := got[name]; ok {
						archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
					}
				}
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func readCase(t *testing.T, archive *txtar.Archive) (in Input, want map[string]string, kept []txtar.File) {
	t.Helper()
	want = map[string]string{}
	in.Files = artifact.Files{}
	var s settings
	for _, file := range archive.Files {
		switch file.Name {
		case "objects.yaml", "error.txt":
			want[file.Name] = string(file.Data)
			continue
		case "input.yaml":
			if err := yaml.UnmarshalStrict(file.Data, &s); err != nil {
				t.Fatal(err)
			}
		default:
			in.Files[file.Name] = file.Data
		}
		kept = append(kept, file)
	}
	in.Path, in.Patches, in.Substitute, in.Secrets, in.Namespace = s.Path, s.Patches, s.Substitute, s.Secrets, s.Namespace
	return in, want, kept
}

func build(t testing.TB, in Input) ([]*unstructured.Unstructured, error) {
	t.Helper()
	return New(Options{}).Build(t.Context(), "", func(context.Context) (Input, error) { return in, nil })
}

func asYAML(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var text strings.Builder
	for _, o := range objects {
		asJSON, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		document, err := yaml.JSONToYAML(asJSON)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n")
		text.Write(document)
	}
	if text.Len() == 0 {
		return "# none\n"
	}
	return text.String()
}
