package server

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// forYAML replaces what the encoder would not write as the JSON document has it: numbers keep their text, and strings of
// several lines that begin with white space are quoted, because not every reader takes the indentation of a block of
// them.
func forYAML(value any) any {
	switch value := value.(type) {
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value.String()}
	case string:
		if strings.Contains(value, "\n") && strings.IndexAny(value[:1], " \t\n") == 0 {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: value}
		}
		return value
	case []any:
		for i := range value {
			value[i] = forYAML(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = forYAML(value[name])
		}
	}
	return value
}
