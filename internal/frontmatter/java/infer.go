package java

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/ddl"
	"github.com/stagewright/stagewright/internal/frontmatter/javasource"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// parameter is a parameter of a method.
type parameter struct {
	Name     string
	variable string // what Java calls it
	Type     statement.Type
	value    value // of an element, for a collection
	binding  binding
	variant  string
	expands  bool // a collection in IN (…)
	declared statement.Parameter
}

// isOut tells whether the call sets the parameter.
func (p parameter) isOut() bool { return p.variant == matter.Out || p.variant == matter.InOut }

// isIn tells whether the caller gives the parameter.
func (p parameter) isIn() bool { return p.variant != matter.Out }

// parameters settles the parameters of a group of variants: those of the leading statement, then what only others have.
func (g *generator) parameters(m *method) bool {
	ok := true
	seen := map[string]bool{}
	for _, s := range append([]*statement.Statement{m.lead}, m.variants...) {
		for _, declared := range s.Parameters {
			if seen[declared.Name] || len(declared.Uses) == 0 {
				continue
			}
			seen[declared.Name] = true
			p := parameter{Name: declared.Name, variant: declared.Variant, declared: declared}
			if !g.parameter(m, s, &p) {
				ok = false
				continue
			}
			m.parameters = append(m.parameters, p)
		}
	}
	nameVariables(m.parameters)
	return ok
}

// hidden are the names that expressions of methods start with, and that a variable of such a name would hide.
var hidden = strings.Fields("Collections Optional String Types ZoneOffset java")

// nameVariables gives parameters the names that they have in SQL, unless classes would be hidden.
func nameVariables(parameters []parameter) {
	taken := scope{}
	for _, p := range parameters {
		taken[p.Name] = true
	}
	for i := range parameters {
		p := &parameters[i]
		p.variable = p.Name
		if slices.Contains(hidden, p.Name) {
			p.variable = taken.free(p.Name + "Value")
		}
	}
}

func (g *generator) parameter(m *method, s *statement.Statement, p *parameter) bool {
	for _, item := range items(m.written.Get("parameters")) {
		if name := item.Get("name"); name != nil && name.Value == p.Name {
			p.binding = binding{sqlType: text(item.Get("sqlType")), scale: text(item.Get("scale"))}
			if v := text(item.Get("variant")); v != "" {
				p.variant = v
			}
		}
	}
	t, err := g.parameterType(m, s, p)
	if err != nil {
		g.find(s, check.RuleParameterType, p.declared.Span, err.Error())
		return false
	}
	p.Type = t
	element := t
	if slices.Contains(collections, t.Class) && t.Dimensions == 0 {
		p.expands = true
		if len(t.Arguments) != 1 || t.Arguments[0].Class == "?" {
			g.find(s, check.RuleCollection, p.declared.Span, fmt.Sprintf("the elements of :%s have no type; write %s<Long> or the like", p.Name, lastPart(t.Class)))
			return false
		}
		element = t.Arguments[0]
	}
	if p.value, err = g.valueOf(element); err == nil && p.isIn() {
		_, err = p.value.bind(helpers{}, p.binding, "s", "1", "v", "c")
	}
	if err == nil && p.isOut() {
		_, err = p.value.read(helpers{}, fromCall, "s", "1")
	}
	if err != nil {
		g.find(s, check.RuleParameterType, p.declared.Span, fmt.Sprintf("the parameter :%s: %s", p.Name, err))
		return false
	}
	return true
}

func lastPart(class string) string {
	_, simple := split(class)
	return simple
}

// parameterType is the written type, else that of the component of the row type, else that of the column in the DDL.
func (g *generator) parameterType(m *method, s *statement.Statement, p *parameter) (statement.Type, error) {
	if written := p.declared.Type; written != "" {
		t, err := statement.ParseType(written)
		if err != nil {
			return t, fmt.Errorf("the type of :%s: %w", p.Name, err)
		}
		return t, nil
	}
	if t, ok := g.componentType(m, p.Name); ok {
		return t, nil
	}
	return g.columnType(s, p.Name)
}

// componentType is the type of the row type's component of a name.
func (g *generator) componentType(m *method, name string) (statement.Type, bool) {
	t, err := statement.ParseType(text(m.written.Get("resultRowType")))
	if err != nil {
		return t, false
	}
	d, err := g.index.Find(t.Class)
	if err != nil || d.Kind != javasource.Record {
		return t, false
	}
	for _, c := range d.Components {
		if c.Name == name && c.Type.Unresolved == "" {
			return c.Type.Type, true
		}
	}
	return t, false
}

