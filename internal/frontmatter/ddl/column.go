package ddl

import (
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// readColumn reads a name, a type and the constraints behind it.
func readColumn(c *cursor) (*Column, bool) {
	name, ok := c.part()
	if !ok {
		return nil, false
	}
	t, ok := readType(c)
	if !ok {
		return nil, false
	}
	column := &Column{Name: name, Type: t, NotNull: strings.Contains(t.Name, "serial")}
	for !c.ended() {
		switch {
		case c.take("NOT", "NULL"), c.take("PRIMARY", "KEY"), c.take("IDENTITY"), c.take("AUTO_INCREMENT"):
			column.NotNull = true
		case c.is("("):
			c.group()
		case c.take("UNSIGNED"):
			column.Type.Unsigned = true
		default:
			c.at++
		}
	}
	return column, true
}

// readType reads a type of one or several words, with arguments and array brackets.
func readType(c *cursor) (Type, bool) {
	name, ok := c.name()
	if !ok {
		return Type{}, false
	}
	t := Type{Name: strings.ToLower(name)}
	// A type of the database's own may be named with its schema, as pg_catalog.int4 is.
	t.Name = strings.TrimPrefix(t.Name, "pg_catalog.")
	more := func(words ...string) bool {
		if !c.take(words...) {
			return false
		}
		t.Name += " " + strings.ToLower(strings.Join(words, " "))
		return true
	}
	switch t.Name {
	case "double":
		more("PRECISION")
	case "character", "char", "national", "nchar", "binary", "bit":
		if t.Name == "national" && !more("CHARACTER") {
			more("CHAR")
		}
		if !more("VARYING") {
			more("LARGE", "OBJECT")
		}
	case "long":
		_ = more("RAW") || more("VARCHAR")
	}
	if arguments, ok := c.group(); ok {
		for _, a := range arguments.split() {
			var b strings.Builder
			for _, part := range a.all {
				b.WriteString(part.raw)
			}
			t.Arguments = append(t.Arguments, b.String())
		}
	}
	if t.Name == "timestamp" || t.Name == "time" {
		_ = more("WITH", "TIME", "ZONE") || more("WITH", "LOCAL", "TIME", "ZONE")
		_ = c.take("WITHOUT", "TIME", "ZONE")
	}
	t.Unsigned = c.take("UNSIGNED")
	for c.is("[") || c.is("ARRAY") {
		t.Dimensions++
		c.take("ARRAY")
		if c.take("[") {
			for !c.ended() && !c.take("]") {
				c.at++
			}
		}
	}
	if q := c.peek(0); q.kind == source.QuotedName && strings.HasPrefix(q.raw, "[") { // [] where names have brackets
		c.at++
		t.Dimensions++
	}
	return t, true
}
