package java

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// Class names stand between these marks until the imports of a file are settled. Nothing that users write keeps them:
// it is escaped to ASCII before it gets near a template.
const (
	markStart = '\u2039'
	markEnd   = '\u203A'
)

// mark marks the name of a class.
func mark(class string) string { return string(markStart) + class + string(markEnd) }

// typeText writes a type with marked names.
func typeText(t statement.Type) string {
	s := t.Class
	if !t.Primitive && t.Class != "?" {
		s = mark(t.Class)
	}
	switch {
	case t.Bound != nil && t.Lower:
		s += " super " + typeText(*t.Bound)
	case t.Bound != nil:
		s += " extends " + typeText(*t.Bound)
	}
	if len(t.Arguments) > 0 {
		parts := make([]string, 0, len(t.Arguments))
		for _, a := range t.Arguments {
			parts = append(parts, typeText(a))
		}
		s += "<" + strings.Join(parts, ", ") + ">"
	}
	return s + strings.Repeat("[]", t.Dimensions)
}

// boxes are the classes of primitives.
var boxes = map[string]string{
	"boolean": "java.lang.Boolean", "byte": "java.lang.Byte", "short": "java.lang.Short", "int": "java.lang.Integer",
	"long": "java.lang.Long", "float": "java.lang.Float", "double": "java.lang.Double", "char": "java.lang.Character",
}

// boxed returns the type as a type argument can hold it.
func boxed(t statement.Type) statement.Type {
	if t.Primitive && t.Dimensions == 0 {
		return statement.Type{Class: boxes[t.Class]}
	}
	return t
}

// ascii writes what is not ASCII as Unicode escapes, which Java reads anywhere.
func ascii(text string) string {
	plain := true
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] < 0x80
	}
	if plain {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// quote writes a literal of a text.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7F:
			fmt.Fprintf(&b, `\%03o`, r)
		default:
			b.WriteString(ascii(string(r)))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// maxConstant is the size in bytes of the longest constant that a class file holds (Java Virtual Machine
// Specification 4.4.7), less a reserve.
const maxConstant = 60_000

// literal writes a text as an expression: one literal for a line, one above the other. The compiler joins them, so a text
// that is too long for one constant is joined when the class is loaded.
func literal(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; last > 0 && lines[last] == "" {
		lines = lines[:last]
	}
	var parts []string
	var part strings.Builder
	size := 0
	for _, line := range lines {
		for _, piece := range pieces(line) {
			if n := constantSize(piece); size+n > maxConstant {
				parts = append(parts, part.String())
				part.Reset()
				size = 0
			}
			if size > 0 {
				part.WriteString("\n+ ")
			}
			part.WriteString(quote(piece))
			size += constantSize(piece)
		}
	}
	if parts == nil {
		return part.String()
	}
	return mark("java.lang.String") + ".join(\"\",\n" + strings.Join(append(parts, part.String()), ",\n") + ")"
}

// pieces cuts a line that is too long for a constant.
func pieces(line string) []string {
	if constantSize(line) <= maxConstant {
		return []string{line}
	}
	var all []string
	start, size := 0, 0
	for i, r := range line {
		n := constantSize(string(r))
		if size+n > maxConstant {
			all = append(all, line[start:i])
			start, size = i, 0
		}
		size += n
	}
	return append(all, line[start:])
}

// constantSize is the size of a text in a class file, at most: three bytes for each UTF-16 unit that is not ASCII.
func constantSize(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case 0 < r && r < 0x80:
			n++
		case r > 0xFFFF:
			n += 6
		default:
			n += 3
		}
	}
	return max(n, 1)
}

var javadocEscapes = strings.NewReplacer(`\`, "&#92;", "@", "&#64;", "*", "&#42;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "{", "&#123;", "}", "&#125;")

// javadoc writes a text for a documentation comment, line by line. An asterisk needs an escape only before a slash.
func javadoc(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n") {
		line = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7F {
				return ' '
			}
			return r
		}, line)
		line = javadocEscapes.Replace(strings.TrimSpace(line))
		line = strings.ReplaceAll(line, "&#42;", "*")
		line = ascii(strings.ReplaceAll(line, "*/", "&#42;/"))
		if strings.HasPrefix(line, "/") {
			line = "&#47;" + line[1:]
		}
		lines = append(lines, line)
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		if line == "" && i > 0 {
			lines[i] = "<p>"
		}
	}
	return lines
}