// columnType is the type of the column of a parameter's name, when all tables of the statement that have it agree.
func (g *generator) columnType(s *statement.Statement, name string) (statement.Type, error) {
	const write = "write its type in the front matter"
	if g.schema.Empty() {
		return statement.Type{}, unusablef("the type of :%s is not written, and there is no DDL that tells it; %s", name, write)
	}
	var found []string
	var types []statement.Type
	for _, table := range g.schema.Uses(s.Source.SQL.Text(s.File.Text), s.Source.Dialect) {
		column := table.Column(name)
		if column == nil {
			column = table.Column(snake(name))
		}
		if column == nil {
			continue
		}
		t, ok := typeOfColumn(column, s.Source.Dialect)
		if !ok {
			return t, unusablef("the column %s.%s has the type %s, which no Java type belongs to; %s", table.Name, column.Name, column.Type, write)
		}
		found = append(found, fmt.Sprintf("%s in %s", t, table.Name))
		if !slices.ContainsFunc(types, func(other statement.Type) bool { return other.String() == t.String() }) {
			types = append(types, t)
		}
	}
	switch {
	case len(types) == 0:
		return statement.Type{}, unusablef("the type of :%s is not written, and no table of the statement has a column %s; %s", name, snake(name), write)
	case len(types) == 2 && boxed(types[0]).String() == boxed(types[1]).String():
		return boxed(types[0]), nil // they differ in NOT NULL only
	case len(types) > 1:
		return statement.Type{}, unusablef("the type of :%s is not clear (%s); %s", name, strings.Join(found, ", "), write)
	}
	return types[0], nil
}

// columnTypes are the Java types of columns, by the names of SQL types.
var columnTypes = map[string]string{
	"boolean": "boolean", "bool": "boolean", "bit": "boolean", "tinyint": "byte", "smallint": "short", "int2": "short", "smallserial": "short",
	"integer": "int", "int": "int", "int4": "int", "mediumint": "int", "serial": "int", "serial4": "int",
	"bigint": "long", "int8": "long", "bigserial": "long", "serial8": "long",
	"real": "float", "float4": "float", "binary_float": "float", "float": "double", "double": "double", "double precision": "double", "float8": "double", "binary_double": "double",
	"numeric": "bigdecimal", "decimal": "bigdecimal", "dec": "bigdecimal", "number": "bigdecimal", "money": "", "smallmoney": "bigdecimal",
	"char": "string", "character": "string", "varchar": "string", "character varying": "string", "char varying": "string", "text": "string", "citext": "string",
	"varchar2": "string", "nvarchar2": "string", "nchar": "string", "nvarchar": "string", "ntext": "string", "clob": "string", "nclob": "string",
	"tinytext": "string", "mediumtext": "string", "longtext": "string", "bpchar": "string", "name": "string", "enum": "string", "national character": "string",
	"national character varying": "string", "character large object": "string", "varchar_ignorecase": "string", "long": "string", "long varchar": "string",
	"date": "localdate", "time": "localtime", "timetz": "offsettime", "time with time zone": "offsettime",
	"timestamp": "localdatetime", "datetime": "localdatetime", "datetime2": "localdatetime", "smalldatetime": "localdatetime",
	"timestamptz": "offsetdatetime", "timestamp with time zone": "offsetdatetime", "timestamp with local time zone": "offsetdatetime", "datetimeoffset": "offsetdatetime",
	"uuid": "uuid", "uniqueidentifier": "uuid", "year": "int",
	"bytea": "bytes", "blob": "bytes", "tinyblob": "bytes", "mediumblob": "bytes", "longblob": "bytes", "binary": "bytes", "varbinary": "bytes",
	"binary varying": "bytes", "binary large object": "bytes", "raw": "bytes", "long raw": "bytes", "image": "bytes",
}

// typeOfColumn returns the Java type of a column; that of a nullable one can hold null.
func typeOfColumn(c *ddl.Column, d source.Dialect) (statement.Type, bool) {
	name := columnTypes[c.Type.Name]
	switch {
	case c.Type.Name == "number" && len(c.Type.Arguments) > 0:
		name = oracleNumber(c.Type.Arguments)
	case c.Type.Name == "tinyint" && slices.Equal(c.Type.Arguments, []string{"1"}) && d.Name == "mysql":
		name = "boolean"
	case c.Type.Name == "tinyint" && d.Name == "sqlserver":
		name = "short"
	case c.Type.Name == "date" && d.Name == "oracle":
		name = "localdatetime"
	case c.Type.Name == "bit" && len(c.Type.Arguments) > 0 && c.Type.Arguments[0] != "1":
		return statement.Type{}, false
	case c.Type.Unsigned && name == "int":
		name = "long"
	case c.Type.Unsigned && name == "long":
		name = "bigdecimal"
	case c.Type.Unsigned && (name == "short" || name == "byte"):
		name = "int"
	}
	if name == "" {
		return statement.Type{}, false
	}
	t, err := statement.ParseType(name)
	if err != nil {
		return t, false
	}
	if c.Type.Dimensions > 0 {
		t = boxed(t)
		t.Dimensions = c.Type.Dimensions
		return t, elementTypes[t.Class] != "" && t.Dimensions == 1
	}
	if !c.NotNull {
		t = boxed(t)
	}
	return t, true
}

func oracleNumber(arguments []string) string {
	precision, scale := arguments[0], "0"
	if len(arguments) > 1 {
		scale = arguments[1]
	}
	switch {
	case scale != "0" || precision == "*":
		return "bigdecimal"
	case len(precision) == 1:
		return "int"
	case len(precision) == 2 && precision <= "18":
		return "long"
	}
	return "bigdecimal"
}
