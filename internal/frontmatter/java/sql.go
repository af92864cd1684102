package java

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// piece is a part of the SQL of a statement: a text, or a list that is as long as a collection.
type piece struct {
	text       string
	collection string // variable of the parameter
	not        bool
}

// pieces cuts the SQL at its parameters. Those of one value become question marks; question marks that are operators are
// doubled for a prepared statement, as the driver of PostgreSQL wants it.
func (g *generator) pieces(m *method, s *statement.Statement) ([]piece, error) {
	file := s.File.Text
	var all []piece
	var b strings.Builder
	at := s.Source.SQL.Start
	questions := s.Source.Questions
	upTo := func(end int) {
		for len(questions) > 0 && questions[0].Start < end {
			b.WriteString(file[at:questions[0].Start])
			b.WriteByte('?')
			if m.settings.prepared {
				b.WriteByte('?')
			}
			at = questions[0].End
			questions = questions[1:]
		}
		b.WriteString(file[at:max(at, end)])
		at = max(at, end)
	}
	for _, o := range s.Source.Parameters {
		p := m.parameter(o.Name)
		if p == nil || !p.expands {
			upTo(o.Start)
			b.WriteByte('?')
			at = o.End
			continue
		}
		in, ok := aroundList(file, s.Source, o.Span)
		if !ok {
			return nil, unusablef("the collection :%s stands only alone in parentheses behind IN, as in: id IN (:%s)", o.Name, o.Name)
		}
		upTo(in.Start)
		all = append(all, piece{text: lineFeeds(b.String())}, piece{collection: p.variable, not: in.not})
		b.Reset()
		at = in.End
	}
	upTo(s.Source.SQL.End)
	return append(all, piece{text: lineFeeds(b.String())}), nil
}

func lineFeeds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

