package source

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Space        Kind = iota // blanks, line ends, a byte order mark
	LineComment              // -- … or # …, without its line end
	BlockComment             // /* … */
	Hint                     // /*+ … */, --+ … and the executed /*! … */
	Literal                  // '…' and the other ways to write text
	QuotedName               // "…", `…`, […]
	Word                     // keywords and names
	Number
	Parameter // :name
	Question  // ?, with | or & behind it where these are operators
	Symbol    // any other character
	Separator // what ends a statement
)

// Token is a piece of a file. Broken tells that its end is missing and the text ended first.
type Token struct {
	Kind   Kind
	Broken bool
	Span
}

// Lexer cuts a text into tokens that leave nothing out. Its dialect may change between two tokens.
type Lexer struct {
	Text      string
	Dialect   Dialect
	Separator string // ends a statement, outside of literals and comments
	pos       int
	above     bool // above the SQL of a statement, where -- at the start of a line is a comment in every dialect
}

// Next returns the next token; false at the end of the text.
func (l *Lexer) Next() (Token, bool) {
	if l.pos >= len(l.Text) {
		return Token{}, false
	}
	start := l.pos
	kind, ok := l.scan()
	if l.pos <= start || l.pos > len(l.Text) {
		l.pos = min(max(l.pos, start+1), len(l.Text))
	}
	return Token{Kind: kind, Broken: !ok, Span: Span{start, l.pos}}, true
}

// scan moves behind the next token; false when its end is missing.
func (l *Lexer) scan() (Kind, bool) {
	c := l.Text[l.pos]
	if l.atSeparator() {
		l.pos += len(l.Separator)
		return Separator, true
	}
	switch {
	case isBlank(c):
		for l.pos < len(l.Text) && isBlank(l.Text[l.pos]) {
			l.pos++
		}
		return Space, true
	case c == '-' && l.at(1) == '-' && l.dashesComment():
		return l.lineComment(), true
	case c == '#' && l.Dialect.HashComments:
		return l.lineComment(), true
	case c == '/' && l.at(1) == '*':
		return l.blockComment()
	case c == '\'':
		return Literal, l.quoted('\'', l.Dialect.BackslashEscapes)
	case c == '"':
		return QuotedName, l.quoted('"', l.Dialect.BackslashEscapes)
	case c == '`' && l.Dialect.BacktickNames:
		return QuotedName, l.quoted('`', false)
	case c == '[' && l.Dialect.BracketNames:
		return QuotedName, l.quoted(']', false)
	case c == '$' && l.Dialect.DollarQuotes:
		if tag := l.dollarTag(); tag != "" {
			return Literal, l.until(tag, len(tag))
		}
	case c == ':':
		return l.colon(), true
	case c == '?':
		return l.question(), true
	case '0' <= c && c <= '9':
		l.number()
		return Number, true
	}
	return l.wordOrSymbol()
}

func (l *Lexer) wordOrSymbol() (Kind, bool) {
	r, size := utf8.DecodeRuneInString(l.Text[l.pos:])
	switch {
	case isNameStart(r):
		if open := l.prefixedLiteral(); open > 0 {
			return l.prefixed(open)
		}
		l.word()
		return Word, true
	case unicode.IsSpace(r) || r == '\uFEFF':
		l.pos += size
		return Space, true
	}
	l.pos += size
	return Symbol, true
}

// at returns the byte at a distance, 0 behind the end.
func (l *Lexer) at(distance int) byte {
	if l.pos+distance < len(l.Text) {
		return l.Text[l.pos+distance]
	}
	return 0
}

// atSeparator tells whether the separator is here. One that is a word, as GO is, must not be a part of a longer word.
func (l *Lexer) atSeparator() bool {
	sep := l.Separator
	if sep == "" || l.Text[l.pos] != sep[0] || !strings.HasPrefix(l.Text[l.pos:], sep) {
		return false
	}
	if first, _ := utf8.DecodeRuneInString(sep); isWordPart(first) {
		if before, _ := utf8.DecodeLastRuneInString(l.Text[:l.pos]); l.pos > 0 && isWordPart(before) {
			return false
		}
	}
	if last, _ := utf8.DecodeLastRuneInString(sep); isWordPart(last) {
		if rest := l.Text[l.pos+len(sep):]; rest != "" {
			after, _ := utf8.DecodeRuneInString(rest)
			return !isWordPart(after)
		}
	}
	return true
}

// dashesComment tells whether -- starts a comment here.
func (l *Lexer) dashesComment() bool {
	return !l.Dialect.DashNeedsBlank || l.pos+2 >= len(l.Text) || l.at(2) <= ' ' || l.above && startsLine(l.Text, l.pos)
}

func (l *Lexer) lineComment() Kind {
	kind := LineComment
	if strings.HasPrefix(l.Text[l.pos:], "--+") {
		kind = Hint
	}
	end := strings.IndexAny(l.Text[l.pos:], "\r\n")
	if end < 0 {
		end = len(l.Text) - l.pos
	}
	l.pos += end
	return kind
}

