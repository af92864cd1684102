package java

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// classBuilder makes the view of a repository.
type classBuilder struct {
	*generator

	repository *repository
	view       *classView
	constants  scope
	helperName scope
	fields     map[string]string // of converters, by class and alias
	fieldNames scope
	helpers    helpers
}

func (g *generator) classView(r *repository) *classView {
	pkg, simple := split(r.name)
	b := &classBuilder{
		generator: g, repository: r, constants: scope{}, helperName: scope{}, fields: map[string]string{},
		fieldNames: scope{"dataSource": true}, helpers: helpers{},
	}
	b.view = &classView{Package: pkg, Class: simple, Final: len(g.classAnnotations) == 0, Annotations: g.classAnnotations}
	if g.project.Interfaces {
		b.view.Interface, b.view.Class = r.name, implementation(simple)
	}
	b.view.Doc = b.classDoc()
	for _, m := range r.methods {
		b.helperName[m.settings.onceName], b.helperName[m.settings.batchName] = true, true
		b.reserve(m)
	}
	for _, m := range r.methods {
		if m.settings.own {
			b.view.DataSource = true
		}
		if m.written.Get("annotations") != nil {
			b.view.Final = false
		}
	}
	for _, m := range r.methods {
		if m.settings.once {
			b.view.Methods = append(b.view.Methods, b.once(m))
		}
	}
	for _, m := range r.methods {
		if m.settings.batch {
			b.view.Methods = append(b.view.Methods, b.batch(m))
		}
	}
	slices.SortFunc(b.view.Converters, func(a, c fieldView) int { return strings.Compare(a.Name, c.Name) })
	b.view.Helpers = b.helpers.sorted()
	return b.view
}

// reserve keeps constants from having the names of parameters, which would hide them: what a caller gives must never be
// taken for the SQL. Packages that classes are named with are kept from being hidden, too.
func (b *classBuilder) reserve(m *method) {
	roots := []string{"java.", "javax.", m.repository, b.converterPackage()}
	for _, p := range m.parameters {
		b.constants[p.variable] = true
		roots = append(roots, p.value.typ.Class)
	}
	if m.row != nil {
		roots = append(roots, m.row.typ.Class)
	}
	if m.out != nil {
		roots = append(roots, m.out.typ.Class)
	}
	for _, class := range roots {
		if root, _, qualified := strings.Cut(class, "."); qualified {
			b.constants[root], b.fieldNames[root] = true, true
		}
	}
}

// implementation is the class of a repository that has an interface of its name.
func implementation(simple string) string { return "Jdbc" + simple }

