package std

import (
	"strconv"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// directive is a "%" of a format string, or the text before one.
type directive struct {
	text  string // only this if kind is 0
	kind  byte
	caps  bool
	key   string
	named bool

	alt, zero, left, blank, plus bool
	width, precision             param
}

// param is a width or precision.
type param struct {
	n    float64
	set  bool
	star bool // taken from the values
}

func format(m *vm.Machine, pos *vm.Pos, a []vm.Value) vm.Value {
	f := &formatter{m: m, pos: pos}
	vals := force(m, pos, a, 1)
	codes := f.codes(force(m, pos, a, 0))
	switch v := vals.(type) {
	case *vm.Array:
		f.array(codes, v)
	case *vm.Object:
		f.object(codes, v)
	default:
		f.array(codes, m.NewArray([]vm.Value{vals}))
	}
	return f.out.join(m, pos, "")
}

// directiveBytes is what a directive takes.
const directiveBytes = 128

type formatter struct {
	m   *vm.Machine
	pos *vm.Pos
	out pieces
}

// codes analyses a format. Of an array the language makes a text without directives.
func (f *formatter) codes(v vm.Value) []directive {
	if s, ok := v.(*vm.String); ok {
		return f.parse(f.m.Text(s))
	}
	var p pieces
	seq := sequence(f.m, v, f.pos)
	for i := range seq.Elems {
		p.add(f.m, f.m.ToString(f.m.Elem(seq, i, f.pos), f.pos))
	}
	return []directive{{text: f.m.Text(p.join(f.m, f.pos, ""))}}
}

// parse splits a format string. Formats are short and often repeated, so the machine remembers them.
func (f *formatter) parse(text string) []directive {
	if codes, ok := f.m.Memo(text).([]directive); ok {
		return codes
	}
	s := scanner{text: text, fail: func(message string) { f.m.Fail(f.pos, message) }}
	var codes []directive
	for {
		f.m.Tick()
		codes = vm.Grow(f.m, codes, 2, directiveBytes)
		at := strings.IndexByte(text[s.at:], '%')
		if at < 0 {
			codes = append(codes, directive{text: text[s.at:]})
			break
		}
		codes = append(codes, directive{text: text[s.at : s.at+at]})
		s.at += at + 1
		codes = append(codes, s.directive())
	}
	f.m.Remember(text, codes)
	return codes
}

// scanner reads directives.
type scanner struct {
	text string
	at   int
	fail func(message string)
}

func (s *scanner) peek() byte {
	if s.at >= len(s.text) {
		s.fail("Truncated format code.")
	}
	return s.text[s.at]
}

func (s *scanner) directive() directive {
	var d directive
	if s.peek() == '(' {
		end := strings.IndexByte(s.text[s.at:], ')')
		if end < 0 {
			s.fail("Truncated format code.")
		}
		d.key, d.named = s.text[s.at+1:s.at+end], true
		s.at += end + 1
	}
	for flag := s.flag(&d); flag; flag = s.flag(&d) {
		s.at++
	}
	d.width = s.number()
	d.width.set = true
	if s.peek() == '.' {
		s.at++
		d.precision = s.number()
		d.precision.set = true
	}
	switch s.peek() {
	case 'h', 'l', 'L':
		s.at++
	}
	s.kind(&d)
	return d
}

func (s *scanner) flag(d *directive) bool {
	switch s.peek() {
	case '#':
		d.alt = true
	case '0':
		d.zero = true
	case '-':
		d.left = true
	case ' ':
		d.blank = true
	case '+':
		d.plus = true
	default:
		return false
	}
	return true
}

func (s *scanner) number() param {
	if s.at < len(s.text) && s.text[s.at] == '*' {
		s.at++
		return param{star: true}
	}
	var p param
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		p.n = p.n*10 + float64(c-'0')
		s.at++
	}
	return p
}

