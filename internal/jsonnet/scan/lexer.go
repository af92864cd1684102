package scan

import "strings"

type kind uint8

const (
	end kind = iota
	operand
	word
	operator
	opening
	closing
	comma
	semicolon
)

type token struct {
	kind   kind
	text   string // of words, operators and brackets
	offset int
}

// lexer splits a source into tokens. Where the source is not Jsonnet (an unterminated string, say) it ends: the
// parser's own lexer will not get further either.
type lexer struct {
	source string
	at     int
}

func (l *lexer) next() token {
	l.skipBlank()
	start := l.at
	if start >= len(l.source) {
		return token{kind: end, offset: start}
	}
	rest := l.source[start:]
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		return l.operand(quoted(rest, c))
	case c == '@' && len(rest) > 1 && (rest[1] == '"' || rest[1] == '\''):
		return l.operand(1 + verbatim(rest[1:], rest[1]))
	case strings.HasPrefix(rest, "|||"):
		return l.operand(textBlock(rest))
	case isDigit(c):
		return l.operand(number(rest))
	case isWordByte(c):
		return l.run(word, isWordByte)
	case strings.IndexByte("([{", c) >= 0:
		return l.single(opening)
	case strings.IndexByte(")]}", c) >= 0:
		return l.single(closing)
	case c == ',':
		return l.single(comma)
	case c == ';':
		return l.single(semicolon)
	case c == '.' || isOperatorByte(c):
		return l.operator()
	default:
		l.at = len(l.source)
		return token{kind: end, offset: start}
	}
}

// operand is a token of n bytes; n of 0 means that it never ends.
func (l *lexer) operand(n int) token {
	start := l.at
	if n <= 0 {
		l.at = len(l.source)
		return token{kind: end, offset: start}
	}
	l.at += n
	return token{kind: operand, offset: start}
}

func (l *lexer) single(k kind) token {
	t := token{k, l.source[l.at : l.at+1], l.at}
	l.at++
	return t
}

func (l *lexer) run(k kind, in func(byte) bool) token {
	start := l.at
	for l.at < len(l.source) && in(l.source[l.at]) {
		l.at++
	}
	return token{k, l.source[start:l.at], start}
}

// operator takes operator characters up to where a comment or a text block begins.
func (l *lexer) operator() token {
	start := l.at
	if l.source[start] == '.' {
		return l.single(operator)
	}
	for l.at < len(l.source) && isOperatorByte(l.source[l.at]) {
		rest := l.source[l.at:]
		if l.at > start && (strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "|||")) {
			break
		}
		l.at++
	}
	return token{operator, l.source[start:l.at], start}
}

// skipBlank passes white space and comments.
func (l *lexer) skipBlank() {
	for l.at < len(l.source) {
		rest := l.source[l.at:]
		switch {
		case strings.IndexByte(" \t\n\r", rest[0]) >= 0:
			l.at++
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			l.at += through(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			l.at += 2 + through(rest[2:], "*/")
		default:
			return
		}
	}
}

// through is the length of text up to and including the first end, or all of it.
func through(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

func quoted(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return 0
}

// verbatim strings double their quote.
func verbatim(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i+1 == len(text) || text[i+1] != quote {
			return i + 1
		}
		i++
	}
	return -1
}

// textBlock is the length of a ||| block, which ends at the first line that is indented less than its first one.
func textBlock(text string) int {
	at := len("|||")
	if strings.HasPrefix(text[at:], "-") {
		at++
	}
	for at < len(text) && strings.IndexByte(" \t\r", text[at]) >= 0 {
		at++
	}
	if at >= len(text) || text[at] != '\n' {
		return 0
	}
	at++
	for at < len(text) && text[at] == '\n' {
		at++
	}
	indent := text[at : at+blanks(text[at:])]
	if indent == "" {
		return 0
	}
	for at < len(text) {
		line := text[at:]
		if line[0] != '\n' && !strings.HasPrefix(line, indent) {
			n := blanks(line)
			if strings.HasPrefix(line[n:], "|||") {
				return at + n + len("|||")
			}
			return 0
		}
		at += through(line, "\n")
	}
	return 0
}

func blanks(text string) int {
	return len(text) - len(strings.TrimLeft(text, " \t"))
}

// number is generous: digits, letters, points and signed exponents.
func number(text string) int {
	i := 1
	for i < len(text) {
		c := text[i]
		sign := (c == '+' || c == '-') && (text[i-1] == 'e' || text[i-1] == 'E')
		if !isDigit(c) && !sign && c != '.' && c != 'e' && c != 'E' && c != '_' {
			break
		}
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordByte(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isOperatorByte(c byte) bool { return strings.IndexByte("!$:~+-&|^=<>*/%", c) >= 0 }
