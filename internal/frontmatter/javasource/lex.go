package javasource

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token of Java is.
type tokenKind uint8

const (
	end     tokenKind = iota
	word              // identifiers and keywords
	literal           // texts, characters and numbers
	symbol            // one character, but ... is one token
)

type token struct {
	kind   tokenKind
	text   string
	offset int
}

// lexer cuts Java into tokens, without blanks and comments.
type lexer struct {
	text string
	pos  int
}

func (l *lexer) next() token {
	l.skip()
	start := l.pos
	if start >= len(l.text) {
		return token{kind: end, offset: start}
	}
	kind := symbol
	r, size := utf8.DecodeRuneInString(l.text[start:])
	switch {
	case isStart(r):
		kind = word
		for l.pos < len(l.text) {
			r, size = utf8.DecodeRuneInString(l.text[l.pos:])
			if !isPart(r) {
				break
			}
			l.pos += size
		}
	case '0' <= r && r <= '9' || r == '.' && isDigit(l.at(1)):
		kind = literal
		l.number()
	case r == '"':
		kind = literal
		l.quoted()
	case r == '\'':
		kind = literal
		l.until('\'')
	case strings.HasPrefix(l.text[start:], "..."):
		l.pos += 3
	default:
		l.pos += size
	}
	return token{kind, l.text[start:l.pos], start}
}

func (l *lexer) at(distance int) byte {
	if l.pos+distance < len(l.text) {
		return l.text[l.pos+distance]
	}
	return 0
}

// skip moves behind blanks and comments.
func (l *lexer) skip() {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexAny(rest, "\r\n")
			if n < 0 {
				n = len(rest)
			}
			l.pos += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				l.pos = len(l.text)
				return
			}
			l.pos += n + 4
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != '\uFEFF' && r != '\x1A' {
				return
			}
			l.pos += size
		}
	}
}

// number moves behind a number, with its exponent's sign.
func (l *lexer) number() {
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		sign := (c == '+' || c == '-') && strings.ContainsRune("eEpP", rune(l.text[l.pos-1]))
		if c != '.' && c != '_' && !isDigit(c) && (c|0x20 < 'a' || 'z' < c|0x20) && !sign {
			return
		}
		l.pos++
	}
}

// quoted moves behind a text or a text block.
func (l *lexer) quoted() {
	if !strings.HasPrefix(l.text[l.pos:], `"""`) {
		l.until('"')
		return
	}
	for l.pos += 3; l.pos < len(l.text); l.pos++ {
		switch {
		case l.text[l.pos] == '\\':
			l.pos++
		case strings.HasPrefix(l.text[l.pos:], `"""`):
			l.pos += 3
			return
		}
	}
	l.pos = len(l.text)
}

// until moves behind a quote, at the latest to the end of the line.
func (l *lexer) until(quote byte) {
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch c := l.text[l.pos]; c {
		case '\\':
			l.pos++
		case quote:
			l.pos++
			return
		case '\n', '\r':
			return
		}
	}
	l.pos = len(l.text)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isStart(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Sc, unicode.Pc)
}

func isPart(r rune) bool {
	return isStart(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc)
}

// unescaped translates the Unicode escapes that may stand anywhere in a source (Java Language Specification 3.3). The
// offsets of what follows one are then those of the translated text, which nobody but messages uses.
func unescaped(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		digits := i + 1
		for digits < len(text) && text[digits] == 'u' {
			digits++
		}
		if code, err := strconv.ParseUint(text[digits:min(digits+4, len(text))], 16, 16); digits > i+1 && err == nil && digits+4 <= len(text) {
			b.WriteRune(rune(code))
			i = digits + 3
			continue
		}
		b.WriteByte('\\') // it escapes what follows, another backslash included
		if i++; i < len(text) {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
