package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// toYAML turns a JSON document into YAML, and an array into a stream with a document for each element, which is empty
// for an empty array.
func toYAML(document []byte) ([]byte, error) {
	var b bytes.Buffer
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	isStream := bytes.HasPrefix(document, []byte("["))
	if isStream {
		if _, err := decoder.Token(); err != nil {
			return nil, fmt.Errorf("decoding a result: %w", err)
		}
	}
	for first := true; first && !isStream || decoder.More(); first = false {
		if !first {
			b.WriteString("---\n")
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("decoding a result: %w", err)
		}
		if err := writeYAML(&b, value); err != nil {
			return nil, fmt.Errorf("encoding a result as YAML: %w", err)
		}
	}
	return b.Bytes(), nil
}

func writeYAML(b *bytes.Buffer, value any) error {
	encoder := yaml.NewEncoder(b)
	encoder.SetIndent(2)
	if err := encoder.Encode(forYAML(value)); err != nil {
		return err
	}
	return encoder.Close()
}

// forYAML replaces what the encoder would not write as the JSON document has it: numbers keep their text, and strings are
// quoted where not every reader takes them for what they are.
func forYAML(value any) any {
	switch value := value.(type) {
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value.String()}
	case string:
		return quoted(value)
	case []any:
		for i := range value {
			value[i] = forYAML(value[i])
		}
	case map[string]any:
		named := make(map[memberName]any, len(value))
		for name := range value {
			named[memberName(name)] = forYAML(value[name])
		}
		return named
	}
	return value
}

// memberName is a name that is written as a string is.
type memberName string

// MarshalYAML implements yaml.Marshaler.
func (n memberName) MarshalYAML() (any, error) { return quoted(string(n)), nil }

// special is what YAML reads as something else: numbers, which the library knows only as far as they have 64 bits, and the
// default value of YAML 1.1.
var special = regexp.MustCompile(`^(=|[-+]?0[xob][0-9a-fA-F_]+)$`)

// quoted is the string, with quotes if the encoder would leave them out and should not. Several lines that begin with white
// space are among that: not every reader takes the indentation of a block of them.
func quoted(text string) any {
	if special.MatchString(text) || strings.Contains(text, "\n") && strings.IndexAny(text[:1], " \t\n") == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}
	}
	return text
}
