package std

import (
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var textFunctions = []entry{
	{"format", "str vals", 0, format},
	{"join", "sep arr", all, join},
	{"lines", "arr", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		arr := m.Plus(a[0], m.NewArray([]vm.Value{vm.Str("")}), pos)
		return join(m, pos, []vm.Value{vm.Str("\n"), arr})
	}},
	{"deepJoin", "arr", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		var p pieces
		deepJoin(m, pos, a[0], &p)
		return p.join(m, pos, "")
	}},
	{"repeat", "what count", 1, repeat},
	{"resolvePath", "f r", 1, resolvePath},
	{"escapeStringJson", "str_", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return quote(m, m.ToString(a[0], pos), pos)
	}},
	{"escapeStringPython", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return quote(m, m.ToString(a[0], pos), pos)
	}},
	{"escapeStringBash", "str_", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		s := replace(m, pos, toString(m, a[0], pos), "'", `'"'"'`)
		return m.ConcatStrings(m.ConcatStrings(vm.Str("'"), s.(*vm.String), pos), vm.Str("'"), pos)
	}},
	{"escapeStringDollars", "str_", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return replace(m, pos, toString(m, a[0], pos), "$", "$$")
	}},
	{"escapeStringXML", "str_", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		b := newBuffer(m, pos)
		m.Chunks(m.ToString(a[0], pos), func(part string) { b.text(xmlEscapes.Replace(part)) })
		return b.done()
	}},
}

var xmlEscapes = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&apos;")

func quote(m *vm.Machine, s string, pos *vm.Pos) *vm.String {
	m.DemandString(int64(len(s))+2, pos)
	return m.MadeOf(m.AppendQuoted(nil, s))
}

// pieces are strings to be joined.
type pieces struct {
	texts []string
	size  int64
	asked int64 // the size up to which there was memory
}

// askEvery is how many bytes of pieces are collected between two looks at whether there is memory to join them.
const askEvery = 1 << 20

func (p *pieces) add(m *vm.Machine, s string) {
	p.texts = append(vm.Grow(m, p.texts, 1, 16), s)
	p.size += int64(len(s))
	if p.size-p.asked >= askEvery {
		m.Demand(p.size)
		p.asked = p.size
	}
}

func (p *pieces) join(m *vm.Machine, pos *vm.Pos, sep string) *vm.String {
	if len(p.texts) > 1 {
		p.size += int64(len(sep)) * int64(len(p.texts)-1)
	}
	m.DemandString(p.size, pos)
	var b strings.Builder
	m.Room(&b, int(p.size))
	for i, s := range p.texts {
		if i > 0 {
			m.WriteText(&b, sep)
		}
		m.Tick()
		m.WriteText(&b, s)
	}
	return m.Made(b.String())
}

func join(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	arr := m.Array(a[1], pos)
	switch sep := a[0].(type) {
	case *vm.String:
		return joinStrings(m, pos, m.Text(sep), arr)
	case *vm.Array:
		return joinArrays(m, pos, sep, arr)
	}
	m.Fail(pos, "join first parameter should be string or array, got "+vm.Kind(a[0]))
	return nil
}

func joinStrings(m *vm.Machine, pos *vm.Pos, sep string, arr *vm.Array) vm.Value {
	p := pieces{texts: make([]string, 0, min(len(arr.Elems), 1024))}
	for i := range arr.Elems {
		m.Tick()
		switch v := m.Elem(arr, i, pos).(type) {
		case vm.Null:
		case *vm.String:
			p.add(m, m.Text(v))
		default:
			m.TypeError(v, "string", pos)
		}
	}
	return p.join(m, pos, sep)
}

func joinArrays(m *vm.Machine, pos *vm.Pos, sep, arr *vm.Array) vm.Value {
	parts := make([]*vm.Array, 0, len(arr.Elems))
	total := int64(0)
	for i := range arr.Elems {
		m.Tick()
		switch v := m.Elem(arr, i, pos).(type) {
		case vm.Null:
		case *vm.Array:
			parts = append(parts, v)
			total += int64(len(v.Elems)) + int64(len(sep.Elems))
		default:
			m.TypeError(v, "array", pos)
		}
	}
	m.Demand(24 * total)
	elems := vm.MakeSlice[vm.Value](m, 0, int(total))
	for i, p := range parts {
		m.Tick()
		if i > 0 {
			elems = vm.Append(m, elems, sep.Elems)
		}
		elems = vm.Append(m, elems, p.Elems)
	}
	return m.NewArray(elems)
}

func deepJoin(m *vm.Machine, pos *vm.Pos, v vm.Value, p *pieces) {
	switch v := v.(type) {
	case *vm.String:
		p.add(m, m.Text(v))
	case *vm.Array:
		m.Descend(pos)
		for i := range v.Elems {
			m.Tick()
			deepJoin(m, pos, m.Elem(v, i, pos), p)
		}
		m.Ascend()
	default:
		m.Fail(pos, "Expected string or array, got "+vm.Kind(v))
	}
}

func repeat(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	var n int
	switch a[0].(type) {
	case *vm.String, *vm.Array:
		n = max(0, m.Int(force(m, pos, a, 1), pos))
	default:
		m.Fail(pos, "std.repeat first argument must be an array or a string")
	}
	if s, ok := a[0].(*vm.String); ok {
		text := m.Text(s)
		m.DemandString(int64(len(text))*int64(n), pos)
		if n == 1 {
			return s
		}
		return m.Made(repeated(m, text, n))
	}
	arr := a[0].(*vm.Array)
	m.Demand(24 * int64(len(arr.Elems)) * int64(n))
	elems := vm.MakeSlice[vm.Value](m, 0, len(arr.Elems)*n)
	for range n {
		m.Tick()
		elems = vm.Append(m, elems, arr.Elems)
	}
	return m.NewArray(elems)
}

// repeated is strings.Repeat in steps that can be stopped.
func repeated(m *vm.Machine, text string, n int) string {
	const step = 1 << 20
	if len(text)*n <= step || text == "" {
		return strings.Repeat(text, n)
	}
	var b strings.Builder
	m.Room(&b, len(text)*n)
	per := max(1, step/len(text))
	part := strings.Repeat(text, min(per, n))
	for ; n >= per; n -= per {
		m.WriteText(&b, part)
		m.Tick()
	}
	m.WriteText(&b, part[:n*len(text)])
	return b.String()
}

func resolvePath(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	dir := split(m, pos, []vm.Value{a[0], vm.Str("/")}).(*vm.Array)
	elems := append(append([]vm.Value{}, dir.Elems[:len(dir.Elems)-1]...), a[1])
	return join(m, pos, []vm.Value{vm.Str("/"), m.NewArray(elems)})
}
