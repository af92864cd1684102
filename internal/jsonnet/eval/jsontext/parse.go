package jsontext

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// MaxDepth is the nesting up to which documents are read.
const MaxDepth = 10_000

// builder makes the results of a parser.
type builder[T any] interface {
	scalar(v vm.Value) T
	array(elems []T) T
	// object gets names that may repeat and says whether it takes them.
	object(names []string, values []T) (T, bool)
	// room makes room for one more element.
	room(elems []T) []T
	// tick is called at least once for every few kilobytes that are read.
	tick(n int)
	// reserve is called before n bytes are allocated for a string.
	reserve(n int)
}

type parser[T any] struct {
	text  string
	at    int
	depth int
	build builder[T]
}

func parse[T any](text string, b builder[T]) (result T, ok bool) {
	p := parser[T]{text: text, build: b}
	p.space()
	if result, ok = p.value(); !ok {
		return result, false
	}
	p.space()
	return result, p.at == len(text)
}

func (p *parser[T]) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.step(p.at)
			p.at++
		default:
			return
		}
	}
}

// stepBytes is how much is read between two ticks; a power of two.
const stepBytes = 4096

// step ticks when the reader at offset i has read so much.
func (p *parser[T]) step(i int) {
	if i&(stepBytes-1) == 0 {
		p.build.tick(stepBytes)
	}
}

func (p *parser[T]) value() (result T, ok bool) {
	if p.at >= len(p.text) {
		return result, false
	}
	p.build.tick(1)
	switch c := p.text[p.at]; c {
	case '{', '[':
		if p.depth++; p.depth > MaxDepth {
			return result, false
		}
		defer func() { p.depth-- }()
		p.at++
		if c == '[' {
			return p.array()
		}
		return p.object()
	case '"':
		s, ok := p.string()
		if !ok {
			return result, false
		}
		return p.build.scalar(vm.Str(s)), true
	case 't':
		return p.word("true", vm.Bool(true))
	case 'f':
		return p.word("false", vm.Bool(false))
	case 'n':
		return p.word("null", vm.Null{})
	default:
		return p.number()
	}
}

func (p *parser[T]) word(word string, v vm.Value) (result T, ok bool) {
	if len(p.text)-p.at < len(word) || p.text[p.at:p.at+len(word)] != word {
		return result, false
	}
	p.at += len(word)
	return p.build.scalar(v), true
}

// next steps over a comma, or over the closing character and reports the end.
func (p *parser[T]) next(closing byte) (end, ok bool) {
	p.space()
	if p.at >= len(p.text) {
		return false, false
	}
	c := p.text[p.at]
	p.at++
	return c == closing, c == closing || c == ','
}

// empty steps over the closing character if it is next.
func (p *parser[T]) empty(closing byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == closing {
		p.at++
		return true
	}
	return false
}

func (p *parser[T]) array() (result T, ok bool) {
	if p.empty(']') {
		return p.build.array(nil), true
	}
	var elems []T
	for {
		p.space()
		v, ok := p.value()
		if !ok {
			return result, false
		}
		elems = append(p.build.room(elems), v)
		end, ok := p.next(']')
		if !ok {
			return result, false
		}
		if end {
			return p.build.array(elems), true
		}
	}
}

func (p *parser[T]) object() (result T, ok bool) {
	if p.empty('}') {
		return p.build.object(nil, nil)
	}
	var names []string
	var values []T
	for {
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return result, false
		}
		name, ok := p.string()
		if !ok {
			return result, false
		}
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != ':' {
			return result, false
		}
		p.at++
		p.space()
		v, ok := p.value()
		if !ok {
			return result, false
		}
		names, values = append(names, name), append(p.build.room(values), v)
		end, ok := p.next('}')
		if !ok {
			return result, false
		}
		if end {
			return p.build.object(names, values)
		}
	}
}

func (p *parser[T]) digits() bool {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.step(p.at)
		p.at++
	}
	return p.at > start
}

func (p *parser[T]) number() (result T, ok bool) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '0' {
		p.at++
	} else if !p.digits() {
		return result, false
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if !p.digits() {
			return result, false
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if !p.digits() {
			return result, false
		}
	}
	f, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil {
		return result, false
	}
	return p.build.scalar(vm.Num(f)), true
}

// string reads a literal. One without escapes shares the document's memory.
func (p *parser[T]) string() (string, bool) {
	start := p.at + 1
	for i := start; i < len(p.text); {
		p.step(i)
		switch c := p.text[i]; {
		case c == '"':
			p.at = i + 1
			return p.text[start:i], true
		case c == '\\':
			return p.escaped(start, i)
		case c < 0x20:
			return "", false
		case c < utf8.RuneSelf:
			i++
		default:
			r, w := utf8.DecodeRuneInString(p.text[i:])
			if r == utf8.RuneError && w == 1 {
				return "", false
			}
			i += w
		}
	}
	return "", false
}

// escaped reads the rest of a literal from its first backslash.
func (p *parser[T]) escaped(start, i int) (string, bool) {
	size := p.closing(i) - start // no escape is shorter than what it stands for
	p.build.reserve(size)
	var buf strings.Builder
	buf.Grow(size)
	buf.WriteString(p.text[start:i])
	for i < len(p.text) {
		p.step(i)
		switch c := p.text[i]; {
		case c == '"':
			p.at = i + 1
			return buf.String(), true
		case c < 0x20:
			return "", false
		case c != '\\':
			r, w := utf8.DecodeRuneInString(p.text[i:])
			if r == utf8.RuneError && w == 1 {
				return "", false
			}
			buf.WriteString(p.text[i : i+w])
			i += w
		default:
			r, w := p.escape(i + 1)
			if w == 0 {
				return "", false
			}
			buf.WriteRune(r)
			i += 1 + w
		}
	}
	return "", false
}

// closing is the offset of the quote that ends the literal that i is in.
func (p *parser[T]) closing(i int) int {
	for ; i < len(p.text) && p.text[i] != '"'; i++ {
		p.step(i)
		if p.text[i] == '\\' {
			i++
		}
	}
	return min(i, len(p.text))
}

// escape reads what follows a backslash and returns its length, 0 if it has no agreed meaning.
func (p *parser[T]) escape(i int) (rune, int) {
	if i >= len(p.text) {
		return 0, 0
	}
	switch p.text[i] {
	case '"', '\\', '/':
		return rune(p.text[i]), 1
	case 'b':
		return '\b', 1
	case 'f':
		return '\f', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'u':
	default:
		return 0, 0
	}
	r, ok := p.hex(i + 1)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if i+6 < len(p.text) && p.text[i+5] == '\\' && p.text[i+6] == 'u' {
		if low, ok := p.hex(i + 7); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, 11
			}
		}
	}
	return 0, 0
}

func (p *parser[T]) hex(i int) (rune, bool) {
	if i+4 > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[i:i+4], 16, 16)
	return rune(n), err == nil
}
