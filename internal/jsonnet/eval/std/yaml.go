package std

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

func manifestYAML(m *vm.Machine, pos *vm.Pos, v vm.Value, nested, quoteKeys bool) vm.Value {
	b := yamlWriter{buffer: newBuffer(m, pos), nested: nested, quoteKeys: quoteKeys}
	b.value(v, 0)
	return b.done()
}

func manifestYAMLStream(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	docs, ok := a[0].(*vm.Array)
	if !ok {
		m.Fail(pos, "manifestYamlStream only takes arrays, got "+vm.Kind(a[0]))
	}
	arg := func(i int) vm.Value {
		if a[i] == nil {
			return nil
		}
		return force(m, pos, a, i)
	}
	b := newBuffer(m, pos)
	b.text("---\n")
	for i := range docs.Elems {
		if i > 0 {
			b.text("\n---\n")
		}
		v, nested, quoteKeys := m.Elem(docs, i, pos), arg(1), arg(3)
		doc := manifestYAML(m, pos, v, flag(m, pos, nested, false), flag(m, pos, quoteKeys, true))
		b.text(m.Text(doc.(*vm.String)))
	}
	if flag(m, pos, arg(2), true) {
		b.text("\n...\n")
	} else {
		b.text("\n")
	}
	return b.done()
}

type yamlWriter struct {
	*buffer
	nested    bool // arrays in objects are indented
	quoteKeys bool
}

const yamlIndent = "  "

const manySpaces = "                                                                                "

func (b *yamlWriter) line(indent int) {
	b.text("\n")
	b.spaces(indent)
}

func (b *yamlWriter) spaces(n int) {
	for n > len(manySpaces) {
		b.text(manySpaces)
		n -= len(manySpaces)
	}
	b.text(manySpaces[:n])
}

func (b *yamlWriter) value(v vm.Value, indent int) {
	b.enter()
	switch v := v.(type) {
	case vm.Null:
		b.text("null")
	case vm.Bool:
		b.text(strconv.FormatBool(bool(v)))
	case vm.Number:
		b.text(strconv.FormatFloat(float64(v), 'f', -1, 64))
	case *vm.String:
		b.string(b.m.Text(v), indent)
	case *vm.Array:
		b.array(v, indent)
	case *vm.Object:
		b.object(v, indent)
	}
	b.leave()
}

func (b *yamlWriter) string(s string, indent int) {
	if s == "" {
		b.text(`""`)
		return
	}
	body, block := strings.CutSuffix(s, "\n")
	if !block {
		b.quoted(s)
		return
	}
	b.text("|")
	for {
		b.line(indent + len(yamlIndent))
		at := strings.IndexByte(body, '\n')
		if at < 0 {
			b.text(body)
			return
		}
		b.text(body[:at])
		body = body[at+1:]
	}
}

func (b *yamlWriter) array(a *vm.Array, indent int) {
	if len(a.Elems) == 0 {
		b.text("[]")
		return
	}
	for i := range a.Elems {
		if i > 0 {
			b.line(indent)
		}
		v := b.m.Elem(a, i, b.pos)
		inner := indent
		b.text("-")
		switch e := v.(type) {
		case *vm.Array:
			inner += len(yamlIndent)
			if len(e.Elems) > 0 {
				b.line(inner)
			} else {
				b.text(" ")
			}
		case *vm.Object:
			inner += len(yamlIndent)
			b.text(" ")
		default:
			b.text(" ")
		}
		b.value(v, inner)
	}
}

func (b *yamlWriter) object(o *vm.Object, indent int) {
	names := b.m.Names(o)
	if len(names) == 0 {
		b.text("{}")
		return
	}
	for i, name := range names {
		v := b.m.Field(o, name, b.pos)
		if i > 0 {
			b.line(indent)
		}
		if b.quoteKeys || !yamlBareSafe(b.m, name) {
			b.quoted(name)
		} else {
			b.text(name)
		}
		b.text(":")
		inner := indent
		switch e := v.(type) {
		case *vm.Array:
			if len(e.Elems) == 0 {
				b.text(" ")
				break
			}
			if b.nested {
				inner += len(yamlIndent)
			}
			b.line(inner)
		case *vm.Object:
			if len(b.m.Names(e)) == 0 {
				b.text(" ")
				break
			}
			inner += len(yamlIndent)
			b.line(inner)
		default:
			b.text(" ")
		}
		b.value(v, inner)
	}
}

// Patterns of keys that YAML would read as something else than a string.
var (
	yamlDate   = regexp.MustCompile(`^(?:[0-9]*-){2}[0-9]*$`)
	yamlBinary = regexp.MustCompile(`^[-+]?0b[0-1_]+$`)
	yamlHex    = regexp.MustCompile(`[-+]?0x[0-9a-fA-F_]+`)
)

var yamlReserved = []string{
	"true", "false", "yes", "no", "on", "off", "y", "n", ".nan", "-.inf", "+.inf", ".inf", "null", "-", "---", "''",
}

// yamlBareSafe reports whether a key needs no quotes. Looking at a long one takes a while.
func yamlBareSafe(m *vm.Machine, s string) (safe bool) {
	awaited(m, len(s), func() { safe = bareSafe(s) })
	return safe
}

func bareSafe(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '_', c == '-', c == '/', c == '.':
		default:
			return false
		}
	}
	for _, word := range yamlReserved {
		if strings.EqualFold(s, word) {
			return false
		}
	}
	if yamlDate.MatchString(s) || yamlBinary.MatchString(s) || yamlHex.MatchString(s) {
		return false
	}
	if _, err := strconv.Atoi(s); err == nil {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil
}
