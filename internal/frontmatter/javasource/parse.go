package javasource

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// Limits of what is read. They are far above what people write; what lies beyond them is left out.
const (
	maxNesting      = 32     // of classes, and of type arguments
	maxDeclarations = 10_000 // of a file
)

// file is a source with its declarations, whose types are not resolved yet.
type file struct {
	path         string
	pkg          string
	single       map[string]string // imported classes by their last name
	onDemand     []string          // imported packages and classes
	declarations []*parsed
	byName       map[string]*parsed // by the name below the package
}

// parsed is a declaration as it is written.
type parsed struct {
	Declaration
	outer      *parsed
	components []writtenComponent
	methods    []writtenMethod
	variables  []string // names of type parameters
	hidden     bool     // no constructor is public and takes nothing
}

type writtenComponent struct {
	name string
	typ  statement.Type
}

type writtenMethod struct {
	name       string
	static     bool
	variables  []string
	returns    statement.Type
	parameters []statement.Type
	throws     []statement.Type
}

// parser reads declarations. Nesting is followed with a counter, so that no input exhausts the stack.
type parser struct {
	lexer  lexer
	token  token
	peeked []token
	file   *file
}

// parseFile reads the declarations of a source. What it does not understand it skips.
func parseFile(path, text string) *file {
	f := &file{path: path, single: map[string]string{}, byName: map[string]*parsed{}}
	p := &parser{lexer: lexer{text: unescaped(text)}, file: f}
	p.advance()
	p.unit()
	return f
}

func (p *parser) advance() token {
	t := p.token
	if len(p.peeked) > 0 {
		p.token, p.peeked = p.peeked[0], p.peeked[1:]
	} else {
		p.token = p.lexer.next()
	}
	return t
}

// peek returns a token behind the current one, counted from 1.
func (p *parser) peek(n int) token {
	for len(p.peeked) < n {
		p.peeked = append(p.peeked, p.lexer.next())
	}
	return p.peeked[n-1]
}

func (p *parser) is(text string) bool { return p.token.kind != literal && p.token.text == text }

func (p *parser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) ended() bool { return p.token.kind == end }

// unit reads package, imports and top-level declarations.
func (p *parser) unit() {
	for !p.ended() {
		m := p.modifiers()
		switch {
		case p.take("package"):
			p.file.pkg = p.qualified()
			p.skipStatement()
		case p.take("import"):
			p.imported()
		case p.startsDeclaration():
			p.declaration(nil, m, 0)
		case p.is("{") || p.is("("):
			p.skipGroup()
		default:
			p.advance()
		}
	}
}

func (p *parser) imported() {
	if p.take("static") {
		p.skipStatement()
		return
	}
	name := p.qualified()
	if p.take("*") {
		p.file.onDemand = append(p.file.onDemand, strings.TrimSuffix(name, "."))
	} else if name != "" {
		p.file.single[name[strings.LastIndexByte(name, '.')+1:]] = name
	}
	p.skipStatement()
}

// qualified reads names with dots between them; a dot at the end stays.
func (p *parser) qualified() string {
	var b strings.Builder
	for p.token.kind == word {
		b.WriteString(p.advance().text)
		if !p.is(".") {
			break
		}
		b.WriteString(p.advance().text)
	}
	return b.String()
}

// skipStatement moves behind the semicolon at this level.
func (p *parser) skipStatement() {
	for !p.ended() {
		switch {
		case p.take(";"):
			return
		case p.is("(") || p.is("{") || p.is("["):
			p.skipGroup()
		case p.is("}"):
			return
		default:
			p.advance()
		}
	}
}

// skipGroup moves behind what is closed by the partner of the current bracket.
func (p *parser) skipGroup() {
	depth := 0
	for !p.ended() {
		t := p.advance()
		if t.kind != symbol {
			continue
		}
		switch t.text {
		case "(", "{", "[":
			depth++
		case ")", "}", "]":
			depth--
		}
		if depth <= 0 {
			return
		}
	}
}

type modifiers struct{ public, static, abstract, private bool }

// modifiers reads modifiers and annotations.
func (p *parser) modifiers() modifiers {
	var m modifiers
	for {
		switch {
		case p.is("@") && p.peek(1).text != "interface":
			p.advance()
			p.qualified()
			if p.is("(") {
				p.skipGroup()
			}
			continue
		case p.is("public"):
			m.public = true
		case p.is("static"):
			m.static = true
		case p.is("abstract"):
			m.abstract = true
		case p.is("private"):
			m.private = true
		case p.is("non") && p.peek(1).text == "-":
			p.advance()
			p.advance()
		case p.is("sealed") && p.peek(1).kind == word:
		case p.token.kind == word && slices.Contains(otherModifiers, p.token.text):
		default:
			return m
		}
		p.advance()
	}
}

