package vm

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// writer collects output; the machine accounts for what it grows to.
type writer struct {
	m   *Machine
	buf []byte
}

func (w *writer) reserve(n int) {
	if cap(w.buf)-len(w.buf) < n {
		w.buf = Grow(w.m, w.buf, max(n, 256), 1)
	}
}

func (w *writer) text(s string) {
	w.reserve(len(s))
	w.buf = append(w.buf, s...)
}

// WriteJSON prints a value as the jsonnet command does, with a line feed at the end. pos is the place that needs it.
func (m *Machine) WriteJSON(v Value, pos *Pos) string {
	w := writer{m: m}
	w.value(v, pos, true, 0)
	w.text("\n")
	return m.MadeOf(w.buf).flat
}

// ToString is std.toString: a string is itself, anything else its JSON on one line.
func (m *Machine) ToString(v Value, pos *Pos) string { return m.Text(m.toString(v, pos)) }

func (m *Machine) toString(v Value, pos *Pos) *String {
	switch v := v.(type) {
	case *String:
		return v
	case Number:
		return m.Made(string(AppendNumber(nil, float64(v))))
	}
	w := writer{m: m}
	w.value(v, pos, false, 0)
	return m.MadeOf(w.buf)
}

const spaces = "                                                                "

func (w *writer) indent(n int) {
	for n > len(spaces) {
		w.text(spaces)
		n -= len(spaces)
	}
	w.text(spaces[:n])
}

// value prints v. Each level is a call, so that the call depth bounds the depth of data.
func (w *writer) value(v Value, pos *Pos, lines bool, indent int) {
	m := w.m
	switch v := v.(type) {
	case Null:
		w.text("null")
	case Bool:
		w.text(strconv.FormatBool(bool(v)))
	case Number:
		w.reserve(32)
		w.buf = AppendNumber(w.buf, float64(v))
	case *String:
		w.quoted(m.Text(v))
	case *Function:
		m.enter(pos, false, nativeHeight)
		m.Fail(nil, "couldn't manifest function as JSON")
	case *Array:
		before := m.enter(pos, false, nativeHeight)
		size := len(m.stack)
		w.array(v, lines, indent)
		m.leave(size, before)
	case *Object:
		before := m.enter(pos, false, nativeHeight)
		size := len(m.stack)
		w.object(v, lines, indent)
		m.leave(size, before)
	}
}

func (w *writer) array(a *Array, lines bool, indent int) {
	if len(a.Elems) == 0 {
		w.text("[ ]")
		return
	}
	w.open('[', lines)
	for i := range a.Elems {
		w.m.Tick()
		if i > 0 {
			w.comma(lines)
		}
		if lines {
			w.indent(indent + 3)
		}
		w.value(w.m.Elem(a, i, nil), nil, lines, indent+3)
	}
	w.close(']', lines, indent)
}

func (w *writer) object(o *Object, lines bool, indent int) {
	m := w.m
	m.CheckAsserts(o, nil)
	names := m.Names(o)
	if len(names) == 0 {
		w.text("{ }")
		return
	}
	w.open('{', lines)
	for i, name := range names {
		m.Tick()
		if i > 0 {
			w.comma(lines)
		}
		if lines {
			w.indent(indent + 3)
		}
		w.quoted(name)
		w.text(": ")
		w.value(m.Field(o, name, nil), nil, lines, indent+3)
	}
	w.close('}', lines, indent)
}

func (w *writer) open(c byte, lines bool) {
	w.reserve(2)
	w.buf = append(w.buf, c)
	if lines {
		w.buf = append(w.buf, '\n')
	}
}

func (w *writer) comma(lines bool) {
	if lines {
		w.text(",\n")
		return
	}
	w.text(", ")
}

func (w *writer) close(c byte, lines bool, indent int) {
	if lines {
		w.text("\n")
		w.indent(indent)
	}
	w.reserve(1)
	w.buf = append(w.buf, c)
}

func (w *writer) quoted(s string) { w.buf = w.m.AppendQuoted(w.buf, s) }

// AppendNumber appends a number as Jsonnet prints it.
func AppendNumber(b []byte, f float64) []byte {
	if f == math.Floor(f) {
		if math.Abs(f) < 1<<53 && (f != 0 || !math.Signbit(f)) {
			return strconv.AppendInt(b, int64(f), 10)
		}
		return strconv.AppendFloat(b, f, 'f', 0, 64)
	}
	return strconv.AppendFloat(b, f, 'g', 17, 64)
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends a string as a JSON literal, as Quote does, in steps that can be stopped and are accounted for.
func (m *Machine) AppendQuoted(b []byte, s string) []byte {
	b = append(Grow(m, b, len(s)+2, 1), '"')
	m.Chunks(s, func(part string) {
		// An escape takes up to six bytes; that they all are is too rare to reserve for in short texts.
		if len(part) >= copyStep/2 {
			b = Grow(m, b, 6*len(part), 1)
		}
		b = appendEscaped(b, part)
	})
	return append(b, '"')
}

// Quote returns a string as a JSON literal, with the escapes Jsonnet uses.
func Quote(s string) string {
	return string(append(appendEscaped([]byte{'"'}, s), '"'))
}

func appendEscaped(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		r, w := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, w = utf8.DecodeRuneInString(s[i:]); r > 0x9f {
				i += w
				continue
			}
		}
		b = append(b, s[start:i]...)
		b = appendEscape(b, r)
		i += w
		start = i
	}
	return append(b, s[start:]...)
}

func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"':
		return append(b, '\\', '"')
	case '\\':
		return append(b, '\\', '\\')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[r>>4&15], hexDigits[r&15])
}
