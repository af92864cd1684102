package javasource

import (
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// constants reads the constants of an enum, up to the members.
func (p *parser) constants(d *parsed) {
	for !p.ended() && !p.is("}") {
		p.modifiers()
		if p.take(";") {
			return
		}
		if p.token.kind == word {
			d.Constants = append(d.Constants, p.advance().text)
		}
		for !p.ended() && !p.is(",") && !p.is(";") && !p.is("}") {
			if p.is("(") || p.is("{") || p.is("[") {
				p.skipGroup()
				continue
			}
			p.advance()
		}
		p.take(",")
	}
}

// members reads what stands in a body, up to and with its brace.
func (p *parser) members(d *parsed, depth int) {
	for !p.ended() && !p.take("}") {
		if p.take(";") {
			continue
		}
		m := p.modifiers()
		switch {
		case p.is("{"):
			p.skipGroup()
		case p.startsDeclaration():
			p.declaration(d, m, depth+1)
		default:
			p.member(d, m)
		}
	}
}

// member reads a field, a method or a constructor.
func (p *parser) member(d *parsed, m modifiers) {
	variables := p.typeParameters()
	simple := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
	if p.token.kind == word && p.token.text == simple && p.peek(1).kind == symbol && (p.peek(1).text == "(" || p.peek(1).text == "{") {
		p.advance()
		p.constructor(d, m)
		return
	}
	start := p.token
	p.modifiers()
	returns, ok := p.typ(0)
	if !ok || p.token.kind != word {
		if p.token == start {
			p.advance()
		}
		p.skipStatement()
		return
	}
	name := p.advance().text
	if !p.is("(") {
		p.skipStatement()
		return
	}
	w := writtenMethod{name: name, static: m.static, variables: variables, returns: returns}
	for _, c := range p.componentList() {
		w.parameters = append(w.parameters, c.typ)
	}
	w.returns.Dimensions += p.dimensions()
	w.throws = p.throws()
	p.body()
	if m.public || (d.Kind == Interface || d.Kind == Annotation) && !m.private {
		d.methods = append(d.methods, w)
	}
}

func (p *parser) constructor(d *parsed, m modifiers) {
	if p.is("{") { // the short form of a record
		p.skipGroup()
		return
	}
	nothing := len(p.componentList()) == 0
	p.throws()
	p.body()
	if !d.Creatable && d.Kind != Record { // a record keeps that of its components
		d.hidden = true
	}
	if m.public && nothing {
		d.hidden, d.Creatable = false, true
	}
}

func (p *parser) throws() []statement.Type {
	if !p.take("throws") {
		return nil
	}
	var all []statement.Type
	for !p.ended() {
		p.modifiers()
		t, ok := p.typ(0)
		if !ok {
			break
		}
		all = append(all, t)
		if !p.take(",") {
			break
		}
	}
	return all
}

// body moves behind the body of a method, or the semicolon of one that has none.
func (p *parser) body() {
	for !p.ended() && !p.is("}") {
		if p.is("{") {
			p.skipGroup()
			return
		}
		if p.advance().text == ";" {
			return
		}
	}
}
