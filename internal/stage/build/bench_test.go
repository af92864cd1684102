package build

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stagewright/stagewright/internal/artifact"
)

// BenchmarkBuild builds many ConfigMaps of each shape.
func BenchmarkBuild(b *testing.B) {
	for _, bench := range []struct {
		name  string
		count int
		in    func(int) Input
	}{
		{"yaml/12000", 12_000, manyDocuments},
		{"yaml-files/12000", 12_000, manyFiles},
		{"json/12000", 12_000, manyRendered},
		{"substituted/12000", 12_000, func(n int) Input {
			in := manyDocuments(n)
			in.Files["a.yaml"] = bytes.ReplaceAll(in.Files["a.yaml"], []byte("key: value"), []byte("key: \"${x}\""))
			in.Substitute = map[string]string{"x": "y"}
			return in
		}},
		{"patched/300", 300, patched},
		{"patched/12000", 12_000, patched},
		{"kustomized/400", 400, kustomized},
		{"kustomized/2000", 2_000, kustomized},
	} {
		b.Run(bench.name, func(b *testing.B) {
			in := bench.in(bench.count)
			b.ReportAllocs()
			for b.Loop() {
				objects, err := build(b, in)
				if err != nil || len(objects) != bench.count {
					b.Fatalf("%d objects, %v", len(objects), err)
				}
			}
		})
	}
}

func patched(n int) Input {
	in := manyDocuments(n)
	in.Patches = addKey()
	return in
}

func kustomized(n int) Input {
	in := manyDocuments(n)
	in.Files["kustomization.yaml"] = []byte("resources: [a.yaml]")
	return in
}

func manyDocuments(n int) Input {
	var text bytes.Buffer
	for i := range n {
		text.WriteString("---\n")
		text.Write(configMap(fmt.Sprintf("name-%d", i)))
	}
	return Input{Files: artifact.Files{"a.yaml": text.Bytes()}}
}

func manyFiles(n int) Input {
	files := artifact.Files{}
	for i := range n {
		files[fmt.Sprintf("d%d/f%d.yaml", i%100, i)] = configMap(fmt.Sprintf("name-%d", i))
	}
	return Input{Files: files}
}

func manyRendered(n int) Input {
	tree := map[string]any{}
	for i := range n {
		name := fmt.Sprintf("name-%d", i)
		tree[name] = map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"key": "value"},
		}
	}
	text, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return Input{Files: artifact.Files{"rendered.json": text}}
}
