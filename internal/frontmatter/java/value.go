package java

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/javasource"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// valueKind is how values of a type travel.
type valueKind uint8

const (
	scalarValue  valueKind = iota
	enumValue              // by its name
	valueOfValue           // built by valueOf, never bound
	arrayValue
	recordValue // of several columns, never bound
	otherValue  // bound by setObject, never read
)

// value is a type with how it is read and bound.
type value struct {
	kind    valueKind
	typ     statement.Type
	scalar  *Scalar // of a scalar, or of what valueOf takes
	element string  // the SQL type of an array's elements
	record  *javasource.Declaration
}

// unusableError says why a type cannot be read or bound.
type unusableError struct{ message string }

func (e *unusableError) Error() string { return e.message }

func unusablef(format string, args ...any) error {
	return &unusableError{fmt.Sprintf(format, args...)}
}

// valueOf finds out what a type is, with the help of the Java sources.
func (g *generator) valueOf(t statement.Type) (value, error) {
	if s := scalarOf(t); s != nil {
		return value{kind: scalarValue, typ: t, scalar: s}, nil
	}
	if t.Dimensions == 1 && len(t.Arguments) == 0 {
		if element, ok := elementTypes[t.Class]; ok {
			return value{kind: arrayValue, typ: t, element: element}, nil
		}
	}
	if t.Dimensions > 0 || t.Primitive {
		return value{kind: otherValue, typ: t}, nil
	}
	d, err := g.index.Find(t.Class)
	switch {
	case errors.Is(err, javasource.ErrNotFound):
		return value{kind: otherValue, typ: t}, nil
	case err != nil:
		return value{}, fmt.Errorf("reading %s: %w", t.Class, err)
	case d.Generic || len(t.Arguments) > 0:
		return value{}, unusablef("%s is generic, so that what its columns hold is not known; write a class of its own for the row", t.Class)
	case !d.Public && g.converterPackage() != packageOf(d.Name):
		return value{}, unusablef("%s is not public, and generated code of other packages uses it; make it and the classes around it public", t.Class)
	case !d.Static:
		return value{}, unusablef("%s belongs to an instance of the class around it; make it static", t.Class)
	}
	return declaredValue(t, d)
}

func packageOf(class string) string {
	pkg, _ := split(class)
	return pkg
}

