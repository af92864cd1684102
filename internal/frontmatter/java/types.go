package java

import (
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// Scalar is a row of the table of Java types: how a column of the type is read, how a parameter is bound, and what its
// NULL is. In the calls, $r is the result set, $c the column, $s the statement, $i the index and $v the value.
type Scalar struct {
	Class   string
	Get     string // reads a column; of a value that is no NULL when there is a conversion
	Raw     string // the type that Get returns, when it is converted
	From    string // converts $v of the type Raw
	To      string // converts $v to what is bound
	Set     string // the setter; setObject with JDBC when empty
	JDBC    string // constant of java.sql.Types
	Untyped bool   // setObject without JDBC, which only NULL has
	Out     Out    // reads an OUT parameter, where that differs
	Null    string // what NULL is read as
	Checked string // an exception that From throws and that is none of SQL
}

// Out is how an OUT parameter is registered and read.
type Out struct {
	JDBC string // that of the scalar when empty
	Get  string // as the members of Scalar
	Raw  string
	From string
}

func primitive(class, get, set, jdbc, null string) Scalar {
	return Scalar{Class: class, Get: "$r." + get + "($c)", Set: set, JDBC: jdbc, Null: null}
}

// boxedScalar reads by the getter of the primitive and asks whether it was NULL: drivers disagree on getObject with
// the classes of numbers.
func boxedScalar(class, raw, get, jdbc string) Scalar {
	return Scalar{Class: class, Get: "$r." + get + "($c)", Raw: raw, From: "$v", JDBC: jdbc, Null: "null"}
}

func reference(class, suffix, jdbc string) Scalar {
	return Scalar{Class: class, Get: "$r.get" + suffix + "($c)", Set: "set" + suffix, JDBC: jdbc, Null: "null"}
}

// temporal reads and binds a class of java.time as JDBC 4.2 says; OUT parameters go through the older classes, because
// not every driver's call statement knows the newer ones.
func temporal(name, jdbc, old, conversion string) Scalar {
	class := mark("java.time." + name)
	return Scalar{
		Class: "java.time." + name, Get: "$r.getObject($c, " + class + ".class)", JDBC: jdbc, Null: "null",
		Out: Out{Get: "$r.get" + old + "($c)", Raw: mark("java.sql." + old), From: conversion},
	}
}

// asText stores a class as a text.
func asText(class, parse string) Scalar {
	return Scalar{
		Class: class, Get: "$r.getString($c)", Raw: mark("java.lang.String"), From: parse, To: "$v.toString()",
		Set: "setString", JDBC: "VARCHAR", Null: "null",
	}
}

// zonedOut reads an OUT parameter with a time zone. Drivers disagree: some return the class of java.time for an object and a
// wrong time as the older class, others know the older one only, and by its name.
func zonedOut(jdbc, class, same, older string) Out {
	return Out{
		JDBC: jdbc, Get: "$r.getObject($c)", Raw: mark("java.lang.Object"),
		From: "$v instanceof " + mark(class) + " zoned ? " + same + " : " + older,
	}
}

var (
	utc         = ".atOffset(" + mark("java.time.ZoneOffset") + ".UTC)"
	offsetClass = mark("java.time.OffsetDateTime")
	stampInUTC  = "$r.getTimestamp($c).toInstant()" + utc
)

var scalarTable = []Scalar{
	primitive("boolean", "getBoolean", "setBoolean", "BOOLEAN", "false"),
	primitive("byte", "getByte", "setByte", "TINYINT", "0"),
	primitive("short", "getShort", "setShort", "SMALLINT", "0"),
	primitive("int", "getInt", "setInt", "INTEGER", "0"),
	primitive("long", "getLong", "setLong", "BIGINT", "0"),
	primitive("float", "getFloat", "setFloat", "REAL", "0"),
	primitive("double", "getDouble", "setDouble", "DOUBLE", "0"),
	{
		Class: "char", Get: "$r.getString($c)", Raw: mark("java.lang.String"), From: "$v.isEmpty() ? '\\0' : $v.charAt(0)",
		To: mark("java.lang.String") + ".valueOf($v)", Set: "setString", JDBC: "CHAR", Null: `'\0'`,
	},
	boxedScalar("java.lang.Boolean", "boolean", "getBoolean", "BOOLEAN"),
	boxedScalar("java.lang.Byte", "byte", "getByte", "TINYINT"),
	boxedScalar("java.lang.Short", "short", "getShort", "SMALLINT"),
	boxedScalar("java.lang.Integer", "int", "getInt", "INTEGER"),
	boxedScalar("java.lang.Long", "long", "getLong", "BIGINT"),
	boxedScalar("java.lang.Float", "float", "getFloat", "REAL"),
	boxedScalar("java.lang.Double", "double", "getDouble", "DOUBLE"),
	{
		Class: "java.lang.Character", Get: "$r.getString($c)", Raw: mark("java.lang.String"), From: "$v.isEmpty() ? null : $v.charAt(0)",
		To: "$v.toString()", Set: "setString", JDBC: "CHAR", Null: "null",
	},
	reference("java.lang.String", "String", "VARCHAR"),
	reference("java.math.BigDecimal", "BigDecimal", "NUMERIC"),
	{
		Class: "java.math.BigInteger", Get: "$r.getBigDecimal($c)", Raw: mark("java.math.BigDecimal"), From: "$v.toBigIntegerExact()",
		To: "new " + mark("java.math.BigDecimal") + "($v)", Set: "setBigDecimal", JDBC: "NUMERIC", Null: "null",
	},
	reference("byte[]", "Bytes", "VARBINARY"),
	temporal("LocalDate", "DATE", "Date", "$v.toLocalDate()"),
	temporal("LocalTime", "TIME", "Time", "$v.toLocalTime()"),
	temporal("LocalDateTime", "TIMESTAMP", "Timestamp", "$v.toLocalDateTime()"),
	{
		Class: "java.time.OffsetDateTime", Get: "$r.getObject($c, " + offsetClass + ".class)", JDBC: "TIMESTAMP_WITH_TIMEZONE", Null: "null",
		Out: zonedOut("TIMESTAMP", "java.time.OffsetDateTime", "zoned", stampInUTC),
	},
	{
		Class: "java.time.OffsetTime", Get: "$r.getObject($c, " + mark("java.time.OffsetTime") + ".class)", JDBC: "TIME_WITH_TIMEZONE",
		Untyped: true, Null: "null",
		Out: zonedOut("TIME", "java.time.OffsetTime", "zoned", mark("java.time.Instant")+".ofEpochMilli($r.getTime($c).getTime())"+utc+".toOffsetTime()"),
	},
	{
		Class: "java.time.Instant", Get: "$r.getObject($c, " + offsetClass + ".class)", Raw: offsetClass, From: "$v.toInstant()",
		To: "$v" + utc, JDBC: "TIMESTAMP_WITH_TIMEZONE", Null: "null",
		Out: zonedOut("TIMESTAMP", "java.time.OffsetDateTime", "zoned.toInstant()", "$r.getTimestamp($c).toInstant()"),
	},
	{
		Class: "java.time.ZonedDateTime", Get: "$r.getObject($c, " + offsetClass + ".class)", Raw: offsetClass, From: "$v.toZonedDateTime()",
		To: "$v.toOffsetDateTime()", JDBC: "TIMESTAMP_WITH_TIMEZONE", Null: "null",
		Out: zonedOut("TIMESTAMP", "java.time.OffsetDateTime", "zoned.toZonedDateTime()", stampInUTC+".toZonedDateTime()"),
	},
	asText("java.time.Duration", mark("java.time.Duration")+".parse($v)"),
	asText("java.time.Period", mark("java.time.Period")+".parse($v)"),
	{
		Class: "java.time.Year", Get: "$r.getInt($c)", Raw: "int", From: mark("java.time.Year") + ".of($v)",
		To: "$v.getValue()", JDBC: "INTEGER", Null: "null",
	},
	asText("java.time.YearMonth", mark("java.time.YearMonth")+".parse($v)"),
	reference("java.sql.Date", "Date", "DATE"),
	reference("java.sql.Time", "Time", "TIME"),
	reference("java.sql.Timestamp", "Timestamp", "TIMESTAMP"),
	asText("java.net.URI", mark("java.net.URI")+".create($v)"),
	{
		Class: "java.net.URL", Get: "$r.getString($c)", Raw: mark("java.lang.String"), From: "new " + mark("java.net.URL") + "($v)",
		To: "$v.toString()", Set: "setString", JDBC: "VARCHAR", Null: "null", Checked: "java.net.MalformedURLException",
	},
	{
		Class: "java.util.UUID", Get: "$r.getObject($c, " + mark("java.util.UUID") + ".class)", JDBC: "OTHER", Untyped: true, Null: "null",
		Out: Out{
			Get: "$r.getObject($c)", Raw: mark("java.lang.Object"),
			From: "$v instanceof " + mark("java.util.UUID") + " uuid ? uuid : $r.getObject($c, " + mark("java.util.UUID") + ".class)",
		},
	},
	{Class: "java.lang.Object", Get: "$r.getObject($c)", JDBC: "OTHER", Untyped: true, Null: "null"},
}

// Scalars returns the table of types.
func Scalars() []Scalar { return scalarTable }

var scalarByClass = func() map[string]*Scalar {
	byClass := make(map[string]*Scalar, len(scalarTable))
	for i := range scalarTable {
		byClass[scalarTable[i].Class] = &scalarTable[i]
	}
	return byClass
}()

// scalarOf returns the row of a type, or nil.
func scalarOf(t statement.Type) *Scalar {
	if t.Dimensions == 0 && len(t.Arguments) == 0 || t.Erased() == "byte[]" {
		return scalarByClass[t.Erased()]
	}
	return nil
}

// elementTypes are the elements of arrays, with the name of the SQL type by which drivers know them.
var elementTypes = map[string]string{
	"boolean": "boolean", "short": "smallint", "int": "integer", "long": "bigint", "float": "real", "double": "double precision",
	"java.lang.Boolean": "boolean", "java.lang.Short": "smallint", "java.lang.Integer": "integer", "java.lang.Long": "bigint",
	"java.lang.Float": "real", "java.lang.Double": "double precision", "java.lang.String": "varchar", "java.math.BigDecimal": "numeric",
	"java.util.UUID": "uuid",
}

// collections are the types whose parameters expand.
var collections = strings.Fields("java.util.List java.util.Set java.util.Collection")

// Calls are the calls for a type as the reference shows them.
type Calls struct{ Class, Read, Bind, Null, Out string }

// TypeTable returns the calls of all types of one column or parameter, for the reference.
func TypeTable() []Calls {
	all := make([]Calls, 0, len(scalarTable))
	for _, s := range scalarTable {
		t := typeOfScalar(&s)
		v := value{kind: scalarValue, typ: t, scalar: &s}
		bound, _ := v.bind(helpers{}, binding{}, "statement", "i", "value", "connection") // a scalar is always bound
		c := Calls{Class: s.Class, Read: call(s.Get, s.From), Bind: unmarked(bound), Null: s.Null, Out: call(s.Get, s.From)}
		if s.Out.Get != "" {
			c.Out = call(s.Out.Get, s.Out.From)
		}
		all = append(all, c)
	}
	return all
}

// call writes a getter with its conversion behind it.
func call(get, from string) string {
	get = fill(get, "row", "i", "")
	if from == "" || from == "$v" {
		return unmarked(get)
	}
	return unmarked(fill(from, "row", "i", get))
}

// unmarked writes classes by their simple names, on one line.
func unmarked(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, string(markStart))
		b.WriteString(before)
		if !found {
			return strings.Join(strings.Fields(b.String()), " ")
		}
		class, after, _ := strings.Cut(rest, string(markEnd))
		b.WriteString(lastPart(class))
		text = after
	}
}