func (b *classBuilder) classDoc() []string {
	var paths []string
	for _, m := range b.repository.methods {
		for _, s := range m.variants {
			if path := s.File.Relative; !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	doc := make([]string, 0, len(paths))
	doc = append(doc, "Statements of "+javadoc(paths[0])[0])
	for _, path := range paths[1:] {
		doc[len(doc)-1] += ","
		doc = append(doc, javadoc(path)[0])
	}
	doc[len(doc)-1] += "."
	return doc
}

// method starts the view that once and batch share.
func (b *classBuilder) method(m *method, name string) *methodView {
	full := m.repository + "." + name
	v := &methodView{
		Name:  name,
		Names: namesView{Label: quote(full), Message: quote("executing " + full), Several: quote(full + " found more than one row"), CursorClass: b.cursorClass(), Call: callable(name)},
		Above: aboveView{Annotations: b.annotations(m), Override: b.view.Interface != ""},
		Is: switchesView{
			Reading: m.kind == matter.Reading, Call: m.kind == matter.Calling, Own: m.settings.own, Catch: m.settings.catches,
			Prepared: m.settings.prepared, Counts: m.settings.counts,
		},
		L: locals(m.parameters), SQL: sqlView{FetchSize: b.project.FetchSize},
	}
	if description := text(m.written.Get("description")); strings.TrimSpace(description) != "" {
		v.Above.Doc = javadoc(strings.TrimSpace(description))
	} else {
		v.Above.Doc = []string{"Executes " + javadoc(m.name)[0] + " of " + javadoc(m.lead.File.Relative)[0] + "."}
	}
	b.sql(m, v)
	return v
}

// callable is how a method of the own class is called: a bare yield starts a statement.
func callable(name string) string {
	if name == "yield" {
		return "this.yield"
	}
	return name
}

func (b *classBuilder) once(m *method) *methodView {
	v := b.method(m, m.settings.onceName)
	for _, p := range m.parameters {
		if p.isIn() {
			v.Parameters = append(v.Parameters, parameterView{typeText(p.Type), p.variable})
		}
	}
	v.SQL.Binds = b.binds(m, v, "")
	switch {
	case m.out != nil:
		v.Template = "out"
		v.Returns, v.Above.ReturnDoc = typeText(m.out.typ), "what the call sets"
		v.Out = b.out(m, v)
	case m.returning == matter.None && m.kind == matter.Writing:
		v.Template, v.Returns = "update", "void"
		if v.Is.Counts {
			v.Returns, v.Above.ReturnDoc = "int", "the number of affected rows"
		}
	case m.returning == matter.None:
		v.Template, v.Returns = "execute", "void"
	default:
		b.rows(m, v)
	}
	return v.complete()
}

// rows completes the view of a method that returns rows.
func (b *classBuilder) rows(m *method, v *methodView) {
	v.Row = b.row(m, v)
	v.Is.Throw = m.settings.throwsOnMultiple
	switch m.returning {
	case matter.Single:
		v.Template, v.Returns = "single", mark("java.util.Optional")+"<"+v.Row.Type+">"
		v.Above.ReturnDoc = "the first row, or empty without one"
		if v.Is.Throw {
			v.Above.ReturnDoc = "the row, or empty without one"
		}
	case matter.Cursor:
		v.Template, v.Returns = "cursor", mark("java.util.stream.Stream")+"<"+v.Row.Type+">"
		v.Above.ReturnDoc = "the rows, which are read as the stream is; close it unless it is read to its end"
	default:
		v.Template, v.Returns = "multiple", mark("java.util.List")+"<"+v.Row.Type+">"
		v.Above.ReturnDoc = "all rows"
	}
	if m.kind != matter.Reading {
		b.helpers["firstRows("] = firstRows
	}
}

// row decides how a row is read, and holds the converter that it needs.
func (b *classBuilder) row(m *method, v *methodView) rowView {
	r := m.row
	switch {
	case r.custom != nil:
		field := b.field(r.custom.class, r.custom.alias, m)
		return rowView{Type: typeText(r.typ), Read: field + "." + r.custom.method + "(" + v.L["resultSet"] + ")"}
	case r.converter != nil:
		field := b.field(r.converter.class, statement.Decapital(lastPart(r.converter.class)), m)
		return rowView{
			Type:  typeText(r.typ),
			Setup: "var " + v.L["columns"] + " = " + field + ".columns(" + v.L["resultSet"] + ");",
			Read:  field + ".convert(" + v.L["resultSet"] + ", " + v.L["columns"] + ")",
		}
	default:
		read, _ := r.value.read(b.helpers, fromResultSet, v.L["resultSet"], "1") // tried when the row was settled
		return rowView{Type: typeText(r.typ), Read: read}
	}
}

// field returns the field of a converter. Whether it is injected is what one of its statements says, else the default.
func (b *classBuilder) field(class, alias string, m *method) string {
	key := class + "\x00" + alias
	name, known := b.fields[key]
	if !known {
		name = b.fieldNames.free(alias)
		b.fields[key] = name
		b.view.Converters = append(b.view.Converters, fieldView{Type: mark(class), Name: name})
	}
	for i := range b.view.Converters {
		said := m.written.Get("injectConverters") != nil
		if c := &b.view.Converters[i]; c.Name == name && (said || !c.said) {
			c.Injected, c.said = m.settings.injects, said
		}
	}
	return "this." + name
}

func (b *classBuilder) batch(m *method) *methodView {
	v := b.method(m, m.settings.batchName)
	for _, p := range m.parameters {
		v.Parameters = append(v.Parameters, parameterView{typeText(p.Type) + "[]", p.variable})
	}
	v.SQL.Binds = b.binds(m, v, "["+v.L["i"]+"]")
	v.Template, v.Returns = "batch", "void"
	v.Above.OwnNote = "All entries are one transaction, that of the connection when it has one already."
	if v.Is.Counts {
		v.Returns, v.Above.ReturnDoc = "int[]", "the number of affected rows of each entry"
	}
	b.helpers["sameLength("] = sameLength
	if v.Is.Own {
		b.helpers["rollBack("] = rollBack
	}
	return v.complete()
}

// out writes the lines that return what a call has set.
func (b *classBuilder) out(m *method, v *methodView) string {
	reads := make([]string, 0, len(m.out.parameters))
	for _, p := range m.out.parameters {
		index := b.indexOf(m, p.Name)
		read, _ := p.value.read(b.helpers, fromCall, v.L["statement"], fmt.Sprint(index)) // tried when the parameter was settled
		reads = append(reads, read)
	}
	switch {
	case m.out.record:
		parts := make([]string, 0, len(m.out.components))
		for _, i := range m.out.components {
			parts = append(parts, reads[i])
		}
		return "return new " + typeText(m.out.typ) + "(\n" + strings.Join(parts, ",\n") + ");"
	case len(reads) == 1:
		return "return " + reads[0] + ";"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s = new %s<>();\n", typeText(m.out.typ), v.L["result"], mark("java.util.LinkedHashMap"))
	for i, p := range m.out.parameters {
		fmt.Fprintf(&s, "%s.put(%s, %s);\n", v.L["result"], quote(p.Name), reads[i])
	}
	return s.String() + "return " + v.L["result"] + ";"
}

var (
	firstRows = "private static " + mark("java.sql.ResultSet") + " firstRows(" + mark("java.sql.Statement") + " statement, boolean isRows) throws " + mark("java.sql.SQLException") + ` {
boolean found = isRows;
while (!found && statement.getUpdateCount() != -1) {
found = statement.getMoreResults();
}
if (!found) {
throw new ` + mark("java.sql.SQLException") + `("the statement returned no rows, not even an empty result");
}
return statement.getResultSet();
}
`
	rollBack = "private static void rollBack(" + mark("java.sql.Connection") + " connection, " + mark("java.lang.Throwable") + ` failure) {
try {
connection.rollback();
} catch (` + anything + ` e) {
failure.addSuppressed(e);
}
try {
connection.setAutoCommit(true);
} catch (` + anything + ` e) {
failure.addSuppressed(e);
}
}
`
	anything   = mark("java.sql.SQLException") + " | " + mark("java.lang.RuntimeException") + " | " + mark("java.lang.Error")
	sameLength = "private static int sameLength(" + mark("java.lang.String") + ` method, int first, int... others) {
for (int other : others) {
if (other != first) {
throw new ` + mark("java.lang.IllegalArgumentException") + `(method + ": the arrays have different lengths, " + first + " and " + other);
}
}
return first;
}
`
)
