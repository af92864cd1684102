package apidoc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestGroups_PagesAreCurrent(t *testing.T) {
	for _, g := range Groups() {
		page, err := os.ReadFile(filepath.Join("../../docs/reference", g.Page))
		if err != nil {
			t.Fatal(err)
		}
		want, err := g.Markdown("../../config/crd")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(page)); diff != "" {
			t.Errorf("%s: run 'make generate' (-want +got):\n%s", g.Page, diff)
		}
	}
}

func TestPage_ShowsTypesDefaultsAndRules(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(`
spec:
  group: a.io
  scope: Namespaced
  names: {kind: Thing, shortNames: [th]}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        description: a thing
        x-kubernetes-validations: [{rule: "true", message: it is a thing}]
        properties:
          spec:
            required: [size]
            x-kubernetes-validations: [{rule: "true", message: it is big}]
            properties:
              size: {type: integer, minimum: 1, maximum: 3, description: "size of a|b"}
              color: {type: string, enum: [red, blue], default: red}
              parts:
                type: array
                maxItems: 2
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  properties:
                    name: {type: string, maxLength: 9, pattern: "^a$"}
                    wait: {type: string, x-kubernetes-validations: [{rule: "true", message: it is short}]}
              spare:
                type: object
                description: the same
                properties:
                  name: {type: string, maxLength: 9, pattern: "^a$"}
                  wait: {type: string, x-kubernetes-validations: [{rule: "true", message: it is short}]}
              labels: {type: object, additionalProperties: {type: string}}
`), definition); err != nil {
		t.Fatal(err)
	}
	got := Page("Title", "Intro.", Kind{Definition: definition, Parts: []string{"spec", "status"}})
	_, got, _ = strings.Cut(got, "Intro.\n")
	want := "\n## Thing\n\nA thing.\n\n`apiVersion: a.io/v1`, namespaced, short name `th`\n\n- it is a thing\n" +
		"\n### `spec`\n\n- it is big\n\n| Field | Type | Default | Meaning |\n|---|---|---|---|\n" +
		"| `color` | `red`, `blue` | `\"red\"` |  |\n" +
		"| `labels` | map of string |  |  |\n" +
		"| `parts` | list of object |  |  (at most 2; unique by name) |\n" +
		"| `size` | integer |  | **Required.** size of a\\|b (at least 1; at most 3) |\n" +
		"| `spare` | object |  | the same (as `spec.parts[]`) |\n" +
		"\n### `spec.parts[]`\n\n| Field | Type | Default | Meaning |\n|---|---|---|---|\n" +
		"| `name` | string |  |  (at most 9 characters; matches `^a$`) |\n" +
		"| `wait` | string |  |  (it is short) |\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
