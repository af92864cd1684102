package java

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/javasource"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// row is what a row becomes.
type row struct {
	typ       statement.Type // as a type argument can hold it
	value     value          // of a scalar
	converter *converter     // generated
	custom    *custom        // written by the user
}

// custom is a converter of the user's.
type custom struct {
	class, method, alias string
}

// converter is a generated class that builds objects from rows. The one without a record builds maps.
type converter struct {
	class   string // qualified; decided when all converters are known
	key     string
	typ     statement.Type
	record  *javasource.Declaration
	columns []column
	reads   []string // the lines that read the columns into variables, in their order
	build   string   // the expression that builds the object of them
	helpers helpers
}

// column is a column that a converter reads.
type column struct {
	Name  string // of the component of Columns
	Label string
}

// maxComponents is the number of components that a record can have: its constructor has at most 255 parameters.
const maxComponents = 254

// maxInPlace is the number of columns of a converter that are converted in place, about 40 bytes each.
const maxInPlace = 100

// rowOf decides what the rows of a method become.
func (g *generator) rowOf(m *method) (*row, bool) {
	if n := m.written.Get("resultRowConverter"); n != nil {
		return g.customRow(m, n)
	}
	n := m.written.Get("resultRowType")
	if n == nil {
		return &row{typ: mapType(), converter: g.mapConverter()}, true
	}
	s, span := m.author("resultRowType")
	t, err := statement.ParseType(n.Value)
	if err != nil {
		return nil, false // the check says so
	}
	v, err := g.valueOf(t)
	if err == nil && v.kind == recordValue {
		return g.recordRow(m, v)
	}
	if err == nil {
		_, err = v.read(helpers{}, fromResultSet, "r", "1")
	}
	if err != nil {
		g.find(s, check.RuleRowType, span, err.Error())
		return nil, false
	}
	if columns := m.written.Get("resultRowColumns"); columns != nil {
		s, span := m.author("resultRowColumns")
		g.find(s, check.RuleRowColumns, span, fmt.Sprintf("%s has no components: it is read from the first column", t))
		return nil, false
	}
	v.typ = boxed(v.typ)
	if v.kind == scalarValue {
		v.scalar = scalarOf(v.typ)
	}
	return &row{typ: v.typ, value: v}, true
}

func (g *generator) mapConverter() *converter {
	c := g.converters["map"]
	if c == nil {
		c = &converter{key: "map", typ: mapType()}
		g.converters["map"] = c
	}
	return c
}

