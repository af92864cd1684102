package build

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
)

// readJSON reads the one value of a JSON file. Keys that are there twice are an error.
func readJSON(content []byte, c *counter) (any, error) {
	if err := checkText(string(content)); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	var value any
	strict, err := kjson.UnmarshalStrict(content, &value, kjson.DisallowDuplicateFields)
	if err != nil {
		if isSyntax, offset := kjson.SyntaxErrorOffset(err); isSyntax {
			err = &lineError{lineAt(content, offset), err}
		}
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	if len(strict) > 0 {
		return nil, fmt.Errorf("reading JSON: %w", strict[0])
	}
	s, err := measure(value, 0)
	if err != nil {
		return nil, err
	}
	return value, c.add(s.json)
}

func lineAt(content []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(content)))
	return 1 + bytes.Count(content[:offset], []byte{'\n'})
}

// place is where a value is inside a JSON file. It is made into text only for an error.
type place struct {
	parent *place
	key    string
	index  int // for an element of a list, whose key is empty
	inList bool
}

// String is as jq and kubectl write paths.
func (p *place) String() string {
	var steps []string
	for ; p.parent != nil; p = p.parent {
		switch {
		case p.inList:
			steps = append(steps, "["+strconv.Itoa(p.index)+"]")
		case isPlain(p.key):
			steps = append(steps, "."+p.key)
		default:
			steps = append(steps, "["+strconv.Quote(p.key)+"]")
		}
	}
	if len(steps) == 0 {
		return "the value"
	}
	slices.Reverse(steps)
	path := strings.Join(steps, "")
	if !strings.HasPrefix(path, ".") {
		path = "." + path
	}
	return path
}

func isPlain(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// walk calls add with every object of a rendered tree: an object, a List, an array, or objects nested in objects under any
// names, as Tanka and kubecfg accept. A null is the result of a condition that does not hold, and is nothing.
func walk(value any, at *place, add func(map[string]any) error) error {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		for i, inner := range v {
			if err := walk(inner, &place{parent: at, index: i, inList: true}, add); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if looksLikeObject(v) {
			if err := expand(v, add); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := walk(v[key], &place{parent: at, key: key}, add); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("%s is %s, not an object with apiVersion and kind", at, describe(value))
	}
}

// looksLikeObject says whether a map is meant as an object: a tree has objects below its names, not text.
func looksLikeObject(m map[string]any) bool {
	_, hasVersion := m["apiVersion"].(string)
	_, hasKind := m["kind"].(string)
	return hasVersion || hasKind
}

// expand calls add with an object, or with what is in a List.
func expand(m map[string]any, add func(map[string]any) error) error {
	version, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	switch {
	case version == "":
		return errors.New("the object has no apiVersion")
	case kind == "":
		return errors.New("the object has no kind")
	case !strings.HasSuffix(kind, "List"):
		return add(m)
	}
	items, ok := m["items"]
	if !ok && kind != "List" {
		return add(m) // a kind may be called so
	}
	list, ok := items.([]any)
	if !ok && items != nil {
		return add(m)
	}
	for i, item := range list {
		inner, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("items[%d] is %s, not an object", i, describe(item))
		}
		inner = typed(inner, version, strings.TrimSuffix(kind, "List"))
		if err := expand(inner, add); err != nil {
			return fmt.Errorf("items[%d]: %w", i, err)
		}
	}
	return nil
}

// typed is an item of a list of one kind, which need not say its kind again.
func typed(item map[string]any, version, kind string) map[string]any {
	if _, ok := item["kind"]; ok || kind == "" {
		return item
	}
	if _, ok := item["apiVersion"]; ok {
		return item
	}
	full := maps.Clone(item)
	full["apiVersion"], full["kind"] = version, kind
	return full
}

func describe(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}
