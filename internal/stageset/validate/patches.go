package validate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// kustomizePatch is one or more strategic merge patches, or the operations of one JSON patch. A JSON patch needs a target,
// a merge patch that has none names its object itself.
func (c *checker) kustomizePatch(at *field.Path, p kustomize.Patch) {
	if p.Target != nil {
		c.selector(at.Child("target"), *p.Target)
	}
	here := at.Child("patch")
	documents, err := split(p.Patch)
	switch {
	case err != nil:
		c.wrong(here, "%v", err)
	case len(documents) == 0:
		c.required(here, "a patch is needed")
	case len(documents) > 1 && p.Target != nil:
		c.wrong(here, "with a target there is one document, not %d", len(documents))
	}
	for _, document := range documents {
		switch first := document[0]; {
		case first == '[' && p.Target == nil:
			c.required(at.Child("target"), "a JSON patch does not say itself what it is for")
		case first == '[':
			c.operations(here, document)
		case first != '{':
			c.wrong(here, "it is neither an object nor a list of operations")
		case p.Target == nil:
			c.namesItsObject(here, document)
		}
	}
}

// split returns the documents of a YAML stream as JSON, empty ones left out.
func split(text string) (documents [][]byte, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it cannot be read: %w", err)
		}
		converted, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, fmt.Errorf("it is neither YAML nor JSON: %w", withoutContent(err))
		}
		if text := string(converted); text != "null" && text != "" {
			documents = append(documents, converted)
		}
	}
}

// withoutContent keeps the first line of an error, because libraries show what they read.
func withoutContent(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"` // which may be null
}

func (c *checker) operations(at *field.Path, document []byte) {
	var operations []operation
	if err := json.Unmarshal(document, &operations); err != nil {
		c.wrong(at, "it is not a list of operations with op and path")
		return
	}
	if len(operations) == 0 {
		c.wrong(at, "it has no operation")
	}
	for i, o := range operations {
		if problem := o.problem(); problem != "" {
			c.wrong(at, "operation %d: %s", i, problem)
		}
	}
}

func (o operation) problem() string {
	switch {
	case !slices.Contains([]string{"add", "remove", "replace", "move", "copy", "test"}, o.Op):
		return fmt.Sprintf("op %q is none of add, remove, replace, move, copy, test", o.Op)
	case o.Path == nil || !isPointer(*o.Path):
		return "path is not a JSON pointer such as /spec/replicas"
	case (o.Op == "move" || o.Op == "copy") && (o.From == nil || !isPointer(*o.From)):
		return "from is not a JSON pointer such as /spec/replicas"
	case (o.Op == "add" || o.Op == "replace" || o.Op == "test") && len(o.Value) == 0:
		return "value is missing"
	default:
		return ""
	}
}

func isPointer(text string) bool { return text == "" || text[0] == '/' }

func (c *checker) namesItsObject(at *field.Path, document []byte) {
	var object struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(document, &object); err != nil || object.Kind == "" || object.APIVersion == "" || object.Metadata.Name == "" {
		c.wrong(at, "without a target it has to name its object by apiVersion, kind and metadata.name")
	}
}

// storage are the kinds whose objects hold data.
var storage = []string{"PersistentVolume", "PersistentVolumeClaim"}

// conflictRule refuses a rule that is made for volumes and would delete them without consent. A rule that selects them
// among others passes: they are kept then.
func (c *checker) conflictRule(at *field.Path, r *stagesv1.ConflictRule) {
	c.selector(at.Child("target"), r.Target)
	if r.Action != stagesv1.ConflictRecreate || r.AllowDataLoss || r.Target.Kind == "" {
		return
	}
	pattern, err := anchored(r.Target.Kind)
	if err != nil || pattern.MatchString("ConfigMap") {
		return
	}
	if slices.ContainsFunc(storage, pattern.MatchString) {
		c.required(at.Child("allowDataLoss"), "recreating %s deletes data; say so with allowDataLoss: true", r.Target.Kind)
	}
}
