package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// disableKey is the label or annotation of Flux by which an object is left as it is.
const disableKey = "kustomize.toolkit.fluxcd.io/substitute"

// substitute fills in variables as Flux does: in the YAML of each object, so that ${replicas} becomes a number. A variable
// without a value and a default becomes empty; line ends inside values are left out.
func substitute(ctx context.Context, objects []object, values map[string]string, c *counter) ([]object, error) {
	name := regexp.MustCompile("^[_[:alpha:]][_[:alpha:][:digit:]]*$")
	variables := make(map[string]string, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !name.MatchString(key) {
			return nil, wrong("", "%q is not a name of a variable: letters, digits and _, not beginning with a digit", key)
		}
		variables[key] = strings.ReplaceAll(values[key], "\n", "")
	}
	for i, o := range objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !hasDollar(o.content) || isDisabled(o.content) {
			continue
		}
		content, err := fill(o.content, variables, c)
		if err != nil {
			return nil, &Error{File: o.file, Err: fmt.Errorf("substituting variables in %s: %w", titleOf(o.content), err)}
		}
		objects[i].content = content
	}
	return objects, nil
}

// fill returns an object with its variables filled in. Its errors do not quote what a library says after values are in the
// text, because that may show them.
func fill(content map[string]any, variables map[string]string, c *counter) (map[string]any, error) {
	text, err := yaml.Marshal(content)
	if err != nil {
		return nil, err
	}
	needed, err := estimate(string(text), variables)
	if err != nil {
		return nil, err
	}
	if c.work += needed.work; c.work > maxWork {
		return nil, errExpensive
	}
	if needed.bytes > float64(c.bytes) {
		return nil, c.tooLarge()
	}
	filled, err := envsubst.Eval(string(text), func(name string) (string, bool) { return variables[name], true })
	if err != nil {
		return nil, errors.New("a ${…} cannot be filled in")
	}
	if err := c.add(int64(len(filled))); err != nil {
		return nil, err
	}
	asJSON, err := yaml.YAMLToJSON([]byte(filled))
	if err != nil {
		return nil, errors.New("with the values filled in it is no longer YAML; put quotes around the variable")
	}
	var result map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &result); err != nil {
		return nil, errors.New("with the values filled in it is no longer an object")
	}
	return result, nil
}

// hasDollar says whether there may be a variable anywhere.
func hasDollar(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, "$")
	case []any:
		return slices.ContainsFunc(v, hasDollar)
	case map[string]any:
		for key, inner := range v {
			if strings.Contains(key, "$") || hasDollar(inner) {
				return true
			}
		}
	}
	return false
}

func isDisabled(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		if m, _ := metadata[field].(map[string]any); m[disableKey] == "disabled" {
			return true
		}
	}
	return false
}
