package std

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var manifestFunctions = []entry{
	{"manifestJson", "value", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return manifestJSON(m, pos, a[0], jsonStyle{"    ", "\n", ": "})
	}},
	{"manifestJsonMinified", "value", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return manifestJSON(m, pos, a[0], jsonStyle{"", "", ":"})
	}},
	{"manifestJsonEx", "value indent newline? key_val_sep?", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		style := jsonStyle{newline: "\n", colon: ": "}
		style.indent = m.Text(m.String(a[1], pos))
		if a[2] != nil {
			style.newline = m.Text(m.String(a[2], pos))
		}
		if a[3] != nil {
			style.colon = m.Text(m.String(a[3], pos))
		}
		return manifestJSON(m, pos, a[0], style)
	}},
	{"manifestYamlDoc", "value indent_array_in_object? quote_keys?", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		nested := flag(m, pos, a[1], false)
		return manifestYAML(m, pos, a[0], nested, flag(m, pos, a[2], true))
	}},
	{"manifestYamlStream", "value indent_array_in_object? c_document_end? quote_keys?", 1, manifestYAMLStream},
	{"manifestToml", "value", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return manifestTOML(m, pos, a[0], "  ")
	}},
	{"manifestTomlEx", "value indent", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return manifestTOML(m, pos, a[0], m.Text(m.String(a[1], pos)))
	}},
	{"manifestIni", "ini", all, manifestINI},
	{"manifestPython", "v", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		b := newBuffer(m, pos)
		b.python(a[0])
		return b.done()
	}},
	{"manifestPythonVars", "conf", all, manifestPythonVars},
	{"manifestXmlJsonml", "value", all, manifestXML},
}

func flag(m *vm.Machine, pos *vm.Pos, v vm.Value, missing bool) bool {
	if v == nil {
		return missing
	}
	return bool(m.Bool(v, pos))
}

// buffer collects the text of a value; the machine accounts for what it grows to.
type buffer struct {
	m     *vm.Machine
	pos   *vm.Pos
	buf   []byte
	depth int // levels left
}

func newBuffer(m *vm.Machine, pos *vm.Pos) *buffer {
	return &buffer{m: m, pos: pos, depth: m.MaxStack()}
}

func (b *buffer) text(s string) {
	if cap(b.buf)-len(b.buf) < len(s) {
		b.buf = vm.Grow(b.m, b.buf, max(256, len(s)), 1)
	}
	b.buf = append(b.buf, s...)
}

func (b *buffer) done() vm.Value { return b.m.MadeOf(b.buf) }

// quoted writes a string as a JSON literal.
func (b *buffer) quoted(s string) { b.buf = b.m.AppendQuoted(b.buf, s) }

// enter counts a level of nesting; leave undoes it.
func (b *buffer) enter() {
	if b.depth <= 0 {
		b.m.FailAs(jsonnet.StackExceeded, b.pos, "max manifest depth exceeded, possible infinite recursion")
	}
	b.depth--
	b.m.Descend(b.pos)
}

func (b *buffer) leave() {
	b.depth++
	b.m.Ascend()
}

type jsonStyle struct{ indent, newline, colon string }

func manifestJSON(m *vm.Machine, pos *vm.Pos, v vm.Value, style jsonStyle) vm.Value {
	b := newBuffer(m, pos)
	b.json(v, &style, "", nil)
	return b.done()
}

// path is where a value is, for messages.
type path struct {
	up   *path
	step string
}

func (p *path) String() string {
	var steps []string
	for ; p != nil; p = p.up {
		steps = append(steps, p.step)
	}
	for i, j := 0, len(steps)-1; i < j; i, j = i+1, j-1 {
		steps[i], steps[j] = steps[j], steps[i]
	}
	return "[" + strings.Join(steps, " ") + "]"
}

func (b *buffer) json(v vm.Value, style *jsonStyle, indent string, at *path) {
	b.enter()
	switch v := v.(type) {
	case vm.Null:
		b.text("null")
	case vm.Bool:
		b.text(strconv.FormatBool(bool(v)))
	case vm.Number:
		b.text(strconv.FormatFloat(float64(v), 'f', -1, 64))
	case *vm.String:
		b.goQuoted(b.m.Text(v))
	case *vm.Function:
		b.m.Fail(b.pos, "tried to manifest function at "+at.String())
	case *vm.Array:
		inner := indent + style.indent
		b.text("[" + style.newline)
		for i := range v.Elems {
			if i > 0 {
				b.text("," + style.newline)
			}
			b.text(inner)
			b.json(b.m.Elem(v, i, b.pos), style, inner, &path{at, strconv.Itoa(i)})
		}
		b.text(style.newline + indent + "]")
	case *vm.Object:
		inner := indent + style.indent
		b.text("{" + style.newline)
		for i, name := range b.m.Names(v) {
			field := b.m.Field(v, name, b.pos)
			if i > 0 {
				b.text("," + style.newline)
			}
			b.text(inner)
			b.goQuoted(name)
			b.text(style.colon)
			b.json(field, style, inner, &path{at, name})
		}
		b.text(style.newline + indent + "}")
	}
	b.leave()
}

