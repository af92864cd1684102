package matter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(m.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", m.key, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode is json.Marshal that leaves <, > and & readable.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

const (
	schemaDialect = "https://json-schema.org/draft/2020-12/schema"
	schemaBase    = "https://stagewright.dev/schemas/"
)

// Schema returns the JSON Schema of front matter, indented and with a line end.
func Schema() ([]byte, error) {
	return indented(slices.Concat(object{
		{"$schema", schemaDialect},
		{"$id", schemaBase + "front-matter.json"},
		{"title", "Statement front matter"},
		{"description", "Keys in the comments above a SQL statement."},
	}, tableSchema(KeyShape(), Keys()), object{
		{"dependentRequired", requirementSchema()},
		{"allOf", conflictSchemas()},
	}))
}

// ProjectSchema returns the JSON Schema of the project file.
func ProjectSchema() ([]byte, error) {
	return indented(slices.Concat(object{
		{"$schema", schemaDialect},
		{"$id", schemaBase + "front-matter-project.json"},
		{"title", "Project of SQL statements"},
		{"description", "The file " + ProjectFile + ", at the root of a project."},
	}, tableSchema(ProjectShape(), ProjectKeys())))
}

func indented(s object) ([]byte, error) {
	data, err := s.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return nil, fmt.Errorf("indenting a schema: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// tableSchema is the schema of a table of keys: that of its shape, with the descriptions of the table.
func tableSchema(shape *Shape, keys []Key) object {
	properties := make(object, 0, len(keys))
	for i, k := range keys {
		property := slices.Concat(object{{"description", k.Describe()}}, shapeSchema(&shape.Fields[i].Shape))
		properties = append(properties, member{k.Name, property})
	}
	return object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
}

// Describe returns the summary, the effect and the default of a key as one text, without the marks of Markdown.
func (k Key) Describe() string {
	text := k.Summary
	if k.Effect != "" {
		text += " " + k.Effect
	}
	return plain(text + " Default: " + k.Default + ".")
}

func plain(text string) string { return string(bytes.ReplaceAll([]byte(text), []byte("`"), nil)) }

func shapeSchema(s *Shape) object {
	o := valueSchema(s)
	if s.Empty {
		return object{{"anyOf", []object{{{"type", "null"}}, o}}}
	}
	return o
}

func valueSchema(s *Shape) object {
	switch s.Kind {
	case Boolean:
		return object{{"type", "boolean"}}
	case Whole:
		return object{{"type", "integer"}, {"minimum", 0}, {"maximum", maxWhole}}
	case OneWord:
		return object{{"enum", s.Words}}
	case ListOf:
		return object{{"type", "array"}, {"items", shapeSchema(s.Item)}}
	case MapOf:
		return object{{"type", "object"}, {"propertyNames", formatSchema(s.KeyFormat)}, {"additionalProperties", shapeSchema(s.Item)}}
	case Fields:
		return fieldsSchema(s)
	case Either:
		var options []object
		for i := range s.Options {
			options = append(options, shapeSchema(&s.Options[i]))
		}
		return object{{"anyOf", options}}
	case AnyValue:
		return object{{"type", []string{"boolean", "number", "string"}}}
	default:
		o := object{{"type", "string"}}
		if s.NotBlank {
			o = append(o, member{"minLength", 1})
		}
		return append(o, formatSchema(s.Format)...)
	}
}

func formatSchema(f *Format) object {
	if f == nil {
		return object{}
	}
	o := object{{"pattern", f.Pattern}}
	if len(f.Not) > 0 {
		o = append(o, member{"not", object{{"enum", f.Not}}})
	}
	return o
}

func fieldsSchema(s *Shape) object {
	properties := make(object, 0, len(s.Fields))
	required := []string{}
	for i := range s.Fields {
		f := &s.Fields[i]
		properties = append(properties, member{f.Name, append(object{{"description", plain(f.Text)}}, shapeSchema(&f.Shape)...)})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	o := object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
	if len(required) > 0 {
		o = append(o, member{"required", required})
	}
	return o
}

// conflictSchemas forbids each pair of conditions that do not go together.
func conflictSchemas() []object {
	all := make([]object, 0, len(conflictTable))
	for _, c := range Conflicts() {
		properties := object{{c.A.Key, conditionSchema(c.A)}, {c.B.Key, conditionSchema(c.B)}}
		both := object{{"required", []string{c.A.Key, c.B.Key}}, {"properties", properties}}
		if u := c.Unless; u != nil {
			both = append(both, member{"not", object{{"required", []string{u.Key}}, {"properties", object{{u.Key, conditionSchema(*u)}}}}})
		}
		all = append(all, object{{"$comment", c.Why}, {"not", both}})
	}
	return all
}

func conditionSchema(c Condition) object {
	switch {
	case c.Variant:
		out := object{{"type", "object"}, {"required", []string{"variant"}}, {"properties", object{{"variant", object{{"enum", []string{Out, InOut}}}}}}}
		return object{{"type", "array"}, {"contains", out}}
	case len(c.Words) == 0:
		return object{{"not", object{{"type", "null"}}}}
	}
	values := make([]any, 0, len(c.Words))
	for _, w := range c.Words {
		switch w {
		case "true":
			values = append(values, true)
		case "false":
			values = append(values, false)
		default:
			values = append(values, w)
		}
	}
	return object{{"enum", values}}
}

func requirementSchema() object {
	o := make(object, 0, len(requirementTable))
	for _, r := range Requirements() {
		o = append(o, member{r.Key, []string{r.Needs}})
	}
	return o
}
