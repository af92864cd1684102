package std

import (
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

var yamlReserved = []string{
	"true", "false", "yes", "no", "on", "off", "y", "n", ".nan", "-.inf", "+.inf", ".inf", "null", "-", "---", "''",
}

// yamlBareSafe reports whether a key needs no quotes: YAML must not read it as anything else than a string. What looks at
// all of a long key does so in steps that can be stopped.
func yamlBareSafe(m *vm.Machine, s string) (safe bool) {
	if s == "" || !consistsOf(m, s, isBare) {
		return false
	}
	for _, word := range yamlReserved {
		if len(s) == len(word) && strings.EqualFold(s, word) {
			return false
		}
	}
	if looksLikeDate(m, s) || looksLikeBinary(m, s) || containsHex(m, s) {
		return false
	}
	if _, err := strconv.Atoi(s); err == nil {
		return false
	}
	if !consistsOf(m, s, isOfFloat) {
		return true
	}
	awaited(m, len(s), func() {
		_, err := strconv.ParseFloat(s, 64)
		safe = err != nil
	})
	return safe
}

func consistsOf(m *vm.Machine, s string, is func(c byte) bool) (all bool) {
	all = true
	m.Chunks(s, func(part string) {
		for i := 0; all && i < len(part); i++ {
			all = is(part[i])
		}
	})
	return all
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == '_'
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || strings.IndexByte("_-/.", c) >= 0
}

// isOfFloat is about what strconv.ParseFloat accepts, "infinity" and hexadecimal digits included.
func isOfFloat(c byte) bool { return isHex(c) || strings.IndexByte("+-.xXpPinftyINFTY", c) >= 0 }

// looksLikeDate matches [0-9]*-[0-9]*-[0-9]*.
func looksLikeDate(m *vm.Machine, s string) bool {
	dashes := 0
	return consistsOf(m, s, func(c byte) bool {
		if c == '-' {
			dashes++
		}
		return dashes <= 2 && (c == '-' || isDigit(c))
	}) && dashes == 2
}

// looksLikeBinary matches [-+]?0b[0-1_]+.
func looksLikeBinary(m *vm.Machine, s string) bool {
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	digits, ok := strings.CutPrefix(s, "0b")
	return ok && digits != "" && consistsOf(m, digits, func(c byte) bool { return c == '0' || c == '1' || c == '_' })
}

// containsHex finds 0x[0-9a-fA-F_] anywhere.
func containsHex(m *vm.Machine, s string) bool {
	for {
		at := index(m, s, "0x")
		if at < 0 || at+len("0x") >= len(s) {
			return false
		}
		s = s[at+len("0x"):]
		if isHex(s[0]) {
			return true
		}
	}
}
