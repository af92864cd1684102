package std

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

var stringFunctions = []entry{
	{"char", "n", all, char},
	{"codepoint", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Int(int(codepoint(m, a[0], pos)))
	}},
	{"substr", "str from len", all, substr},
	{"startsWith", "a b", 1, affix(func(_, _ int) int { return 0 })},
	{"endsWith", "a b", 1, affix(func(n, k int) int { return n - k })},
	{"stringChars", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return sequence(m, a[0], pos)
	}},
	{"split", "str c", 1, split},
	{"splitLimit", "str c maxsplits", all, splitLimit},
	{"splitLimitR", "str c maxsplits", all, splitLimitR},
	{"strReplace", "str from to", all, strReplace},
	{"isEmpty", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		return vm.Bool(m.String(a[0], pos).Size() == 0)
	}},
	{"equalsIgnoreCase", "str1 str2", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		x := m.Text(m.String(a[0], pos))
		y := m.Text(m.String(a[1], pos))
		same := false
		awaited(m, len(x), func() { same = strings.EqualFold(x, y) })
		return vm.Bool(same)
	}},
	{"trim", "str", all, func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		text := m.Text(m.String(a[0], pos))
		trimmed := ""
		awaited(m, len(text), func() { trimmed = strings.TrimSpace(text) })
		return part(m, trimmed)
	}},
	{"lstripChars", "str chars", all, strip(true, false)},
	{"rstripChars", "str chars", all, strip(false, true)},
	{"stripChars", "str chars", all, strip(true, true)},
	{"asciiLower", "str", all, mapASCII('A', 'Z', 'a'-'A')},
	{"asciiUpper", "str", all, mapASCII('a', 'z', -('a' - 'A'))},
	{"findSubstr", "pat str", 1, findSubstr},
}

// part is a piece of a text that is alive anyway.
func part(m *vm.Machine, s string) *vm.String { return m.View(s) }

func char(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	n := m.Number(a[0], pos)
	if n > 0x10FFFF {
		m.Fail(pos, "Invalid unicode codepoint, got "+vm.FormatG(n))
	}
	if n < 0 {
		m.Fail(pos, "Codepoints must be >= 0, got "+vm.FormatG(n))
	}
	return m.Made(string(rune(n)))
}

func codepoint(m *vm.Machine, v vm.Value, pos *vm.Pos) rune {
	s := m.String(v, pos)
	if n := m.Length(s); n != 1 {
		m.Failf(pos, "codepoint takes a string of length 1, got length %v", n)
	}
	for _, r := range m.Text(s) {
		return r
	}
	return 0
}

func substr(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	s, ok := a[0].(*vm.String)
	if !ok {
		m.Fail(pos, "substr first parameter should be a string, got "+vm.Kind(a[0]))
	}
	f, ok := a[1].(vm.Number)
	from := float64(f)
	switch {
	case !ok:
		m.Fail(pos, "substr second parameter should be a number, got "+vm.Kind(a[1]))
	case math.Mod(from, 1) != 0:
		m.Failf(pos, "substr second parameter should be an integer, got %f", from)
	case from < 0:
		m.Failf(pos, "substr second parameter should be greater than zero, got %f", from)
	}
	n, ok := a[2].(vm.Number)
	size := int(int32(n))
	switch {
	case !ok:
		m.Fail(pos, "substr third parameter should be a number, got "+vm.Kind(a[2]))
	case float64(size) != float64(n):
		m.Failf(pos, "substr third parameter should be an integer, got %f", float64(n))
	case size < 0:
		m.Failf(pos, "substr third parameter should be greater than zero, got %d", size)
	}
	total := m.Length(s)
	if from > float64(total) {
		return vm.Str("")
	}
	return m.Substring(s, int(from), min(total, int(from)+size))
}

// affix compares b with a part of a that starts where at says.
func affix(at func(n, k int) int) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		n := length(m, a[0], pos)
		k := length(m, force(m, pos, a, 1), pos)
		if n < k {
			return vm.Bool(false)
		}
		sub := substr(m, pos, []vm.Value{a[0], vm.Int(at(n, k)), vm.Int(k)})
		return vm.Bool(m.Equal(sub, a[1], pos))
	}
}