// recordRow finds or makes the converter of a record with the columns of the statement.
func (g *generator) recordRow(m *method, v value) (*row, bool) {
	overrides := map[string]string{}
	columns := m.written.Get("resultRowColumns")
	if columns != nil {
		for _, p := range columns.Pairs {
			overrides[p.Key] = p.Value.Value
		}
	}
	key := v.typ.Class
	for _, path := range sortedKeys(overrides) {
		key += "\x00" + path + "\x00" + overrides[path]
	}
	if c := g.converters[key]; c != nil {
		return &row{typ: v.typ, converter: c}, true
	}
	b := rowBuilder{generator: g, converter: &converter{key: key, typ: v.typ, record: v.record, helpers: helpers{}}, overrides: overrides, used: map[string]bool{}, names: scope{}}
	for _, reserved := range strings.Fields("clone finalize getClass hashCode notify notifyAll toString wait equals resultSet columns") {
		b.names[reserved] = true
	}
	b.reserve(v.record, map[string]bool{})
	build, err := b.record(v.record, nil, []string{v.typ.Class})
	if err != nil {
		s, span := m.author("resultRowType")
		g.find(s, check.RuleRowType, span, err.Error())
		return nil, false
	}
	ok := true
	for path := range overrides {
		if !b.used[path] {
			g.unknownPath(m, columns.Pair(path), v.typ, b.paths)
			ok = false
		}
	}
	b.converter.build = build
	g.converters[key] = b.converter
	return &row{typ: v.typ, converter: b.converter}, ok
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (g *generator) unknownPath(m *method, pair *matter.Pair, t statement.Type, paths []string) {
	s, _ := m.author("resultRowColumns")
	message := fmt.Sprintf("%s has no component %s", t, pair.Key)
	var fixes []source.Fix
	if near, ok := matter.Nearest(pair.Key, paths); ok {
		message += fmt.Sprintf("; did you mean %s?", near)
		fixes = append(fixes, source.Replacement(pair.Span, near, true))
	}
	g.findings[s.File] = append(g.findings[s.File], source.Finding{Rule: check.RuleRowColumns, Span: pair.Span, Message: message, Fixes: fixes})
}

// rowBuilder makes the converter of a record.
type rowBuilder struct {
	*generator

	converter *converter
	overrides map[string]string
	used      map[string]bool
	paths     []string
	names     scope
}

// reserve keeps variables from hiding the classes that expressions name, as variables called com or Status would.
func (b *rowBuilder) reserve(d *javasource.Declaration, seen map[string]bool) {
	for _, c := range d.Components {
		class := c.Type.Class
		if seen[class] {
			continue
		}
		seen[class] = true
		root, _, _ := strings.Cut(class, ".")
		b.names[root], b.names[lastPart(class)] = true, true
		if v, err := b.valueOf(c.Type.Type); err == nil && v.kind == recordValue {
			b.reserve(v.record, seen)
		}
	}
}

// record returns the expression that builds a record, one component on each line.
func (b *rowBuilder) record(d *javasource.Declaration, path, outer []string) (string, error) {
	parts := make([]string, 0, len(d.Components))
	for _, c := range d.Components {
		at := append(slices.Clone(path), c.Name)
		if c.Type.Unresolved != "" {
			return "", unusablef("the type %s of the component %s is not clear: import %s in %s", c.Type, strings.Join(at, "."), c.Type.Unresolved, d.Name)
		}
		v, err := b.valueOf(c.Type.Type)
		if err != nil {
			return "", unusablef("the component %s of %s: %s", strings.Join(at, "."), d.Name, err)
		}
		part, err := b.component(v, at, outer)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "new " + mark(d.Name) + "()", nil
	}
	return "new " + mark(d.Name) + "(\n" + strings.Join(parts, ",\n") + ")", nil
}

func (b *rowBuilder) component(v value, path, outer []string) (string, error) {
	dotted := strings.Join(path, ".")
	if v.kind == recordValue {
		if slices.Contains(outer, v.typ.Class) {
			return "", unusablef("the component %s is %s again, which never ends", dotted, v.typ)
		}
		return b.record(v.record, path, append(slices.Clone(outer), v.typ.Class))
	}
	b.paths = append(b.paths, dotted)
	label := snake(path[len(path)-1])
	if override, ok := b.overrides[dotted]; ok {
		label = override
		b.used[dotted] = true
	}
	if len(b.converter.columns) == maxComponents {
		return "", unusablef("%s has more than %d columns", b.converter.typ, maxComponents)
	}
	name := b.names.free(joined(path))
	b.converter.columns = append(b.converter.columns, column{Name: name, Label: label})
	part, err := b.variable(v, name)
	if err != nil {
		return "", unusablef("the component %s: %s", dotted, err)
	}
	return part, nil
}

// variable reads a column into a variable, and returns the expression for its value. Conversions are written in place
// while the method stays small: the compiler of the JVM does not compile methods of more than 8,000 bytes at all.
func (b *rowBuilder) variable(v value, name string) (string, error) {
	at := "columns." + name + "()"
	if c, ok := v.conversion(fromResultSet); ok && len(b.converter.columns) <= maxInPlace {
		b.converter.reads = append(b.converter.reads, c.raw+" "+name+" = "+fill(c.get, "resultSet", at, "")+";")
		null := name + " == null"
		if c.primitive() {
			null = b.names.free(name + "IsNull")
			b.converter.reads = append(b.converter.reads, "boolean "+null+" = resultSet.wasNull();")
		}
		return null + " ? " + v.null() + " : " + fill(c.convert, "resultSet", at, name), nil
	}
	read, err := v.read(b.converter.helpers, fromResultSet, "resultSet", at)
	b.converter.reads = append(b.converter.reads, typeText(v.typ)+" "+name+" = "+read+";")
	return name, err
}

// customRow takes a converter of the user's: as it is described, or as the Java sources have it.
func (g *generator) customRow(m *method, n *matter.Node) (*row, bool) {
	s, span := m.author("resultRowConverter")
	fail := func(format string, args ...any) (*row, bool) {
		g.find(s, check.RuleConverter, span, fmt.Sprintf(format, args...))
		return nil, false
	}
	if n.Kind == matter.Mapping {
		t, err := statement.ParseType(text(n.Get("resultType")))
		if err != nil {
			return nil, false // the check says so
		}
		c := &custom{class: text(n.Get("converterType")), method: text(n.Get("methodName")), alias: text(n.Get("alias"))}
		if c.alias == "" {
			c.alias = statement.Decapital(lastPart(c.class))
		}
		return &row{typ: boxed(t), custom: c}, true
	}
	d, err := g.index.Find(n.Value)
	switch {
	case errors.Is(err, javasource.ErrNotFound):
		return fail("%s is not in the Java sources (javaSources in %s); or write converterType, methodName and resultType", n.Value, matter.ProjectFile)
	case err != nil:
		return fail("%v", err)
	case !d.Public || !d.Static || d.Generic:
		return fail("%s cannot be used from other classes: it has to be public, not generic, and static when it is nested", n.Value)
	}
	var found []javasource.Method
	for _, method := range d.Methods {
		if !method.Static && len(method.Parameters) == 1 && method.Parameters[0].Class == "java.sql.ResultSet" && method.Parameters[0].Dimensions == 0 {
			found = append(found, method)
		}
	}
	if len(found) != 1 {
		return fail("%s has %d public methods that take a ResultSet, and exactly one converts a row; write converterType, methodName and resultType", n.Value, len(found))
	}
	returns := found[0].Returns
	if returns.Unresolved != "" || found[0].Generic || returns.Class == "void" {
		return fail("what %s.%s returns is not clear (%s); write converterType, methodName and resultType", n.Value, found[0].Name, returns)
	}
	if !d.Creatable && !g.project.Setting(m.written, "injectConverters") {
		return fail("%s has no public constructor without parameters; write injectConverters: true", n.Value)
	}
	return &row{typ: boxed(returns.Type), custom: &custom{class: n.Value, method: found[0].Name, alias: statement.Decapital(lastPart(n.Value))}}, true
}

// nameConverters decides the classes of the converters. Those without other columns get the plain names.
func (g *generator) nameConverters() {
	all := make([]*converter, 0, len(g.converters))
	for _, c := range g.converters {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *converter) int { return strings.Compare(a.key, b.key) })
	names := scope{"resultsetcursor": true}
	if g.converters["map"] != nil {
		names["mapconverter"] = true
	}
	for _, c := range all {
		if c.key == "map" {
			c.class = qualify(g.converterPackage(), "MapConverter")
			continue
		}
		simple := lastPart(c.typ.Class) + "Converter"
		chosen := simple
		for i := 2; names[strings.ToLower(chosen)]; i++ { // file systems may ignore case
			chosen = fmt.Sprintf("%s%d", simple, i)
		}
		names[strings.ToLower(chosen)] = true
		c.class = qualify(g.converterPackage(), chosen)
	}
}

func qualify(pkg, name string) string {
	if pkg == "" {
		return name
	}
	return pkg + "." + name
}
