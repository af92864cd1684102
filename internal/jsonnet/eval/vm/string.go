package vm

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// String is Jsonnet's string: valid UTF-8, indexed by code point. A concatenation is kept as a pair until its text is
// needed, so that building a string in a loop takes linear time.
type String struct {
	flat        string
	left, right *String // both set while the text has not been needed
	size        int     // bytes
	runes       int     // code points, -1 while unknown
	marks       []int64 // byte offset of every markStep-th code point, made on first use
}

// markStep is the distance in code points of the offsets remembered for indexing.
const markStep = 64

// markBytes is what one of these offsets takes.
const markBytes = 8

// concatLimit is the size in bytes up to which a concatenation is made at once.
const concatLimit = 48

// MaxString is the longest string in bytes, whatever the budget; it keeps sizes from overflowing.
const MaxString = 1 << 40

// Str makes a string of valid UTF-8.
func Str(s string) *String {
	return &String{flat: s, size: len(s), runes: -1}
}

// Text makes a string of any bytes; what is not UTF-8 becomes U+FFFD, byte by byte.
func Text(s string) *String {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return Str(s)
}

// Freeze makes a string safe to share: nothing about it is computed later.
func (s *String) Freeze() *String {
	s.runes = utf8.RuneCountInString(s.flat)
	if s.runes != s.size {
		s.mark(func() {})
	}
	return s
}

// Size is the length in bytes.
func (s *String) Size() int { return s.size }

// Text is the string's text. It makes the machine account for a text that is put together now.
func (m *Machine) Text(s *String) string {
	if s.right != nil {
		m.flatten(s)
	}
	return s.flat
}

// copyStep is how much text is copied between two looks at the stop flag.
const copyStep = 1 << 20

// Chunks calls f with the parts of a text, in steps that can be stopped. Parts end between two code points.
func (m *Machine) Chunks(s string, f func(part string)) {
	for len(s) > copyStep {
		m.Tick()
		n := copyStep
		for n > copyStep-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		f(s[:n])
		s = s[n:]
	}
	f(s)
}

// WriteText appends s to b in steps that can be stopped.
func (m *Machine) WriteText(b *strings.Builder, s string) {
	for len(s) > copyStep {
		m.Tick()
		b.WriteString(s[:copyStep])
		s = s[copyStep:]
	}
	b.WriteString(s)
}

func (m *Machine) flatten(s *String) {
	m.Demand(int64(s.size))
	var b strings.Builder
	m.Room(&b, s.size)
	todo := make([]*String, 0, 32)
	for cur := s; ; {
		for cur.right != nil {
			todo = append(todo, cur.right)
			cur = cur.left
		}
		m.WriteText(&b, cur.flat)
		if len(todo) == 0 {
			break
		}
		cur = todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		m.Tick()
	}
	s.flat, s.left, s.right = b.String(), nil, nil
	m.newString(s)
}

// Length is the number of code points.
func (m *Machine) Length(s *String) int {
	if s.runes < 0 {
		n := 0
		m.Chunks(m.Text(s), func(part string) { n += utf8.RuneCountInString(part) })
		s.runes = n
	}
	return s.runes
}

// IsASCII reports whether code points and bytes are the same in s.
func (m *Machine) IsASCII(s *String) bool { return m.Length(s) == s.size }

// Offset is the byte offset of code point i, for 0 <= i <= Length.
func (m *Machine) Offset(s *String, i int) int {
	if m.IsASCII(s) {
		return i
	}
	text := m.Text(s)
	if s.marks == nil {
		m.Demand(int64(s.runes / markStep * markBytes))
		s.mark(m.Tick)
		chargeFor(m, int64(markBytes*cap(s.marks)), &s.marks[0])
	}
	if i >= s.runes {
		return s.size
	}
	at := int(s.marks[i/markStep])
	for range i % markStep {
		_, w := utf8.DecodeRuneInString(text[at:])
		at += w
	}
	return at
}

func (s *String) mark(tick func()) {
	s.marks = make([]int64, 0, s.runes/markStep+1)
	n := 0
	for at := range s.flat {
		if n%markStep == 0 {
			s.marks = append(s.marks, int64(at))
			if n%copyStep == 0 {
				tick()
			}
		}
		n++
	}
}