var otherModifiers = strings.Fields("protected final strictfp transient volatile synchronized native default")

// startsDeclaration tells whether a class of any kind is declared here. record is a keyword only before a name and its
// components.
func (p *parser) startsDeclaration() bool {
	if p.token.kind == symbol {
		return p.is("@") && p.peek(1).text == "interface"
	}
	switch p.token.text {
	case "class", "interface", "enum":
		return p.peek(1).kind == word
	case "record":
		return p.peek(1).kind == word && (p.peek(2).text == "(" || p.peek(2).text == "<")
	}
	return false
}

// declaration reads a class of any kind.
func (p *parser) declaration(outer *parsed, m modifiers, depth int) {
	d := &parsed{outer: outer, Declaration: Declaration{Path: p.file.path, Abstract: m.abstract}}
	if p.take("@") {
		d.Kind = Annotation
	}
	switch p.advance().text {
	case "interface":
		if d.Kind != Annotation {
			d.Kind = Interface
		}
	case "enum":
		d.Kind = Enum
	case "record":
		d.Kind = Record
	}
	member := outer != nil && (outer.Kind == Interface || outer.Kind == Annotation)
	d.Public = (m.public || member) && (outer == nil || outer.Public)
	d.Static = (outer == nil || m.static || member || d.Kind != Class) && (outer == nil || outer.Static)
	d.Offset = p.token.offset
	name := p.advance().text
	if outer != nil {
		name = p.file.nested(&outer.Declaration) + "." + name
	}
	d.Name = name
	if p.file.pkg != "" {
		d.Name = p.file.pkg + "." + name
	}
	if len(p.file.declarations) < maxDeclarations {
		p.file.declarations = append(p.file.declarations, d)
		p.file.byName[name] = d
	}
	d.variables = p.typeParameters()
	d.Generic = len(d.variables) > 0
	if d.Kind == Record && p.is("(") {
		d.components = p.componentList()
		d.hidden = len(d.components) > 0 // unless a constructor takes nothing
	}
	for !p.ended() && !p.is("{") && !p.is(";") && !p.is("}") { // extends, implements, permits
		p.advance()
	}
	if !p.is("{") {
		return
	}
	if depth >= maxNesting {
		p.skipGroup()
		return
	}
	p.advance()
	if d.Kind == Enum {
		p.constants(d)
	}
	p.members(d, depth)
	d.Creatable = !d.hidden && (d.Kind == Class || d.Kind == Record) && d.Public && !d.Abstract && d.Static
}

// typeParameters reads <T extends A & B<T>, U> and returns the names.
func (p *parser) typeParameters() []string {
	if !p.take("<") {
		return nil
	}
	var names []string
	expect := true
	for depth := 1; depth > 0 && !p.ended() && !p.is("{") && !p.is(";"); {
		p.modifiers() // annotations
		switch {
		case p.is("<"):
			depth++
		case p.is(">"):
			depth--
		case p.is(",") && depth == 1:
			expect = true
		case p.token.kind == word && expect && depth == 1:
			names = append(names, p.token.text)
			expect = false
		}
		p.advance()
	}
	return names
}

// componentList reads the parameters of a record or a method.
func (p *parser) componentList() []writtenComponent {
	var all []writtenComponent
	p.advance() // (
	for !p.ended() && !p.take(")") {
		p.modifiers()
		t, ok := p.typ(0)
		if !ok || p.token.kind != word {
			p.skipParameter()
			continue
		}
		name := p.advance().text
		for p.is(".") { // the receiver Outer.this
			p.advance()
			name = p.advance().text
		}
		t.Dimensions += p.dimensions()
		if name != "this" {
			all = append(all, writtenComponent{name, t})
		}
		p.take(",")
	}
	return all
}

// skipParameter moves to the next parameter.
func (p *parser) skipParameter() {
	for !p.ended() && !p.is(")") && !p.is("}") && !p.is(";") {
		if p.take(",") {
			return
		}
		if p.is("(") || p.is("{") || p.is("[") {
			p.skipGroup()
			continue
		}
		p.advance()
	}
	if p.is("}") || p.is(";") {
		p.advance()
	}
}
