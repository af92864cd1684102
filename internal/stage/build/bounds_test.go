package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/stagewright/stagewright/internal/artifact"
)

// substituting has a text in which ${x} has a value.
func substituting(text, value string) Input {
	content, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"a": text},
	})
	if err != nil {
		panic(err)
	}
	return Input{Files: artifact.Files{"a.json": content}, Substitute: map[string]string{"x": value}}
}

func TestBuild_IsBounded(t *testing.T) {
	many := strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 20)
	laughs := "a: &a [" + strings.Repeat("x, ", 9) + "x]\n"
	for c := 'b'; c < 'n'; c++ {
		laughs += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	merges := "a: &a {k0: 1, k1: 1}\n"
	for c := 'b'; c < 'z'; c++ {
		merges += fmt.Sprintf("%c: &%c {<<: [*%c, *%c, *%c], x: 1}\n", c, c, c-1, c-1, c-1)
	}
	nothings := "a: &a {}\n"
	for c := 'b'; c < 'z'; c++ {
		nothings += fmt.Sprintf("%c: &%c {<<: [*%c, *%c, *%c]}\n", c, c, c-1, c-1, c-1)
	}
	diamond := artifact.Files{"kustomization.yaml": []byte("resources: [l0]")}
	for level := range 20 {
		next := fmt.Sprintf("resources: [../l%d, ../m%d]", level+1, level+1)
		diamond[fmt.Sprintf("l%d/kustomization.yaml", level)] = []byte(next)
		diamond[fmt.Sprintf("m%d/kustomization.yaml", level)] = []byte(next)
	}
	diamond["l20/kustomization.yaml"], diamond["m20/kustomization.yaml"] = []byte("{}"), []byte("{}")
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, test := range map[string]struct {
		in   Input
		want string
	}{
		"objects of YAML":       {Input{Files: artifact.Files{"a.yaml": []byte(many)}}, "more than 10 objects"},
		"objects of JSON":       {Input{Files: artifact.Files{"a.json": []byte("[" + strings.Repeat(`{"apiVersion":"v1","kind":"A"},`, 20) + "null]")}}, "more than 10 objects"},
		"bytes of YAML":         {Input{Files: artifact.Files{"a.yaml": []byte(object + "data: {a: " + strings.Repeat("x", 300_000) + "}")}}, "more than 100000 bytes"},
		"bytes of JSON":         {Input{Files: artifact.Files{"a.json": []byte(`{"apiVersion":"v1","kind":"A","a":"` + strings.Repeat("x", 300_000) + `"}`)}}, "more than 100000 bytes"},
		"bytes of both":         {Input{Files: artifact.Files{"a.yaml": []byte(object + "data: {a: " + strings.Repeat("x", 150_000) + "}")}}, "more than 100000 bytes"},
		"bytes by substitution": {Input{Files: artifact.Files{"a.yaml": []byte(object + "data: {a: '" + strings.Repeat("${x}", 1000) + "'}")}, Substitute: map[string]string{"x": strings.Repeat("y", 1000)}}, "more than 100000 bytes"},
		"many variables":        {substituting(strings.Repeat("${x}", 4_000_000), "y"), "too many $"},
		"nested variables":      {substituting(strings.Repeat("${x:=", 3_000_000), "y"), "too many $"},
		"replacing much":        {substituting("${x//y/"+strings.Repeat("z", 1000)+"}", strings.Repeat("y", 1000)), "more than 100000 bytes"},
		"replacing in replaced": {substituting("${x//y/${x//y/${x//y/${x//y/${x//y/zzz}}}}}", strings.Repeat("y", 1000)), "take too long"},
		"trying every prefix":   {substituting("${x##*a*a*a*b}", strings.Repeat("a", 90_000)), "take too long"},
		"tiny values":           {Input{Files: artifact.Files{"a.json": []byte(`[` + strings.Repeat("[],", 100_000) + `null]`)}}, "more than 100000 bytes"},
		"aliases":               {Input{Files: artifact.Files{"a.yaml": []byte(laughs)}}, "aliases make too much"},
		"merges":                {Input{Files: artifact.Files{"a.yaml": []byte(merges)}}, "aliases make too much"},
		"merges of nothing":     {Input{Files: artifact.Files{"a.yaml": []byte(nothings)}}, "aliases make too much"},
		"aliases in a kustomization": {
			Input{Files: artifact.Files{"kustomization.yaml": []byte(laughs)}}, "aliases make too much",
		},
		"aliases in a resource": {
			Input{Files: artifact.Files{"kustomization.yaml": []byte("resources: [a.yaml]"), "a.yaml": []byte(laughs)}}, "aliases make too much",
		},
		"aliases in a patch file": {
			Input{Files: artifact.Files{"kustomization.yaml": []byte("patches: [{path: a.yaml}]"), "a.yaml": []byte(laughs)}}, "aliases make too much",
		},
		"aliases in a patch": {
			Input{Files: artifact.Files{"a.yaml": configMap("a")}, Patches: []kustomize.Patch{{Patch: laughs}}}, "aliases make too much",
		},
		"depth of YAML":        {Input{Files: artifact.Files{"a.yaml": []byte("a: " + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000))}}, "nested more than"},
		"depth of JSON":        {Input{Files: artifact.Files{"a.json": []byte(strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000))}}, "nested more than"},
		"no end of YAML":       {Input{Files: artifact.Files{"a.yaml": []byte("a: " + strings.Repeat("[", 100_000))}}, "depth"},
		"no end of JSON":       {Input{Files: artifact.Files{"a.json": []byte(strings.Repeat("[", 100_000))}}, "depth"},
		"included directories": {Input{Files: diamond}, "more than 1000 directories"},
	} {
		t.Run(name, func(t *testing.T) {
			limit := int64(100_000)
			if strings.HasSuffix(name, "variables") {
				limit = 64 << 20
			}
			b := New(Options{MaxObjects: 10, MaxBytes: limit})
			_, err := b.Build(t.Context(), "", giving(test.in))
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, new(*Error)) {
				t.Errorf("%v, want an *Error with %q", err, test.want)
			}
		})
	}
}