func declaredValue(t statement.Type, d *javasource.Declaration) (value, error) {
	switch d.Kind {
	case javasource.Enum:
		return value{kind: enumValue, typ: t, scalar: scalarByClass["java.lang.String"]}, nil
	case javasource.Record:
		return value{kind: recordValue, typ: t, record: d}, nil
	default:
	}
	var found []javasource.Method
	for _, m := range d.Methods {
		if m.Name == "valueOf" && m.Static && !m.Generic && len(m.Parameters) == 1 && m.Returns.Class == d.Name && m.Returns.Dimensions == 0 {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		s := scalarOf(found[0].Parameters[0].Type)
		if s == nil {
			return value{}, unusablef("valueOf of %s takes %s, which no column is read as", t.Class, found[0].Parameters[0])
		}
		return value{kind: valueOfValue, typ: t, scalar: s}, nil
	case 0:
		return value{}, unusablef("%s is %s without a static valueOf; a row is built into a record, an enum, a scalar, or a class with one public static valueOf", t.Class, d.Kind)
	default:
		return value{}, unusablef("%s has %d methods valueOf, so that it is not clear which one builds it; use resultRowConverter", t.Class, len(found))
	}
}

// helpers are the private methods that a class needs, by signature.
type helpers map[string]string

// sorted returns the texts in the order of their names.
func (h helpers) sorted() []string {
	keys := make([]string, 0, len(h))
	for k := range h {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	texts := make([]string, 0, len(keys))
	for _, k := range keys {
		texts = append(texts, h[k])
	}
	return texts
}

// from is what values are read from: a result set, or a call.
type from struct {
	class string
	name  string
	out   bool
}

var (
	fromResultSet = from{class: "java.sql.ResultSet", name: "resultSet"}
	fromCall      = from{class: "java.sql.CallableStatement", name: "statement", out: true}
)

// read returns the expression that reads a value; conversions become helpers of the class.
func (v value) read(h helpers, f from, receiver, column string) (string, error) {
	switch c, ok := v.conversion(f); {
	case ok:
		return v.helper(h, f, c, receiver, column), nil
	case v.kind == scalarValue && c.raw == "":
		return fill(c.get, receiver, column, ""), nil
	case v.kind == scalarValue:
		return v.helper(h, f, c, receiver, column), nil
	case v.kind == valueOfValue:
		return v.viaValueOf(h, f, receiver, column)
	case v.kind == arrayValue:
		return v.array(h, f, receiver, column), nil
	case v.kind == recordValue:
		return "", unusablef("%s is a record, which is read from several columns", v.typ)
	default:
		return "", unusablef("%s is not a type that a column is read as, and not in the Java sources (javaSources in %s)", v.typ, "frontmatter.yaml")
	}
}

// conversion is how a value is made of what a getter returns. Without raw there is nothing to convert.
type conversion struct{ get, raw, convert string }

// primitive tells whether the getter has no null, so that one has to ask whether it was.
func (c conversion) primitive() bool {
	return !strings.HasPrefix(c.raw, string(markStart)) && !strings.HasSuffix(c.raw, "]")
}

// conversion returns how a scalar is read.
func (s *Scalar) conversion(f from) conversion {
	if f.out && s.Out.Get != "" {
		return conversion{s.Out.Get, s.Out.Raw, s.Out.From}
	}
	return conversion{s.Get, s.Raw, s.From}
}

// conversion returns how the value is read; false when one getter and one expression are not all of it.
func (v value) conversion(f from) (conversion, bool) {
	switch v.kind {
	case scalarValue:
		c := v.scalar.conversion(f)
		return c, c.raw != "" && v.scalar.Checked == ""
	case enumValue:
		return conversion{v.scalar.Get, mark("java.lang.String"), mark(v.typ.Class) + ".valueOf($v)"}, true
	case valueOfValue:
		c := v.scalar.conversion(f)
		return conversion{c.get, typeText(typeOfScalar(v.scalar)), mark(v.typ.Class) + ".valueOf($v)"}, c.raw == ""
	default:
		return conversion{}, false
	}
}

// null is what NULL is read as.
func (v value) null() string {
	if v.kind == scalarValue {
		return v.scalar.Null
	}
	return "null"
}

func fill(call, receiver, column, expression string) string {
	return strings.NewReplacer("$r", receiver, "$c", column, "$v", expression).Replace(call)
}

// helperName is the name of a getter for a type: getInstant, getLongArray. Classes of one simple name differ by a
// number.
func (v value) helperName(h helpers, f from) string {
	_, simple := split(v.typ.Class)
	name := "get" + statement.Capital(simple) + strings.Repeat("Array", v.typ.Dimensions)
	if v.typ.Primitive && v.typ.Dimensions == 0 {
		name += "Value"
	}
	for i := 1; ; i++ {
		candidate := name
		if i > 1 {
			candidate = fmt.Sprintf("%s%d", name, i)
		}
		text, taken := h[candidate+"("+f.class]
		if !taken || strings.HasPrefix(text, v.helperHead(candidate)) {
			return candidate
		}
	}
}

func (v value) helperHead(name string) string {
	return "private static " + typeText(v.typ) + " " + name + "("
}

func (v value) helper(h helpers, f from, c conversion, receiver, column string) string {
	name := v.helperName(h, f)
	test := "value == null"
	if c.primitive() {
		test = f.name + ".wasNull()"
	}
	result := "return " + test + " ? " + v.null() + " : " + fill(c.convert, f.name, "column", "value") + ";"
	if v.scalar != nil && v.kind == scalarValue && v.scalar.Checked != "" {
		result = "try {\n" + result + "\n} catch (" + mark(v.scalar.Checked) + " e) {\nthrow new " + mark("java.sql.SQLException") +
			"(\"reading a column as " + v.typ.Class + "\", e);\n}"
	}
	h[name+"("+f.class] = v.helperHead(name) + mark(f.class) + " " + f.name + ", int column) throws " + mark("java.sql.SQLException") + " {\n" +
		c.raw + " value = " + fill(c.get, f.name, "column", "") + ";\n" + result + "\n}\n"
	return name + "(" + receiver + ", " + column + ")"
}

// viaValueOf reads what valueOf takes, and NULL as null.
func (v value) viaValueOf(h helpers, f from, receiver, column string) (string, error) {
	inner := value{kind: scalarValue, typ: typeOfScalar(v.scalar), scalar: v.scalar}
	get, err := inner.read(h, f, f.name, "column")
	if err != nil {
		return "", err
	}
	return v.helper(h, f, conversion{get, typeText(inner.typ), mark(v.typ.Class) + ".valueOf($v)"}, receiver, column), nil
}

func typeOfScalar(s *Scalar) statement.Type {
	if s.Class == "byte[]" {
		return statement.Type{Class: "byte", Primitive: true, Dimensions: 1}
	}
	return statement.Type{Class: s.Class, Primitive: boxes[s.Class] != ""}
}

// array reads an array element by element, because drivers disagree on the class of what they return.
func (v value) array(h helpers, f from, receiver, column string) string {
	name := v.helperName(h, f)
	element := v.typ
	element.Dimensions = 0
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %s, int column) throws %s {\n", v.helperHead(name), mark(f.class), f.name, mark("java.sql.SQLException"))
	fmt.Fprintf(&b, "%s array = %s.getArray(column);\nif (array == null) {\nreturn null;\n}\n", mark("java.sql.Array"), f.name)
	fmt.Fprintf(&b, "%s[] elements = (%s[]) array.getArray();\n", mark("java.lang.Object"), mark("java.lang.Object"))
	fmt.Fprintf(&b, "%s values = new %s[elements.length];\n", typeText(v.typ), typeText(element))
	b.WriteString("for (int i = 0; i < values.length; i++) {\n")
	convert := "(" + typeText(element) + ") elements[i]"
	if method := numberMethod(element); method != "" {
		convert = "((" + mark("java.lang.Number") + ") elements[i])." + method + "()"
	}
	if element.Primitive || strings.HasPrefix(convert, "((") {
		b.WriteString("if (elements[i] != null) {\nvalues[i] = " + convert + ";\n}\n")
	} else {
		b.WriteString("values[i] = " + convert + ";\n")
	}
	b.WriteString("}\narray.free();\nreturn values;\n}\n")
	h[name+"("+f.class] = b.String()
	return name + "(" + receiver + ", " + column + ")"
}

// numberMethod is the method of Number that returns a type.
func numberMethod(t statement.Type) string {
	for primitive, box := range boxes {
		if (t.Class == primitive || t.Class == box) && primitive != "boolean" && primitive != "char" {
			return primitive + "Value"
		}
	}
	return ""
}

// binding is what a parameter says about how it is bound.
type binding struct {
	sqlType string // a constant of java.sql.Types; the one of the type when empty
	scale   string
}

// bind returns the lines that bind an expression.
func (v value) bind(h helpers, b binding, receiver, index, expression, connection string) (string, error) {
	bound, nullable := expression, !v.typ.Primitive || v.typ.Dimensions > 0
	s := v.scalar
	switch v.kind {
	case enumValue:
		bound = expression + " == null ? null : " + expression + ".name()"
	case scalarValue:
		if s.To != "" {
			bound = fill(s.To, "", "", expression)
			if nullable {
				bound = expression + " == null ? null : " + bound
			}
		}
	case arrayValue:
		elements := expression
		if v.typ.Primitive {
			elements = v.box(h) + "(" + expression + ")"
		}
		return ifNull(receiver, index, expression, "ARRAY", fmt.Sprintf("%s.setArray(%s, %s.createArrayOf(%q, %s));", receiver, index, connection, v.element, elements)), nil
	case otherValue:
		s = &Scalar{JDBC: "OTHER", Untyped: true}
	default:
		return "", unusablef("%s cannot be bound to a parameter; write the type of what the database stores", v.typ)
	}
	types := mark("java.sql.Types")
	switch {
	case b.sqlType != "" && b.scale != "":
		return fmt.Sprintf("%s.setObject(%s, %s, %s.%s, %s);", receiver, index, bound, types, b.sqlType, b.scale), nil
	case b.sqlType != "":
		return fmt.Sprintf("%s.setObject(%s, %s, %s.%s);", receiver, index, bound, types, b.sqlType), nil
	case s.Set != "":
		return fmt.Sprintf("%s.%s(%s, %s);", receiver, s.Set, index, bound), nil
	case s.Untyped:
		return ifNull(receiver, index, expression, s.JDBC, fmt.Sprintf("%s.setObject(%s, %s);", receiver, index, bound)), nil
	default:
		return fmt.Sprintf("%s.setObject(%s, %s, %s.%s);", receiver, index, bound, types, s.JDBC), nil
	}
}

// ifNull binds NULL with a type, for what has no other way to say it. An index that counts up is written once in each
// branch, so that it counts once.
func ifNull(receiver, index, expression, jdbc, otherwise string) string {
	return fmt.Sprintf("if (%s == null) {\n%s.setNull(%s, %s.%s);\n} else {\n%s\n}", expression, receiver, index, mark("java.sql.Types"), jdbc, otherwise)
}

// box is the helper that boxes an array of primitives.
func (v value) box(h helpers) string {
	h["boxed("+v.typ.Class] = fmt.Sprintf(`private static %[1]s[] boxed(%[2]s[] values) {
%[1]s[] boxed = new %[1]s[values.length];
for (int i = 0; i < values.length; i++) {
boxed[i] = values[i];
}
return boxed;
}
`, mark("java.lang.Object"), v.typ.Class)
	return "boxed"
}

// jdbcType is the constant by which an OUT parameter is registered.
func (v value) jdbcType() string {
	switch {
	case v.kind == arrayValue:
		return "ARRAY"
	case v.scalar != nil && v.scalar.Out.JDBC != "":
		return v.scalar.Out.JDBC
	case v.scalar != nil:
		return v.scalar.JDBC
	}
	return "OTHER"
}
