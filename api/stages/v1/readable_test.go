package v1_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/stagewright/stagewright/api/stages/v1"
)

// TestStageSet_WhatIsStoredCanBeRead: an object that the API server takes and Go cannot read would end the watch of all
// StageSets, those of other tenants too. The types whose texts Go is stricter about need a rule in the definition.
func TestStageSet_WhatIsStoredCanBeRead(t *testing.T) {
	content, err := os.ReadFile("../../../config/crd/stages.stagewright.dev_stagesets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &definition); err != nil {
		t.Fatal(err)
	}
	spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	if found := readable(t, "spec", reflect.TypeFor[v1.StageSetSpec](), &spec); found < 15 {
		t.Errorf("only %d durations and times were found", found)
	}
}

// readable looks at all durations and times below a type, and returns how many there are.
func readable(t *testing.T, path string, of reflect.Type, schema *apiextensionsv1.JSONSchemaProps) (found int) {
	t.Helper()
	switch {
	case schema == nil:
		t.Errorf("%s is not in the definition", path)
		return 0
	case of == reflect.TypeFor[metav1.Duration]():
		for _, rule := range schema.XValidations {
			if strings.Contains(rule.Rule, "duration(self)") {
				return 1
			}
		}
		t.Errorf("%s: no rule has the API server read it as a duration", path)
		return 1
	case of == reflect.TypeFor[metav1.Time](), of == reflect.TypeFor[metav1.MicroTime]():
		if schema.Pattern == "" {
			t.Errorf("%s: the API server takes more forms of times than Go does; it needs a pattern", path)
		}
		return 1
	}
	switch of.Kind() { //nolint:exhaustive // the others have nothing below them
	case reflect.Pointer:
		return readable(t, path, of.Elem(), schema)
	case reflect.Slice:
		if schema.Items == nil {
			return 0
		}
		return readable(t, path+"[]", of.Elem(), schema.Items.Schema)
	case reflect.Struct:
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" { // its fields are the struct's own
				found += readable(t, path, field.Type, schema)
				continue
			}
			below, ok := schema.Properties[name]
			if !ok {
				t.Errorf("%s.%s is not in the definition", path, name)
				continue
			}
			found += readable(t, path+"."+name, field.Type, &below)
		}
	}
	return found
}
