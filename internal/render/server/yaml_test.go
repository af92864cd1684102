package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yaml "go.yaml.in/yaml/v3"
)

// readBack reads a stream of YAML documents as values of JSON.
func readBack(t *testing.T, stream []byte) []any {
	t.Helper()
	var values []any
	for decoder := yaml.NewDecoder(strings.NewReader(string(stream))); ; {
		var value any
		if err := decoder.Decode(&value); err != nil {
			if err.Error() == "EOF" {
				return values
			}
			t.Fatalf("reading the YAML: %v\n%s", err, stream)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		values = append(values, plain)
	}
}

func TestToYAML_MeansTheSame(t *testing.T) {
	for name, document := range map[string]string{
		"leading tab":        `{"Makefile": "\trun it\nall: x\n"}`,
		"leading space":      `{"a": "  x\ny"}`,
		"leading line feed":  `{"a": "\n\nx\n"}`,
		"trailing feeds":     `{"a": "x\n\n\n"}`,
		"only feeds":         `{"a": "\n"}`,
		"tabs inside":        `{"a": "x\n\ty\n"}`,
		"carriage returns":   `{"a": "x\r\ny"}`,
		"document markers":   `{"a": "---\n...\n", "b": "---"}`,
		"words of YAML 1.1":  `{"yes": "no", "on": "off", "y": "n", "null": "~", "<<": "=="}`,
		"what looks numeric": `{"a": "1", "b": "0x1f", "c": "1e3", "d": "1:30", "e": ".5", "f": "0o7", "g": "2024-01-01"}`,
		"comments":           `{"a": "# x", "b": "x # y", "c": "x: y"}`,
		"unicode":            `{"é": "€😀", "a": "\u2028\u0085\ufeff"}`,
		"control characters": `{"a": "\u0000\u0007\u001b\u007f"}`,
		"large numbers":      `{"a": 9223372036854775808, "b": 123456789012345683968, "c": -1.5e-300, "d": 0}`,
		"empty":              `{"a": "", "b": {}, "c": [], "d": null}`,
		"a string":           `"x"`,
		"a number":           `1.5`,
		"nothing":            `null`,
	} {
		stream, err := toYAML([]byte(document))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(document), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{want}, readBack(t, stream)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, stream)
		}
	}
}

func FuzzToYAML_MeansTheSame(f *testing.F) {
	f.Add("\trun\nx", "key", 1.5)
	f.Add("---\n", "yes", 1e300)
	f.Fuzz(func(t *testing.T, text, name string, number float64) {
		document, err := json.Marshal([]any{map[string]any{name: text, "n": number}, text})
		if err != nil {
			t.Skip("not a JSON value")
		}
		stream, err := toYAML(document)
		if err != nil {
			t.Fatal(err)
		}
		var want []any
		if err := json.Unmarshal(document, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, readBack(t, stream)); diff != "" {
			t.Errorf("(-want +got):\n%s\n%q", diff, stream)
		}
	})
}

// TestToYAML_QuotesWhatOtherReadersTakeForSomethingElse: the encoder leaves these as they are, because the reader of its own
// library takes them for strings.
func TestToYAML_QuotesWhatOtherReadersTakeForSomethingElse(t *testing.T) {
	for name, text := range map[string]string{
		"a hexadecimal number of more than 64 bits": `0x52908400098527886E0F7030069857D2E4169EE7`,
		"one with a sign and underscores":           `-0xFFFF_FFFF_FFFF_FFFF_FFFF`,
		"an octal number of more than 64 bits":      `0o7777777777777777777777777`,
		"a binary number of more than 64 bits":      `0b` + strings.Repeat("1", 70),
		"the default value of YAML 1.1":             `=`,
		"leading white space of several lines":      "\ta\nb",
	} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for what, document := range map[string]string{
			"value": `{"a":` + string(quoted) + `}`,
			"name":  `{` + string(quoted) + `:1}`,
		} {
			stream, err := toYAML([]byte(document))
			if err != nil || !strings.Contains(string(stream), string(quoted)) {
				t.Errorf("%s as a %s: %q, %v, want %s in it", name, what, stream, err, quoted)
			}
		}
	}
}
