package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// eachYAML calls do with every document of a stream that is not empty, as JSON values, and the line it starts at. Plain
// scalars mean what they mean to kustomize, so that a kustomization does not change how a file is read: yes and on are
// strings. Only dates stay what is written, while kustomize adds a time to them.
func eachYAML(content []byte, c *counter, do func(value any, line int) error) (err error) {
	defer func() {
		if r := recover(); r != nil { // the parser has not been written for hostile files
			err = fmt.Errorf("reading YAML: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading YAML: %w", err)
		}
		if document.Kind == 0 || len(document.Content) == 0 {
			continue
		}
		root := document.Content[0]
		r := yamlReader{counter: c, limit: aliasBytes + written*int64(len(content)), open: map[*yaml.Node]bool{}}
		value, err := r.value(root, 0)
		if err == nil {
			err = c.add(r.bytes)
		}
		if err != nil {
			return err
		}
		if value == nil {
			continue
		}
		if err := do(value, root.Line); err != nil {
			return err
		}
	}
}

// A document makes no more of its text than written times its bytes: what is more comes of aliases, which may make some.
const (
	written    = bytesPerNode + 2
	aliasBytes = 4 << 20
)

// yamlReader turns nodes into JSON values. It counts what it makes as it goes, because aliases make much of little.
type yamlReader struct {
	counter *counter
	bytes   int64
	limit   int64               // of bytes
	open    map[*yaml.Node]bool // anchors whose value is being read
}

func at(node *yaml.Node, err error) error {
	var known *lineError
	if errors.As(err, &known) {
		return err
	}
	return &lineError{node.Line, err}
}

// lineError says in which line of a file something is wrong.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

func (r *yamlReader) value(node *yaml.Node, depth int) (any, error) {
	if err := r.enter(node, depth); err != nil {
		return nil, err
	}
	switch node.Kind {
	case yaml.AliasNode:
		return r.alias(node, func(target *yaml.Node) (any, error) { return r.value(target, depth+1) })
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		return object, r.mapping(node, object, depth)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, inner := range node.Content {
			value, err := r.value(inner, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	default:
		value, err := r.scalar(node)
		if err != nil {
			return nil, at(node, err)
		}
		return value, nil
	}
}

// enter counts a node that is looked at, also one that makes nothing, as an empty mapping that is merged does.
func (r *yamlReader) enter(node *yaml.Node, depth int) error {
	if depth > maxDepth {
		return at(node, errTooDeep())
	}
	r.bytes += bytesPerNode
	if r.bytes > r.limit {
		return at(node, errors.New("aliases make too much of the document"))
	}
	return nil
}

func (r *yamlReader) alias(node *yaml.Node, read func(*yaml.Node) (any, error)) (any, error) {
	if r.open[node.Alias] {
		return nil, at(node, fmt.Errorf("the anchor %q contains itself", node.Value))
	}
	r.open[node.Alias] = true
	defer delete(r.open, node.Alias)
	return read(node.Alias)
}

// mapping reads the entries of a mapping into an object; what is merged into it comes after its own.
func (r *yamlReader) mapping(node *yaml.Node, object map[string]any, depth int) error {
	var merged []*yaml.Node
	lines := make(map[string]int, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		keyNode, valueNode := node.Content[i], node.Content[i+1]
		if keyNode.Kind == yaml.ScalarNode && keyNode.ShortTag() == mergeTag {
			merged = append(merged, valueNode)
			continue
		}
		key, err := r.key(keyNode)
		if err != nil {
			return at(keyNode, err)
		}
		if first, ok := lines[key]; ok {
			return at(keyNode, fmt.Errorf("the key %q is there twice, first in line %d", key, first))
		}
		lines[key] = keyNode.Line
		if object[key], err = r.value(valueNode, depth+1); err != nil {
			return err
		}
	}
	for _, source := range merged {
		if err := r.merge(source, object, depth+1); err != nil {
			return err
		}
	}
	return nil
}

const mergeTag = "!!merge"

// merge adds the entries of a mapping, or of each of a list of mappings, that are not there yet.
func (r *yamlReader) merge(source *yaml.Node, object map[string]any, depth int) error {
	if err := r.enter(source, depth); err != nil {
		return err
	}
	switch source.Kind {
	case yaml.AliasNode:
		_, err := r.alias(source, func(target *yaml.Node) (any, error) { return nil, r.merge(target, object, depth) })
		return err
	case yaml.MappingNode:
		other := make(map[string]any, len(source.Content)/2)
		if err := r.mapping(source, other, depth); err != nil {
			return err
		}
		for key, value := range other {
			if _, ok := object[key]; !ok {
				object[key] = value
			}
		}
		return nil
	case yaml.SequenceNode:
		for _, inner := range source.Content {
			if err := r.merge(inner, object, depth+1); err != nil {
				return err
			}
		}
		return nil
	default:
		return at(source, errors.New("only mappings can be merged into a mapping"))
	}
}

// key reads a key. As kubectl does, numbers and booleans become text.
func (r *yamlReader) key(node *yaml.Node) (string, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind != yaml.ScalarNode {
		return "", errors.New("a key is a list or an object, and must be text")
	}
	value, err := r.scalar(node)
	if err != nil {
		return "", err
	}
	switch key := value.(type) {
	case string:
		return key, nil
	case bool:
		return strconv.FormatBool(key), nil
	case int64:
		return strconv.FormatInt(key, 10), nil
	case float64:
		return strconv.FormatFloat(key, 'g', -1, 64), nil
	default:
		return "", errors.New("a key is null, and must be text")
	}
}

func (r *yamlReader) scalar(node *yaml.Node) (any, error) {
	r.bytes += int64(len(node.Value))
	switch node.ShortTag() {
	case "!!str", "!!timestamp":
		return node.Value, checkText(node.Value)
	case "!!null":
		return nil, nil //nolint:nilnil // the null of JSON
	case "!!bool", "!!int", "!!float":
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
		return jsonScalar(value)
	case "!!binary":
		var text string
		if err := node.Decode(&text); err != nil {
			return nil, err
		}
		return text, checkText(text)
	case mergeTag:
		return node.Value, nil // << is a merge only as a key
	default:
		return nil, fmt.Errorf("the tag %s has no meaning in a manifest", node.Tag)
	}
}

func jsonScalar(value any) (any, error) {
	switch v := value.(type) {
	case bool, string:
		return v, nil
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case uint64:
		return float64(v), nil
	case float64:
		return number(v)
	default:
		return nil, fmt.Errorf("%T has no meaning in a manifest", value)
	}
}