func (l *Lexer) blockComment() (Kind, bool) {
	kind := BlockComment
	if l.at(2) == '+' || l.at(2) == '!' && l.Dialect.CodeComments {
		kind = Hint
	}
	if !l.Dialect.NestedComments {
		return kind, l.until("*/", 2)
	}
	depth := 1
	for i := l.pos + 2; i+1 < len(l.Text); i++ {
		switch {
		case l.Text[i] == '*' && l.Text[i+1] == '/':
			i++
			if depth--; depth == 0 {
				l.pos = i + 1
				return kind, true
			}
		case l.Text[i] == '/' && l.Text[i+1] == '*':
			i++
			depth++
		}
	}
	l.pos = len(l.Text)
	return kind, false
}

// until moves behind the first occurrence of an end that is at least skip bytes away.
func (l *Lexer) until(end string, skip int) bool {
	from := min(l.pos+skip, len(l.Text))
	i := strings.Index(l.Text[from:], end)
	if i < 0 {
		l.pos = len(l.Text)
		return false
	}
	l.pos = from + i + len(end)
	return true
}

// quoted moves behind a quoted text whose quote is doubled, or with escapes follows a backslash, to stand inside it.
func (l *Lexer) quoted(quote byte, escapes bool) bool {
	for i := l.pos + 1; i < len(l.Text); i++ {
		switch c := l.Text[i]; {
		case c == '\\' && escapes:
			i++
		case c == quote && i+1 < len(l.Text) && l.Text[i+1] == quote:
			i++
		case c == quote:
			l.pos = i + 1
			return true
		}
	}
	l.pos = len(l.Text)
	return false
}

// dollarTag returns the $tag$ that starts here, or nothing: $1 is a number, and a tag never starts inside a word
// because words hold dollar signs.
func (l *Lexer) dollarTag() string {
	for i, r := range l.Text[l.pos+1:] {
		switch {
		case r == '$':
			return l.Text[l.pos : l.pos+1+i+1]
		case i == 0 && !isNameStart(r), !isNamePart(r):
			return ""
		}
	}
	return ""
}

// prefixedLiteral returns the distance of the quote of an E'…' or a q'…' that starts here, or 0.
func (l *Lexer) prefixedLiteral() int {
	first := l.at(0) | 0x20
	switch {
	case l.Dialect.EscapeStrings && first == 'e' && l.at(1) == '\'',
		l.Dialect.QuoteStrings && first == 'q' && l.at(1) == '\'':
		return 1
	case l.Dialect.QuoteStrings && first == 'n' && l.at(1)|0x20 == 'q' && l.at(2) == '\'':
		return 2
	}
	return 0
}

// prefixed moves behind a literal whose prefix says how it ends.
func (l *Lexer) prefixed(open int) (Kind, bool) {
	l.pos += open
	if l.Dialect.EscapeStrings {
		return Literal, l.quoted('\'', true)
	}
	if l.pos+1 >= len(l.Text) {
		l.pos = len(l.Text)
		return Literal, false
	}
	delimiter, size := utf8.DecodeRuneInString(l.Text[l.pos+1:])
	end := l.Text[l.pos+1 : l.pos+1+size]
	switch delimiter {
	case '[':
		end = "]"
	case '{':
		end = "}"
	case '(':
		end = ")"
	case '<':
		end = ">"
	}
	return Literal, l.until(end+"'", 1+size)
}

// colon tells a parameter from casts, slices and assignments by what stands around it.
func (l *Lexer) colon() Kind {
	before := rune(0)
	if l.pos > 0 {
		before, _ = utf8.DecodeLastRuneInString(l.Text[:l.pos])
	}
	l.pos++
	if l.pos >= len(l.Text) {
		return Symbol
	}
	after, _ := utf8.DecodeRuneInString(l.Text[l.pos:])
	if before == ':' || before == ')' || before == ']' || isWordPart(before) || !isNameStart(after) {
		return Symbol
	}
	for l.pos < len(l.Text) {
		r, size := utf8.DecodeRuneInString(l.Text[l.pos:])
		if !isNamePart(r) {
			break
		}
		l.pos += size
	}
	return Parameter
}

func (l *Lexer) question() Kind {
	l.pos++
	if l.Dialect.QuestionOperator && (l.at(0) == '|' || l.at(0) == '&') {
		l.pos++
	}
	return Question
}

// number moves behind digits and what belongs to them; 1e5 and 0x1F are one token, and so is the 1 of a[1:2].
func (l *Lexer) number() {
	for l.pos < len(l.Text) {
		c := l.Text[l.pos]
		part := c == '.' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !part {
			return
		}
		l.pos++
	}
}

func (l *Lexer) word() {
	for l.pos < len(l.Text) {
		r, size := utf8.DecodeRuneInString(l.Text[l.pos:])
		if !isWordPart(r) {
			return
		}
		l.pos += size
	}
}

func isBlank(c byte) bool   { return c == ' ' || '\t' <= c && c <= '\r' }
func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

func isNameStart(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r >= utf8.RuneSelf && unicode.IsLetter(r)
}

func isNamePart(r rune) bool {
	return isNameStart(r) || '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc)
}

// isWordPart allows what names of parameters may not hold: dollar signs.
func isWordPart(r rune) bool { return isNamePart(r) || r == '$' }
