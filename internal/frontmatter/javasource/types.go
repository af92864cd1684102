package javasource

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

var primitives = strings.Fields("boolean byte short int long float double char void")

// typ reads a type as it is written, with unresolved names.
func (p *parser) typ(depth int) (statement.Type, bool) {
	if depth > maxNesting {
		return statement.Type{}, false
	}
	p.modifiers()
	if p.take("?") {
		return p.wildcard(depth)
	}
	if p.token.kind != word {
		return statement.Type{}, false
	}
	var t statement.Type
	for {
		t.Class += p.advance().text
		if p.take("<") {
			t.Arguments = nil
			if !p.arguments(&t, depth) {
				return t, false
			}
		}
		if !p.is(".") || p.peek(1).kind != word && p.peek(1).text != "@" {
			break
		}
		p.advance()
		p.modifiers()
		t.Class += "."
	}
	t.Primitive = slices.Contains(primitives, t.Class)
	p.modifiers()
	t.Dimensions = p.dimensions()
	if p.take("...") {
		t.Dimensions++
	}
	return t, true
}

func (p *parser) wildcard(depth int) (statement.Type, bool) {
	t := statement.Type{Class: "?"}
	lower := p.is("super")
	if !lower && !p.is("extends") {
		return t, true
	}
	p.advance()
	bound, ok := p.typ(depth + 1)
	t.Bound, t.Lower = &bound, lower
	return t, ok
}

func (p *parser) arguments(t *statement.Type, depth int) bool {
	for !p.take(">") {
		a, ok := p.typ(depth + 1)
		if !ok {
			return false
		}
		t.Arguments = append(t.Arguments, a)
		if !p.take(",") && !p.is(">") {
			return false
		}
	}
	return true
}

// dimensions reads pairs of brackets.
func (p *parser) dimensions() int {
	n := 0
	for {
		if p.is("@") {
			p.modifiers()
		}
		if !p.is("[") || p.peek(1).text != "]" {
			return n
		}
		p.advance()
		p.advance()
		n++
	}
}
