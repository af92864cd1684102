package matter

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// TestMain raises the number of random cases where the command line does not say it.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "3000"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestSchema_AgreesWithTheParser: for front matter made at random, out of right and wrong keys and values of every
// kind, the schema and the parser give the same verdict.
func TestSchema_AgreesWithTheParser(t *testing.T) {
	tests := []struct {
		name   string
		schema func() ([]byte, error)
		shape  *Shape
		more   func(*Node) []source.Finding
	}{
		{"front matter", Schema, KeyShape(), Combine},
		{"project", ProjectSchema, ProjectShape(), func(*Node) []source.Finding { return nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			schema := compile(t, tt.schema)
			accepted, refused := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				text := mappingText(t, tt.shape, 0)
				root, findings := Read(text, identity)
				if root == nil || len(findings) > 0 {
					t.Fatalf("not readable: %q: %+v", text, findings)
				}
				findings = slices.Concat(Fit(root, tt.shape), tt.more(root))
				findings = slices.DeleteFunc(findings, func(f source.Finding) bool { return f.Rule == RuleNoEffect })
				err := schema.Validate(value(root))
				if (err == nil) != (len(findings) == 0) {
					t.Fatalf("the parser finds %+v, the schema says %v, of\n%s", findings, err, text)
				}
				if err == nil {
					accepted++
				} else {
					refused++
				}
			})
			if accepted < 3 || refused < 3 {
				t.Errorf("%d accepted and %d refused: the generator is one-sided", accepted, refused)
			}
		})
	}
}

func compile(t *testing.T, source func() ([]byte, error)) *jsonschema.Schema {
	t.Helper()
	data, err := source()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// value turns a node into what a JSON Schema validator takes, by the core schema.
func value(n *Node) any {
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return n.True()
	case Int, Float:
		v, _ := n.Number()
		return json.Number(fmt.Sprint(v))
	case List:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, value(item))
		}
		return list
	case Mapping:
		m := map[string]any{}
		for _, p := range n.Pairs {
			m[p.Key] = value(p.Value)
		}
		return m
	default:
		return n.Value
	}
}

// mappingText writes a mapping in flow style with keys of the shape, now and then a wrong one.
func mappingText(t *rapid.T, s *Shape, depth int) string {
	var parts []string
	order := make([]int, len(s.Fields))
	for i := range order {
		order[i] = i
	}
	order = rapid.Permutation(order).Draw(t, "fields")
	for _, i := range order[:rapid.IntRange(0, min(4, len(order))).Draw(t, "count")] {
		f := s.Fields[i]
		parts = append(parts, f.Name+": "+valueText(t, &f.Shape, depth+1))
	}
	for _, f := range s.Fields {
		if f.Required && rapid.IntRange(0, 4).Draw(t, "required") > 0 && !slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, f.Name+":") }) {
			parts = append(parts, f.Name+": "+valueText(t, &f.Shape, depth+1))
		}
	}
	if rapid.IntRange(0, 12).Draw(t, "wrong key") == 0 {
		parts = append(parts, rapid.SampledFrom([]string{"Name", "foo", "naem", "1", "true"}).Draw(t, "key")+": x")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

var oddValues = []string{
	"", "~", "true", "False", "yes", "1", "-1", "1.0", "1.5", "0x1F", ".inf", "''", "' '", "a", "find-x", "class", "a.b.C", "READING", "in",
	"VARCHAR", "1e3", "2024-01-01", "[]", "{}", "[~]", "[a, b]", "{a: b}", "{a: }", "größe", "a/b", "../a", "/a", ".", "'**/*.sql'", "'{}'", "999999999999",
}

// valueText writes a value that fits the shape, or one of any other kind.
func valueText(t *rapid.T, s *Shape, depth int) string {
	if rapid.IntRange(0, 6).Draw(t, "odd") == 0 || depth > 8 {
		return rapid.SampledFrom(oddValues).Draw(t, "value")
	}
	switch s.Kind {
	case Boolean:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "boolean")
	case Whole:
		return fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "whole"))
	case OneWord:
		return rapid.SampledFrom(s.Words).Draw(t, "word")
	case ListOf:
		var items []string
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			item := valueText(t, s.Item, depth+1)
			if item == "" {
				item = "~" // nothing cannot stand between commas
			}
			items = append(items, item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case Fields:
		return mappingText(t, s, depth)
	case MapOf:
		return "{" + rapid.SampledFrom([]string{"id", "a.b", "class", "1", "größe"}).Draw(t, "key") + ": " + valueText(t, s.Item, depth+1) + "}"
	case Either:
		i := rapid.IntRange(0, len(s.Options)-1).Draw(t, "option")
		return valueText(t, &s.Options[i], depth+1)
	default:
		return rapid.SampledFrom([]string{"a", "findX", "com.example.User", "long", "VARCHAR", "src/main"}).Draw(t, "text")
	}
}