// sequence is the elements of an array or the characters of a string.
func sequence(m *vm.Machine, v vm.Value, pos *vm.Pos) *vm.Array {
	switch v := v.(type) {
	case *vm.Array:
		return v
	case *vm.String:
		return characters(m, v)
	}
	// Anything else has a length, but no elements; the program fails when it looks at one.
	elems := m.MakeElems(length(m, v, pos))
	for i := range elems {
		elems[i] = m.Lazy(notIndexable, nil, v)
	}
	return m.NewArray(elems)
}

// notIndexable is the thunk of an element of what has none.
var notIndexable = &vm.Code{Height: 1, Lazy: func(m *vm.Machine, _ *vm.Frame, v vm.Value) vm.Value {
	if _, ok := v.(*vm.Object); ok {
		m.TypeError(vm.Int(0), "string", nil)
	}
	m.NotIndexable(v, nil)
	return nil
}}

func characters(m *vm.Machine, s *vm.String) *vm.Array {
	text := m.Text(s)
	n := m.Length(s)
	m.Demand(int64(n) * 120)
	elems := m.MakeElems(n)
	i := 0
	for at, r := range text {
		if i%4096 == 0 {
			m.Tick()
		}
		end := at + runeSize(r)
		elems[i] = m.View(text[at:end])
		i++
	}
	return m.NewArray(elems)
}

func runeSize(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case r < 0x800:
		return 2
	case r < 0x10000:
		return 3
	}
	return 4
}

func split(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	if _, ok := a[0].(*vm.String); !ok {
		m.Fail(pos, "std.split first parameter must be a String, got "+vm.Kind(a[0]))
	}
	c, ok := force(m, pos, a, 1).(*vm.String)
	if !ok {
		m.Fail(pos, "std.split second parameter must be a String, got "+vm.Kind(a[1]))
	}
	if c.Size() == 0 {
		m.Fail(pos, "std.split second parameter must have length 1 or greater, got 0")
	}
	return splitLimit(m, pos, []vm.Value{a[0], a[1], vm.Num(-1)})
}

// splitArgs checks what both splits take. The limit is a number of splits.
func splitArgs(m *vm.Machine, pos *vm.Pos, a []vm.Value, name string) (text, sep string, limit int) {
	s, c := m.String(a[0], pos), m.String(a[1], pos)
	limit = m.Int(a[2], pos)
	if limit < -1 {
		m.Failf(pos, "std.%s third parameter should be -1 or non-negative, got %v", name, limit)
	}
	if limit < 0 {
		limit = math.MaxInt
	}
	text, sep = m.Text(s), m.Text(c)
	if sep == "" {
		m.Failf(pos, "std.%s second parameter should have length 1 or greater, got 0", name)
	}
	return text, sep, limit
}

func splitLimit(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	text, sep, limit := splitArgs(m, pos, a, "splitLimit")
	n := occurrences(m, text, sep, limit)
	m.Demand(int64(n) * 120)
	elems := m.MakeElems(n + 1)
	for i := range n {
		m.Tick()
		at := index(m, text, sep)
		elems[i] = part(m, text[:at])
		text = text[at+len(sep):]
	}
	elems[n] = part(m, text)
	return m.NewArray(elems)
}

func splitLimitR(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	text, sep, limit := splitArgs(m, pos, a, "splitLimitR")
	n := occurrences(m, text, sep, limit)
	m.Demand(int64(n) * 120)
	elems := m.MakeElems(n + 1)
	for i := n; i > 0; i-- {
		m.Tick()
		at := lastIndex(m, text, sep)
		elems[i] = part(m, text[at+len(sep):])
		text = text[:at]
	}
	elems[0] = part(m, text)
	return m.NewArray(elems)
}

