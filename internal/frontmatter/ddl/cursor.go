package ddl

import (
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// token is a token of SQL; words are in upper case, names keep theirs.
type token struct {
	kind source.Kind
	text string // of a word in upper case
	raw  string
}

// tokens cuts SQL into tokens, without blanks and comments.
func tokens(sql string, d source.Dialect) []token {
	lexer := source.Lexer{Text: sql, Dialect: d}
	var all []token
	for t, ok := lexer.Next(); ok; t, ok = lexer.Next() {
		raw := t.Text(sql)
		switch t.Kind {
		case source.Space, source.LineComment, source.BlockComment, source.Hint:
			continue
		case source.Word:
			all = append(all, token{t.Kind, strings.ToUpper(raw), raw})
		default:
			all = append(all, token{t.Kind, raw, raw})
		}
	}
	return all
}

// cursor walks over tokens.
type cursor struct {
	all []token
	at  int
}

func (c *cursor) ended() bool { return c.at >= len(c.all) }

func (c *cursor) peek(n int) token {
	if c.at+n < len(c.all) {
		return c.all[c.at+n]
	}
	return token{kind: source.Space}
}

// is tells whether the next tokens are these words or symbols.
func (c *cursor) is(texts ...string) bool {
	for i, text := range texts {
		if t := c.peek(i); t.text != text || t.kind == source.QuotedName || t.kind == source.Literal {
			return false
		}
	}
	return true
}

func (c *cursor) take(texts ...string) bool {
	if !c.is(texts...) {
		return false
	}
	c.at += len(texts)
	return true
}

// takeAny takes words in any order and number.
func (c *cursor) takeAny(words string) {
	for t := c.peek(0); t.kind == source.Word && strings.Contains(words, " "+t.text+" "); t = c.peek(0) {
		c.at++
	}
}

// name takes a name, with the schemas before it.
func (c *cursor) name() (string, bool) {
	var parts []string
	for {
		part, ok := c.part()
		if !ok {
			return "", false
		}
		parts = append(parts, part)
		if !c.take(".") {
			return strings.Join(parts, "."), true
		}
	}
}

// part takes one name, without its quotes.
func (c *cursor) part() (string, bool) {
	t := c.peek(0)
	if t.kind != source.Word && t.kind != source.QuotedName {
		return "", false
	}
	c.at++
	if t.kind == source.Word {
		return t.raw, true
	}
	if len(t.raw) < 3 {
		return "", false
	}
	quote := t.raw[len(t.raw)-1:]
	return strings.ReplaceAll(t.raw[1:len(t.raw)-1], quote+quote, quote), true
}

// group takes what stands in parentheses and returns it; false when there are none.
func (c *cursor) group() (*cursor, bool) {
	if !c.is("(") {
		return nil, false
	}
	start, depth := c.at+1, 0
	for ; !c.ended(); c.at++ {
		switch {
		case c.is("("):
			depth++
		case c.is(")"):
			depth--
		}
		if depth == 0 {
			c.at++
			return &cursor{all: c.all[start : c.at-1]}, true
		}
	}
	return &cursor{all: c.all[start:]}, true
}

// split cuts at the commas that stand in no parentheses.
func (c *cursor) split() []*cursor {
	var parts []*cursor
	start, depth := c.at, 0
	for i := c.at; i < len(c.all); i++ {
		if c.all[i].kind != source.Symbol {
			continue
		}
		switch c.all[i].text {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 {
				parts = append(parts, &cursor{all: c.all[start:i]})
				start = i + 1
			}
		}
	}
	return append(parts, &cursor{all: c.all[start:]})
}