func (s *scanner) kind(d *directive) {
	c := s.peek()
	switch c {
	case 'd', 'i', 'u':
		d.kind = 'd'
	case 'o', 'x', 'e', 'f', 'g', 'c', 's', '%':
		d.kind = c
	case 'X', 'E', 'F', 'G':
		d.kind, d.caps = c+'a'-'A', true
	default:
		for _, r := range s.text[s.at:] {
			s.fail("Unrecognised conversion type: " + string(r))
		}
	}
	s.at++
}

// array formats the values of an array in order.
func (f *formatter) array(codes []directive, arr *vm.Array) {
	m, n := f.m, len(arr.Elems)
	j := 0
	for i := range codes {
		d := &codes[i]
		if d.kind == 0 {
			f.out.add(m, d.text)
			continue
		}
		star := func(p *param) func() vm.Value {
			if !p.star {
				return func() vm.Value { return vm.Num(p.n) }
			}
			at := j
			j++
			return func() vm.Value {
				if at >= n {
					m.Failf(f.pos, "Not enough values to format: %d, expected at least %d", n, at)
				}
				return m.Elem(arr, at, f.pos)
			}
		}
		width, precision := star(&d.width), star(&d.precision)
		at := j
		value := func() vm.Value {
			if at >= n {
				m.Failf(f.pos, "Not enough values to format: %d, expected more than %d", n, at)
			}
			return m.Elem(arr, at, f.pos)
		}
		f.one(d, value, width, precision, func() string { return strconv.Itoa(at) })
		if d.kind != '%' {
			j++
		}
	}
	if j < n {
		m.Failf(f.pos, "Too many values to format: %d, expected %d", n, j)
	}
}

// object formats the fields that the directives name.
func (f *formatter) object(codes []directive, o *vm.Object) {
	m := f.m
	for i := range codes {
		d := &codes[i]
		if d.kind == 0 {
			f.out.add(m, d.text)
			continue
		}
		key := func() string {
			if !d.named {
				m.Fail(f.pos, "Mapping keys required.")
			}
			return d.key
		}
		star := func(p *param, what string) func() vm.Value {
			return func() vm.Value {
				if p.star {
					m.Fail(f.pos, "Cannot use * "+what+" with object.")
				}
				return vm.Num(p.n)
			}
		}
		value := func() vm.Value {
			if _, ok := m.Visibility(o, key()); !ok {
				m.Fail(f.pos, "No such field: "+key())
			}
			return m.Field(o, key(), f.pos)
		}
		f.one(d, value, star(&d.width, "field width"), star(&d.precision, "precision"), key)
	}
}

// one formats a value and pads it. Width and value are evaluated in the order of the language's own definition.
func (f *formatter) one(d *directive, value, width, precision func() vm.Value, where func() string) {
	m := f.m
	if d.kind == 's' && !d.width.star && d.width.n == 0 {
		f.out.add(m, m.ToString(value(), f.pos))
		return
	}
	var given vm.Value
	if !d.left {
		given = width()
	}
	text := "%"
	if d.kind != '%' {
		text = f.convert(d, value(), width, precision, where)
	}
	if d.left {
		given = width()
	}
	w := m.Number(given, f.pos)
	n := m.Length(vm.Str(text))
	if !d.left {
		f.pad(w-float64(n), " ")
	}
	f.out.add(m, text)
	if d.left {
		f.pad(w-float64(n), " ")
	}
}

func (f *formatter) pad(n float64, with string) {
	if n > 0 {
		f.out.add(f.m, padding(f.m, f.pos, n, with))
	}
}

// padding repeats a character until n is used up.
func padding(m *vm.Machine, pos *vm.Pos, n float64, with string) string {
	if n <= 0 {
		return ""
	}
	if n > 1<<31 {
		m.DemandString(1<<41, pos)
	}
	count := int(n)
	if float64(count) < n {
		count++
	}
	m.DemandString(int64(count), pos)
	return repeated(m, with, count)
}
