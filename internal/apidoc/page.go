package apidoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Kind is a definition as the page shows it.
type Kind struct {
	Definition *apiextensionsv1.CustomResourceDefinition
	Parts      []string // of the object, in the order in which they are shown: spec, status
}

// Page is the reference of a group.
func Page(title, intro string, kinds ...Kind) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- Made from the types of the API by `make generate`; do not edit. -->\n\n%s\n", title, strings.TrimSpace(intro))
	for _, k := range kinds {
		k.write(&b)
	}
	return b.String()
}

func (k Kind) write(b *strings.Builder) {
	spec := &k.Definition.Spec
	version := spec.Versions[0]
	schema := version.Schema.OpenAPIV3Schema
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", spec.Names.Kind, sentence(schema.Description))
	fmt.Fprintf(b, "`apiVersion: %s/%s`, %s", spec.Group, version.Name, strings.ToLower(string(spec.Scope)))
	if short := spec.Names.ShortNames; len(short) > 0 {
		fmt.Fprintf(b, ", short name `%s`", strings.Join(short, "`, `"))
	}
	b.WriteString("\n")
	for _, rule := range messages(schema) {
		fmt.Fprintf(b, "\n- %s", rule)
	}
	if len(messages(schema)) > 0 {
		b.WriteString("\n")
	}
	for _, part := range k.Parts {
		of, ok := schema.Properties[part]
		if !ok {
			continue
		}
		section := &section{shown: map[string]string{}}
		for pending := []*object{{path: part, schema: &of}}; len(pending) > 0; pending = pending[1:] {
			pending = append(pending, section.add(pending[0])...)
		}
		section.write(b)
	}
}

// object is one whose fields are shown together.
type object struct {
	path   string
	schema *apiextensionsv1.JSONSchemaProps
}

// section is a part of a kind: a table for each object in it. Objects that are alike are shown once.
type section struct {
	tables []table
	shown  map[string]string // path of what is shown, by its schema
}

type table struct {
	path  string
	rules []string
	rows  []row
}

type row struct {
	name, kind, fallback, meaning string
	rules                         []string
	required                      bool
}

// add makes the table of an object and returns the objects in it.
func (s *section) add(o *object) (inner []*object) {
	t := table{path: o.path, rules: messages(o.schema)}
	for _, name := range slices.Sorted(maps.Keys(o.schema.Properties)) {
		p := o.schema.Properties[name]
		r := row{
			name: name, kind: typeOf(&p), meaning: p.Description, rules: limits(&p),
			required: slices.Contains(o.schema.Required, name),
		}
		if p.Default != nil {
			r.fallback = "`" + string(p.Default.Raw) + "`"
		}
		at, element, suffix := &p, &p, ""
		if at.Type == "array" && at.Items != nil && at.Items.Schema != nil {
			element, suffix = at.Items.Schema, "[]"
		}
		if len(element.Properties) > 0 {
			path, alike := o.path+"."+name+suffix, key(element)
			if earlier, ok := s.shown[alike]; ok {
				r.rules = append(r.rules, "as `"+earlier+"`")
				t.rows = append(t.rows, r)
				continue
			}
			s.shown[alike] = path
			inner = append(inner, &object{path: path, schema: element})
		} else if len(messages(&p)) > 0 {
			r.rules = append(r.rules, messages(&p)...)
		}
		t.rows = append(t.rows, r)
	}
	s.tables = append(s.tables, t)
	return inner
}

// key is equal for schemas that have the same table.
func key(p *apiextensionsv1.JSONSchemaProps) string {
	p = p.DeepCopy()
	p.Description = ""
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Sprintf("%p", p)
	}
	return string(text)
}

func (s *section) write(b *strings.Builder) {
	for _, t := range s.tables {
		fmt.Fprintf(b, "\n### `%s`\n\n", t.path)
		for _, rule := range t.rules {
			fmt.Fprintf(b, "- %s\n", rule)
		}
		if len(t.rules) > 0 {
			b.WriteString("\n")
		}
		b.WriteString("| Field | Type | Default | Meaning |\n|---|---|---|---|\n")
		for _, r := range t.rows {
			meaning := strings.Join(strings.Fields(r.meaning), " ") // which begins with the field's name, as it is written
			if r.required {
				meaning = "**Required.** " + meaning
			}
			if len(r.rules) > 0 {
				meaning += " (" + strings.Join(r.rules, "; ") + ")"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.name, cell(r.kind), cell(r.fallback), cell(meaning))
		}
	}
}

func typeOf(p *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case p.XIntOrString:
		return "int or string"
	case p.Type == "array" && p.Items != nil && p.Items.Schema != nil:
		return "list of " + typeOf(p.Items.Schema)
	case p.Type == "object" && p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(p.AdditionalProperties.Schema)
	case p.Format == "date-time":
		return "time"
	case len(p.Enum) > 0:
		words := make([]string, len(p.Enum))
		for i, word := range p.Enum {
			words[i] = "`" + strings.Trim(string(word.Raw), `"`) + "`"
		}
		return strings.Join(words, ", ")
	default:
		return p.Type
	}
}

// limits says what is allowed beyond the type.
func limits(p *apiextensionsv1.JSONSchemaProps) (texts []string) {
	add := func(format string, a ...any) { texts = append(texts, fmt.Sprintf(format, a...)) }
	if p.Minimum != nil {
		add("at least %g", *p.Minimum)
	}
	if p.Maximum != nil {
		add("at most %g", *p.Maximum)
	}
	if p.MinItems != nil {
		add("at least %d", *p.MinItems)
	}
	if p.MaxItems != nil {
		add("at most %d", *p.MaxItems)
	}
	if p.MaxLength != nil {
		add("at most %d characters", *p.MaxLength)
	}
	if p.MaxProperties != nil {
		add("at most %d", *p.MaxProperties)
	}
	if p.Pattern != "" {
		add("matches `%s`", p.Pattern)
	}
	if p.XListType != nil && *p.XListType == "map" {
		add("unique by %s", strings.Join(p.XListMapKeys, " and "))
	}
	return texts
}

// messages are those of the rules in CEL.
func messages(p *apiextensionsv1.JSONSchemaProps) (texts []string) {
	for _, rule := range p.XValidations {
		texts = append(texts, rule.Message)
	}
	return texts
}

// sentence is a description on one line, as a sentence.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	return strings.TrimSuffix(strings.ToUpper(text[:1])+text[1:], ".") + "."
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "\n", " ").Replace(text)
}