func strReplace(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	s, from, to := m.String(a[0], pos), m.String(a[1], pos), m.String(a[2], pos)
	if from.Size() == 0 {
		m.Fail(pos, "'from' string must not be zero length.")
	}
	return replace(m, pos, s, m.Text(from), m.Text(to))
}

// replace puts the result together piece by piece, so that it can be stopped.
func replace(m *vm.Machine, pos *vm.Pos, s *vm.String, from, to string) vm.Value {
	text := m.Text(s)
	n := occurrences(m, text, from, math.MaxInt)
	if n == 0 {
		return s
	}
	size := int64(len(text)) + int64(n)*int64(len(to)-len(from))
	m.DemandString(size, pos)
	var b strings.Builder
	m.Room(&b, int(size))
	for range n {
		m.Tick()
		at := index(m, text, from)
		m.WriteText(&b, text[:at])
		m.WriteText(&b, to)
		text = text[at+len(from):]
	}
	m.WriteText(&b, text)
	return m.Made(b.String())
}

// strip removes the characters that are in chars, a string or an array, from either end.
func strip(left, right bool) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		s, ok := a[0].(*vm.String)
		if !ok {
			m.Failf(pos, "Unexpected type %s, expected string", vm.Kind(a[0]))
		}
		if chars, ok := a[1].(*vm.String); ok {
			return stripText(m, s, m.Text(chars), left, right)
		}
		from, to := 0, m.Length(s)
		in := func(i int) bool { return member(m, a[1], m.Substring(s, i, i+1), pos) }
		for left && from < to && in(from) {
			from++
		}
		for right && from < to && in(to-1) {
			to--
		}
		return m.Substring(s, from, to)
	}
}

func stripText(m *vm.Machine, s *vm.String, chars string, left, right bool) vm.Value {
	text := m.Text(s)
	in := containing(m, chars)
	for left && text != "" {
		m.Tick()
		r, n := utf8.DecodeRuneInString(text)
		if !in(r) {
			break
		}
		text = text[n:]
	}
	for right && text != "" {
		m.Tick()
		r, n := utf8.DecodeLastRuneInString(text)
		if !in(r) {
			break
		}
		text = text[:len(text)-n]
	}
	if len(text) == s.Size() {
		return s
	}
	return part(m, text)
}

func mapASCII(first, last rune, shift rune) vm.NativeFunc {
	return func(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
		conv := func(r rune) rune {
			if r >= first && r <= last {
				return r + shift
			}
			return r
		}
		if s, ok := a[0].(*vm.String); ok {
			m.DemandString(int64(s.Size()), pos)
			var b strings.Builder
			m.Chunks(m.Text(s), func(part string) { b.WriteString(strings.Map(conv, part)) })
			return m.Made(b.String())
		}
		seq := sequence(m, a[0], pos)
		var b strings.Builder
		for i := range seq.Elems {
			m.Tick()
			b.WriteRune(conv(codepoint(m, m.Elem(seq, i, pos), pos)))
		}
		return m.Made(b.String())
	}
}

func findSubstr(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	pat, ok := a[0].(*vm.String)
	if !ok {
		m.Fail(pos, "findSubstr first parameter should be a string, got "+vm.Kind(a[0]))
	}
	s, ok := force(m, pos, a, 1).(*vm.String)
	if !ok {
		m.Fail(pos, "findSubstr second parameter should be a string, got "+vm.Kind(a[1]))
	}
	var elems []vm.Value
	p, text := m.Text(pat), m.Text(s)
	if p == "" {
		return m.NewArray(nil)
	}
	index := 0
	for at, r := range text {
		if index%1024 == 0 || len(p) > longPattern {
			m.Tick()
		}
		if strings.HasPrefix(text[at:], p) {
			elems = grow(m, elems)
			elems = append(elems, vm.Int(index))
		}
		_ = r
		index++
	}
	return m.NewArray(elems)
}

// grow makes room for one more element, if memory allows.
func grow(m *vm.Machine, elems []vm.Value) []vm.Value { return vm.Grow(m, elems, 1, 16) }