func (m *method) parameter(name string) *parameter {
	i := slices.IndexFunc(m.parameters, func(p parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &m.parameters[i]
}

// list is a parenthesised list behind IN, with its parentheses.
type list struct {
	source.Span

	not bool
}

// aroundList finds the parentheses around a parameter that is alone between them, behind IN or NOT IN.
func aroundList(file string, s source.Statement, parameter source.Span) (list, bool) {
	lexer := source.Lexer{Text: file[s.SQL.Start:s.SQL.End], Dialect: s.Dialect}
	var before [3]source.Token // the last ones, the nearest last
	var texts [3]string
	found := false
	for t, ok := lexer.Next(); ok; t, ok = lexer.Next() {
		t.Start, t.End = t.Start+s.SQL.Start, t.End+s.SQL.Start
		switch t.Kind {
		case source.Space, source.LineComment, source.BlockComment, source.Hint:
			continue
		default:
		}
		if found {
			closes := file[t.Start:t.End] == ")"
			return list{Span: source.Span{Start: before[2].Start, End: t.End}, not: texts[0] == "NOT"}, closes
		}
		if t.Start == parameter.Start {
			if texts[2] != "(" || texts[1] != "IN" {
				return list{}, false
			}
			found = true
			continue
		}
		copy(before[:], before[1:])
		copy(texts[:], texts[1:])
		before[2], texts[2] = t, strings.ToUpper(file[t.Start:t.End])
	}
	return list{}, false
}

// sql makes the constants of a method and the expression of its SQL.
func (b *classBuilder) sql(m *method, v *methodView) {
	arms := make([]string, 0, len(m.variants))
	var vendors []string
	fallback := ""
	for _, s := range m.variants {
		expression := b.expression(m, s)
		if s.Vendor == "" {
			fallback = expression
			continue
		}
		vendors = append(vendors, s.Vendor)
		arms = append(arms, "case "+quote(s.Vendor)+" -> "+expression+";")
	}
	expands := slices.ContainsFunc(m.parameters, func(p parameter) bool { return p.expands })
	v.Is.Vendors = len(vendors) > 0
	if !v.Is.Vendors && !expands {
		v.SQL.Text = fallback
		return
	}
	if name, known := b.fields["sql\x00"+m.name]; known { // the batch shares it
		v.SQL.Text = name
		return
	}
	name := b.helperName.free(m.settings.onceName + "Sql")
	var declared, passed []string
	if v.Is.Vendors {
		declared, passed = append(declared, mark("java.lang.String")+" "+v.L["product"]), append(passed, v.L["product"])
	}
	for _, p := range m.parameters {
		if p.expands {
			declared, passed = append(declared, typeText(p.Type)+" "+p.variable), append(passed, p.variable)
		}
	}
	v.SQL.Text = name + "(" + strings.Join(passed, ", ") + ")"
	if !expands {
		b.fields["sql\x00"+m.name] = v.SQL.Text
	}
	body := "return " + fallback + ";"
	if v.Is.Vendors {
		if fallback == "" {
			message := m.repository + "." + m.name + " has a statement for " + strings.Join(vendors, ", ") + ", not for "
			fallback = "throw new " + mark("java.lang.IllegalStateException") + "(" + quote(message) + " + " + v.L["product"] + ")"
		}
		body = "return switch (" + v.L["product"] + ") {\n" + strings.Join(arms, "\n") + "\ndefault -> " + fallback + ";\n};"
	}
	v.SQL.Methods = append(v.SQL.Methods, "private static "+mark("java.lang.String")+" "+name+"("+strings.Join(declared, ", ")+") {\n"+body+"\n}\n")
}

// expression is the SQL of a variant: a constant, or constants with lists between them.
func (b *classBuilder) expression(m *method, s *statement.Statement) string {
	key := fmt.Sprintf("constant\x00%s\x00%d", s.File.Relative, s.Source.SQL.Start)
	if expression, known := b.fields[key]; known {
		return expression
	}
	pieces, _ := b.pieces(m, s) // tried when the method was settled
	base := upperSnake(m.name)
	if s.Vendor != "" {
		base += "_" + upperSnake(strings.ReplaceAll(s.Vendor, " ", "_"))
	}
	var parts []string
	for i, p := range pieces {
		if p.collection != "" {
			parts = append(parts, b.listCall(s, p))
			continue
		}
		if p.text == "" && len(pieces) > 1 {
			continue
		}
		name := base
		if i > 0 {
			name = fmt.Sprintf("%s_%d", base, i/2+1)
		}
		name = b.constants.free(name)
		b.view.Constants = append(b.view.Constants, constantView{Name: name, Literal: literal(p.text)})
		parts = append(parts, name)
	}
	b.fields[key] = strings.Join(parts, " + ")
	return b.fields[key]
}

// listCall is the call of the helper that writes a list of placeholders.
func (b *classBuilder) listCall(s *statement.Statement, p piece) string {
	empty, emptyNot := emptyLists(s.Source.Dialect)
	name, text := "inList", empty
	if p.not {
		name, text = "notInList", emptyNot
	}
	for i := 1; ; i++ {
		if i > 1 {
			name = fmt.Sprintf("%s%d", strings.TrimRight(name, "23456789"), i)
		}
		helper := fmt.Sprintf(`private static %[1]s %[2]s(%[3]s<?> values) {
if (values.isEmpty()) {
return %[4]s;
}
return "(" + %[1]s.join(", ", %[5]s.nCopies(values.size(), "?")) + ")";
}
`, mark("java.lang.String"), name, mark("java.util.Collection"), quote(text), mark("java.util.Collections"))
		if existing, taken := b.helpers[name+"("]; !taken || existing == helper {
			b.helpers[name+"("] = helper
			return name + "(" + p.collection + ")"
		}
	}
}

// emptyLists returns what stands for a list without elements behind IN and NOT IN, so that the one is never true and the
// other always. NULL alone would make both unknown. Databases without conditions as values get an empty subquery.
func emptyLists(d source.Dialect) (in, notIn string) {
	switch d.Name {
	case "oracle":
		return "(SELECT NULL FROM dual WHERE 1 = 0)", "(SELECT NULL FROM dual WHERE 1 = 0)"
	case "sqlserver", "sqlite":
		return "(SELECT NULL WHERE 1 = 0)", "(SELECT NULL WHERE 1 = 0)"
	}
	return "(NULL) IS NOT UNKNOWN", "(NULL) IS UNKNOWN"
}

// binds writes the lines that bind the parameters; element is behind their names, in a batch.
func (b *classBuilder) binds(m *method, v *methodView, element string) string {
	texts := make([]string, 0, len(m.variants))
	for _, s := range m.variants {
		texts = append(texts, b.bindsOf(m, s, v, element))
	}
	if allEqual(texts) {
		return texts[0]
	}
	var out strings.Builder
	fallback := ""
	fmt.Fprintf(&out, "switch (%s) {\n", v.L["product"])
	for i, s := range m.variants {
		if s.Vendor == "" {
			fallback = texts[i]
			continue
		}
		fmt.Fprintf(&out, "case %s -> {\n%s\n}\n", quote(s.Vendor), texts[i])
	}
	fmt.Fprintf(&out, "default -> {\n%s\n}\n}", fallback)
	return out.String()
}

func allEqual(texts []string) bool {
	for _, t := range texts[1:] {
		if t != texts[0] {
			return false
		}
	}
	return true
}

// bindsOf writes the lines of one variant.
func (b *classBuilder) bindsOf(m *method, s *statement.Statement, v *methodView, element string) string {
	counting := slices.ContainsFunc(s.Source.Parameters, func(o source.Occurrence) bool {
		p := m.parameter(o.Name)
		return p != nil && p.expands
	})
	var lines []string
	index := "++" + v.L["index"]
	if counting {
		lines = append(lines, "int "+v.L["index"]+" = 0;")
	}
	for i, o := range s.Source.Parameters {
		p := m.parameter(o.Name)
		if p == nil {
			continue
		}
		if !counting {
			index = fmt.Sprint(i + 1)
		}
		if p.expands {
			bound, _ := p.value.bind(b.helpers, p.binding, v.L["statement"], index, v.L["value"], v.L["connection"])
			lines = append(lines, fmt.Sprintf("for (%s %s : %s) {\n%s\n}", typeText(p.value.typ), v.L["value"], p.variable, bound))
			continue
		}
		if p.isIn() {
			bound, _ := p.value.bind(b.helpers, p.binding, v.L["statement"], index, p.variable+element, v.L["connection"])
			lines = append(lines, bound)
		}
		if p.isOut() {
			lines = append(lines, register(p, v.L["statement"], fmt.Sprint(i+1)))
		}
	}
	return strings.Join(lines, "\n")
}

// register registers a parameter that the call sets.
func register(p *parameter, statement, index string) string {
	jdbc := p.binding.sqlType
	if jdbc == "" {
		jdbc = p.value.jdbcType()
	}
	call := statement + ".registerOutParameter(" + index + ", " + mark("java.sql.Types") + "." + jdbc
	if p.binding.scale != "" {
		call += ", " + p.binding.scale
	}
	return call + ");"
}

// indexOf is the index of a parameter's first occurrence.
func (b *classBuilder) indexOf(m *method, name string) int {
	for i, o := range m.lead.Source.Parameters {
		if o.Name == name {
			return i + 1
		}
	}
	return 0
}

// settleSQL checks what can only be checked with types: where collections stand, and that variants of a call agree.
func (g *generator) settleSQL(m *method) bool {
	ok := true
	for _, p := range m.parameters {
		if p.isOut() && (m.kind != matter.Calling || p.expands) {
			g.find(m.lead, check.RuleOutParameter, p.declared.Span, fmt.Sprintf("only a call sets parameters, and only ones of a single value: :%s", p.Name))
			ok = false
		}
	}
	for _, s := range m.variants {
		if !ok {
			break
		}
		if _, err := g.pieces(m, s); err != nil {
			g.find(s, check.RuleCollection, s.Name.Span, err.Error())
			ok = false
		}
		ok = g.outPlaces(m, s) && ok
	}
	return ok
}

// outPlaces checks that a variant has its OUT parameters where the leading one has them.
func (g *generator) outPlaces(m *method, s *statement.Statement) bool {
	if m.out == nil {
		return true
	}
	for _, p := range m.out.parameters {
		at := func(o source.Occurrence) bool { return o.Name == p.Name }
		if i := slices.IndexFunc(s.Source.Parameters, at); i != slices.IndexFunc(m.lead.Source.Parameters, at) {
			g.find(s, check.RuleOutParameter, s.Name.Span, fmt.Sprintf("the variants of %s have the OUT parameter :%s at different places; put it at the same one", m.name, p.Name))
			return false
		}
	}
	return true
}