// Substring is the text of code points from up to to, for 0 <= from <= to <= Length.
func (m *Machine) Substring(s *String, from, to int) *String {
	start := m.Offset(s, from)
	end := m.Offset(s, to)
	text := m.Text(s)[start:end]
	part := &String{flat: text, size: len(text), runes: to - from}
	if len(text) < s.size/4 {
		// A small part must not keep a large text alive.
		part.flat = strings.Clone(text)
		return m.newString(part)
	}
	return m.newView(part)
}

// ConcatStrings puts two strings together.
func (m *Machine) ConcatStrings(a, b *String, pos *Pos) *String {
	switch {
	case a.size == 0:
		return b
	case b.size == 0:
		return a
	}
	size := a.size + b.size
	runes := -1
	if a.runes >= 0 && b.runes >= 0 {
		runes = a.runes + b.runes
	}
	if size > concatLimit {
		m.DemandString(int64(size), pos)
		return m.newString(&String{left: a, right: b, size: size, runes: runes})
	}
	return m.newString(&String{flat: m.Text(a) + m.Text(b), size: size, runes: runes})
}

// The bytes counted for a String, and the size from which a text is sampled in its place. A text may outlive its String
// as the name of a field or as a part of it; shorter ones may belong to the program's constants.
const (
	stringBytes   = 96
	sampleTextsOf = 512
)

// newString counts a string with a text of its own.
func (m *Machine) newString(s *String) *String {
	switch {
	case !m.meter.Count(int64(stringBytes + len(s.flat))):
	case len(s.flat) >= sampleTextsOf:
		sample(m, unsafe.StringData(s.flat)) //nolint:gosec // only the address is used, to see when the text is collected
	default:
		sample(m, s)
	}
	return s
}

// newView counts a string whose text is, or is a part of, one that was counted already.
func (m *Machine) newView(s *String) *String {
	chargeFor(m, stringBytes, s)
	return s
}

// View makes a string of a text, or a part of one, that was counted already.
func (m *Machine) View(text string) *String {
	return m.newView(&String{flat: text, size: len(text), runes: -1})
}

// MadeOf makes a string of what was put together in buf, which must be valid UTF-8.
func (m *Machine) MadeOf(buf []byte) *String {
	m.Demand(int64(len(buf)))
	if len(buf) < large {
		return m.Made(string(buf))
	}
	var b strings.Builder
	m.Room(&b, len(buf))
	m.WriteText(&b, unsafe.String(unsafe.SliceData(buf), len(buf))) //nolint:gosec // is read, and buf is not changed meanwhile
	return m.Made(b.String())
}

// ValidText is s with what is not UTF-8 replaced, made in steps that can be stopped and are accounted for.
func (m *Machine) ValidText(s string) string {
	size, valid := 0, true
	m.Chunks(s, func(part string) {
		if utf8.ValidString(part) {
			size += len(part)
			return
		}
		valid = false
		for _, r := range part {
			size += utf8.RuneLen(r)
		}
	})
	if valid {
		return s
	}
	m.Demand(int64(size))
	var b strings.Builder
	m.Room(&b, size)
	m.Chunks(s, func(part string) {
		for _, r := range part {
			b.WriteRune(r)
		}
	})
	return b.String()
}

// Made makes a string of a text that was just put together, which must be valid UTF-8, and counts it.
func (m *Machine) Made(text string) *String {
	return m.newString(&String{flat: text, size: len(text), runes: -1})
}

// EqualStrings compares two strings.
func (m *Machine) EqualStrings(a, b *String) bool {
	return a == b || a.size == b.size && m.Text(a) == m.Text(b)
}

// CompareStrings orders two strings by code point, which is the order of their UTF-8.
func (m *Machine) CompareStrings(a, b *String) int {
	return strings.Compare(m.Text(a), m.Text(b))
}

// Frozen is the text of a string that Freeze was called on.
func (s *String) Frozen() string { return s.flat }

// ValidText is s with what is not UTF-8 replaced.
func ValidText(s string) string { return Text(s).flat }

// CountView counts a string that Str has made of a text that was counted already.
func (m *Machine) CountView(s *String) { m.newView(s) }
