package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

// kwok manages the nodes with this label.
const (
	nodeLabel      = "type"
	nodeLabelValue = "kwok"
)

// object is one to be applied.
type object struct {
	path    string // of the API
	content []byte // YAML
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func nodePath(i int) string { return "/api/v1/nodes/" + nodeName(i) }

// newNode describes a node that kwok takes care of. Its capacity comes from kwok's stage, and is more than anyone needs.
func newNode(i int) (object, error) {
	content, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{
			"name":        nodeName(i),
			"annotations": map[string]string{"kwok.x-k8s.io/node": "fake"},
			"labels": map[string]string{
				nodeLabel: nodeLabelValue, "kubernetes.io/hostname": nodeName(i),
				"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			},
		},
	})
	return object{path: nodePath(i), content: content}, err
}

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// separator divides the documents of a YAML file.
var separator = regexp.MustCompile(`(?m)^---([ \t].*)?$`)

// readCRDs reads the CustomResourceDefinitions of a file, or of the *.yaml, *.yml and *.json files of a directory.
// Other objects there (a kustomization, say) are left alone; a place without any definition is an error.
func readCRDs(place string) ([]object, error) {
	files := []string{place}
	if info, err := os.Stat(place); err != nil {
		return nil, fmt.Errorf("reading definitions: %w", err)
	} else if info.IsDir() {
		files = nil
		for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
			found, err := filepath.Glob(filepath.Join(escape(place), pattern))
			if err != nil {
				return nil, fmt.Errorf("reading definitions: %w", err)
			}
			files = append(files, found...)
		}
		slices.Sort(files)
	}
	var crds []object
	for _, file := range files {
		found, err := readFile(file)
		if err != nil {
			return nil, err
		}
		crds = append(crds, found...)
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("reading definitions: there is no CustomResourceDefinition in %s", place)
	}
	return crds, nil
}

func readFile(file string) ([]object, error) {
	content, err := os.ReadFile(file) //nolint:gosec // the caller names it
	if err != nil {
		return nil, fmt.Errorf("reading definitions: %w", err)
	}
	var crds []object
	for _, document := range separator.Split(string(content), -1) {
		var head struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			return nil, fmt.Errorf("reading definitions: %s: %w", file, err)
		}
		if head.Kind != "CustomResourceDefinition" {
			continue
		}
		if head.Metadata.Name == "" {
			return nil, fmt.Errorf("reading definitions: %s: a CustomResourceDefinition has no name", file)
		}
		crds = append(crds, object{path: crdPath + head.Metadata.Name, content: bytes.TrimSpace([]byte(document))})
	}
	return crds, nil
}

// escape makes a directory's name match itself in a pattern.
func escape(name string) string {
	return regexp.MustCompile(`[\\*?\[]`).ReplaceAllString(name, `\$0`)
}