// goQuoted writes a string as encoding/json does without escaping HTML.
func (b *buffer) goQuoted(s string) {
	b.text(`"`)
	b.m.Chunks(s, func(part string) { b.text(goEscaped(part)) })
	b.text(`"`)
}

func goEscaped(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return ""
	}
	return strings.TrimSuffix(buf.String()[1:], "\"\n")
}

func manifestINI(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	b := newBuffer(m, pos)
	b.depth = 1 << 30
	ini := m.Object(a[0], pos)
	if hide, ok := m.Visibility(ini, "main"); ok && hide != vm.Hidden {
		b.iniBody(m.Field(ini, "main", pos))
	}
	sections := m.Object(m.Field(ini, "sections", pos), pos)
	for _, name := range m.Names(sections) {
		b.text("[" + name + "]\n")
		b.iniBody(m.Field(sections, name, pos))
	}
	return b.done()
}

func (b *buffer) iniBody(body vm.Value) {
	o := b.m.Object(body, b.pos)
	for _, name := range b.m.Names(o) {
		v := b.m.Field(o, name, b.pos)
		arr, ok := v.(*vm.Array)
		if !ok {
			b.text(name + " = " + b.m.ToString(v, b.pos) + "\n")
			continue
		}
		for i := range arr.Elems {
			b.text(name + " = " + b.m.ToString(b.m.Elem(arr, i, b.pos), b.pos) + "\n")
		}
	}
}

func (b *buffer) python(v vm.Value) {
	size, before := b.m.Enter(nil)
	switch v := v.(type) {
	case *vm.Object:
		b.text("{")
		for i, name := range b.m.Names(v) {
			if i > 0 {
				b.text(", ")
			}
			b.quoted(name)
			b.text(": ")
			b.python(b.m.Field(v, name, b.pos))
		}
		b.text("}")
	case *vm.Array:
		b.text("[")
		for i := range v.Elems {
			if i > 0 {
				b.text(", ")
			}
			b.python(b.m.Elem(v, i, b.pos))
		}
		b.text("]")
	case *vm.String:
		b.quoted(b.m.Text(v))
	case *vm.Function:
		b.m.Fail(b.pos, "cannot manifest function")
	case vm.Number:
		b.text(string(vm.AppendNumber(nil, float64(v))))
	case vm.Bool:
		if v {
			b.text("True")
		} else {
			b.text("False")
		}
	case vm.Null:
		b.text("None")
	}
	b.m.Leave(size, before)
}

func manifestPythonVars(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	b := newBuffer(m, pos)
	conf := m.Object(a[0], pos)
	for _, name := range m.Names(conf) {
		b.text(name + " = ")
		b.python(m.Field(conf, name, pos))
		b.text("\n")
	}
	return b.done()
}

func manifestXML(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	if _, ok := a[0].(*vm.Array); !ok {
		m.Fail(pos, "Expected a JSONML value (an array), got "+vm.Kind(a[0]))
	}
	b := newBuffer(m, pos)
	b.xml(a[0])
	return b.done()
}

func (b *buffer) xml(v vm.Value) {
	m, pos := b.m, b.pos
	if s, ok := v.(*vm.String); ok {
		b.text(m.Text(s))
		return
	}
	size, before := m.Enter(nil)
	arr, ok := v.(*vm.Array)
	if !ok {
		if _, isObject := v.(*vm.Object); isObject {
			m.TypeError(vm.Int(0), "string", pos)
		}
		m.NotIndexable(v, pos)
	}
	if len(arr.Elems) == 0 {
		m.Fail(pos, "Index 0 out of bounds, not within [0, 0)")
	}
	var tag pieces
	deepJoin(m, pos, m.Elem(arr, 0, pos), &tag)
	name := m.Text(tag.join(m, pos, ""))
	b.text("<" + name)
	children := 1
	if len(arr.Elems) > 1 {
		if attrs, ok := m.Elem(arr, 1, pos).(*vm.Object); ok {
			children = 2
			for _, k := range m.Names(attrs) {
				b.text(" " + k + `="` + m.ToString(m.Field(attrs, k, pos), pos) + `"`)
			}
		}
	}
	b.text(">")
	for i := children; i < len(arr.Elems); i++ {
		b.xml(m.Elem(arr, i, pos))
	}
	b.text("</" + name + ">")
	m.Leave(size, before)
}
