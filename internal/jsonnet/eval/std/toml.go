package std

import (
	"strconv"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

func manifestTOML(m *vm.Machine, pos *vm.Pos, v vm.Value, indent string) vm.Value {
	o, ok := v.(*vm.Object)
	if !ok {
		m.Fail(pos, "TOML body must be an object. Got "+vm.Kind(v))
	}
	b := &tomlWriter{buffer: newBuffer(m, pos), indent: indent}
	b.table(o, nil, nil, "")
	return b.done()
}

type tomlWriter struct {
	*buffer
	indent string
}

// isSection reports whether a value becomes a table or an array of tables.
func (b *tomlWriter) isSection(v vm.Value) bool {
	switch v := v.(type) {
	case *vm.Object:
		return true
	case *vm.Array:
		for i := range v.Elems {
			if _, ok := b.m.Elem(v, i, b.pos).(*vm.Object); !ok {
				return false
			}
		}
		return len(v.Elems) > 0
	}
	return false
}

// table writes the fields of an object, and after them its sections, which are evaluated in the order of the fields
// all the same. name is the name in brackets, at the place in the value, which also counts array elements.
func (b *tomlWriter) table(o *vm.Object, name []string, at *path, indent string) {
	b.enter()
	sections := &tomlWriter{buffer: &buffer{m: b.m, pos: b.pos, depth: b.depth}, indent: b.indent}
	first := true
	for _, field := range b.m.Names(o) {
		v := b.m.Field(o, field, b.pos)
		if b.isSection(v) {
			sections.text("\n\n")
			sections.section(v, append(append(make([]string, 0, len(name)+1), name...), field), &path{at, field}, indent)
			continue
		}
		if first {
			b.text(indent)
		} else {
			b.text("\n" + indent)
		}
		first = false
		start := len(b.buf)
		b.key(field)
		b.text(" = ")
		b.value(v, &path{at, field}, false)
		b.indentFrom(start, indent)
	}
	b.text(string(sections.buf))
	b.leave()
}

func (b *tomlWriter) section(v vm.Value, name []string, at *path, indent string) {
	b.enter()
	switch v := v.(type) {
	case *vm.Object:
		b.header("[", "]", name, indent, v)
		b.table(v, name, at, indent+b.indent)
	case *vm.Array:
		for i := range v.Elems {
			if i > 0 {
				b.text("\n\n")
			}
			o := b.m.Object(b.m.Elem(v, i, b.pos), b.pos)
			b.header("[[", "]]", name, indent, o)
			b.table(o, name, &path{at, strconv.Itoa(i)}, indent+b.indent)
		}
	}
	b.leave()
}

// indentFrom indents the lines written since start, but the first.
func (b *tomlWriter) indentFrom(start int, indent string) {
	written := string(b.buf[start:])
	if indent == "" || !strings.Contains(written, "\n") {
		return
	}
	b.buf = b.buf[:start]
	b.text(strings.ReplaceAll(written, "\n", "\n"+indent))
}

func (b *tomlWriter) header(opening, closing string, name []string, indent string, o *vm.Object) {
	b.text(indent + opening)
	for i, part := range name {
		if i > 0 {
			b.text(".")
		}
		b.key(part)
	}
	b.text(closing)
	if len(b.m.Names(o)) > 0 {
		b.text("\n")
	}
}

// value writes a value on one line, or an array that is a field's value with an element a line.
func (b *tomlWriter) value(v vm.Value, at *path, inline bool) {
	b.enter()
	switch v := v.(type) {
	case vm.Null:
		b.m.Failf(b.pos, "Tried to manifest \"null\" at %s", at)
	case *vm.Function:
		b.m.Failf(b.pos, "Tried to manifest function at %s", at)
	case vm.Bool:
		b.text(strconv.FormatBool(bool(v)))
	case vm.Number:
		b.text(string(vm.AppendNumber(nil, float64(v))))
	case *vm.String:
		b.quoted(b.m.Text(v))
	case *vm.Array:
		b.array(v, at, inline)
	case *vm.Object:
		b.text("{ ")
		for i, name := range b.m.Names(v) {
			field := b.m.Field(v, name, b.pos)
			if i > 0 {
				b.text(", ")
			}
			b.key(name)
			b.text(" = ")
			b.value(field, &path{at, name}, true)
		}
		b.text(" }")
	}
	b.leave()
}

func (b *tomlWriter) array(a *vm.Array, at *path, inline bool) {
	if len(a.Elems) == 0 {
		b.text("[]")
		return
	}
	indent, sep := b.indent, "\n"
	if inline {
		indent, sep = "", " "
	}
	b.text("[" + sep)
	for i := range a.Elems {
		v := b.m.Elem(a, i, b.pos)
		if i > 0 {
			b.text("," + sep)
		}
		b.text(indent)
		b.value(v, &path{at, strconv.Itoa(i)}, true)
	}
	b.text(sep + "]")
}

func (b *tomlWriter) key(s string) {
	if s == "" {
		b.text("''")
		return
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			b.quoted(s)
			return
		}
	}
	b.text(s)
}
