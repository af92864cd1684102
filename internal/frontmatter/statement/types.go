package statement

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

// Type is a parsed Java type.
type Type struct {
	Class      string // qualified, or a primitive; "?" for a wildcard
	Primitive  bool
	Arguments  []Type
	Dimensions int
	Bound      *Type // of a wildcard
	Lower      bool  // the bound is a lower one
}

// Alias is a short name of a class.
type Alias struct{ Name, Class string }

// Aliases returns the short names that types may use, in alphabetical order.
func Aliases() []Alias { return aliases }

var primitives = strings.Fields("boolean byte short int long float double char")

// langNames are the names of java.lang that make sense as types of values.
var langNames = strings.Fields("Boolean Byte CharSequence Character Comparable Double Enum Float Integer Iterable Long Number Object Record Short String Void")

var aliases = []Alias{
	{"bigdecimal", "java.math.BigDecimal"},
	{"biginteger", "java.math.BigInteger"},
	{"bytes", "byte[]"},
	{"collection", "java.util.Collection"},
	{"date", "java.sql.Date"},
	{"duration", "java.time.Duration"},
	{"instant", "java.time.Instant"},
	{"integer", "java.lang.Integer"},
	{"list", "java.util.List"},
	{"localdate", "java.time.LocalDate"},
	{"localdatetime", "java.time.LocalDateTime"},
	{"localtime", "java.time.LocalTime"},
	{"map", "java.util.Map"},
	{"object", "java.lang.Object"},
	{"offsetdatetime", "java.time.OffsetDateTime"},
	{"offsettime", "java.time.OffsetTime"},
	{"period", "java.time.Period"},
	{"set", "java.util.Set"},
	{"string", "java.lang.String"},
	{"time", "java.sql.Time"},
	{"timestamp", "java.sql.Timestamp"},
	{"uri", "java.net.URI"},
	{"url", "java.net.URL"},
	{"uuid", "java.util.UUID"},
	{"year", "java.time.Year"},
	{"yearmonth", "java.time.YearMonth"},
	{"zoneddatetime", "java.time.ZonedDateTime"},
}

// collections may be written bare, because parameters that expand in `in (…)` have these types.
var collections = strings.Fields("List Set Collection Map")

// TypeNames returns the names that may stand for a type without a package, the most common ones first.
func TypeNames() []string {
	names := slices.Concat(primitives, nil)
	for _, a := range aliases {
		names = append(names, a.Name)
	}
	return slices.Concat(names, langNames, collections)
}

// TypeError is what is wrong with a type, and the name that was probably meant.
type TypeError struct {
	Message  string
	Wrong    string // the part that is wrong
	Suggest  string
	Position int // of the part, in bytes
}

func (e *TypeError) Error() string { return e.Message }

// ParseType reads a type.
func ParseType(text string) (Type, error) {
	p := typeParser{text: text}
	t, err := p.parse(0)
	if err == nil && p.skip() < len(text) {
		err = p.fail("%q is left over behind the type", text[p.at:])
	}
	return t, err
}

const maxTypeDepth = 10

type typeParser struct {
	text string
	at   int
}

func (p *typeParser) fail(format string, args ...any) error {
	return &TypeError{Message: fmt.Sprintf(format, args...), Position: p.at}
}

func (p *typeParser) skip() int {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	return p.at
}

func (p *typeParser) take(token string) bool {
	p.skip()
	if strings.HasPrefix(p.text[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

func (p *typeParser) parse(depth int) (Type, error) {
	if depth > maxTypeDepth {
		return Type{}, p.fail("the type nests too deeply")
	}
	if p.take("?") {
		return p.wildcard(depth)
	}
	start := p.skip()
	t, err := p.name()
	if err != nil {
		return t, err
	}
	if p.take("<") {
		if t.Primitive {
			p.at = start
			return t, p.fail("%s has no type arguments", t.Class)
		}
		if t.Arguments, err = p.arguments(depth); err != nil {
			return t, err
		}
	}
	for p.take("[") {
		if !p.take("]") {
			return t, p.fail("an array is written []")
		}
		t.Dimensions++
	}
	return t, nil
}

func (p *typeParser) wildcard(depth int) (Type, error) {
	t := Type{Class: "?"}
	if depth == 0 {
		p.at--
		return t, p.fail("a wildcard stands only between < and >")
	}
	upper := p.take("extends ")
	if !upper && !p.take("super ") {
		return t, nil
	}
	bound, err := p.parse(depth + 1)
	t.Bound, t.Lower = &bound, !upper
	return t, err
}

func (p *typeParser) arguments(depth int) ([]Type, error) {
	var all []Type
	for {
		start := p.skip()
		a, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		if a.Primitive && a.Dimensions == 0 {
			boxed := map[string]string{"int": "Integer", "char": "Character"}[a.Class]
			if boxed == "" {
				boxed = Capital(a.Class)
			}
			return nil, &TypeError{Message: fmt.Sprintf("%s cannot be a type argument; write %s", a.Class, boxed), Wrong: a.Class, Suggest: boxed, Position: start}
		}
		all = append(all, a)
		if p.take(">") {
			return all, nil
		}
		if !p.take(",") {
			return nil, p.fail("> is missing")
		}
	}
}

// name reads a primitive, an alias, a name of java.lang or a qualified name.
func (p *typeParser) name() (Type, error) {
	start := p.at
	end := start
	for i, r := range p.text[start:] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_$.", r) && !unicode.In(r, unicode.Mn, unicode.Mc) {
			break
		}
		end = start + i + len(string(r))
	}
	name := p.text[start:end]
	p.at = end
	switch {
	case name == "":
		return Type{}, p.fail("the name of a type is missing")
	case slices.Contains(primitives, name):
		return Type{Class: name, Primitive: true}, nil
	case slices.Contains(langNames, name):
		return Type{Class: "java.lang." + name}, nil
	case slices.Contains(collections, name):
		return Type{Class: "java.util." + name}, nil
	case strings.Contains(name, "."):
		for part := range strings.SplitSeq(name, ".") {
			if !matter.IsName(part) {
				return Type{}, &TypeError{Message: fmt.Sprintf("%q is not the name of a class: %q is no Java identifier", name, part), Wrong: name, Position: start}
			}
		}
		return Type{Class: name}, nil
	}
	if i := slices.IndexFunc(aliases, func(a Alias) bool { return a.Name == name }); i >= 0 {
		if class, ok := strings.CutSuffix(aliases[i].Class, "[]"); ok {
			return Type{Class: class, Primitive: true, Dimensions: 1}, nil
		}
		return Type{Class: aliases[i].Class}, nil
	}
	err := &TypeError{Message: fmt.Sprintf("there is no type %q without a package; write its qualified name", name), Wrong: name, Position: start}
	if near, ok := matter.Nearest(name, TypeNames()); ok {
		err.Suggest = near
		err.Message = fmt.Sprintf("there is no type %q without a package; did you mean %s? Other classes need their qualified name", name, near)
	}
	return Type{}, err
}

// Erased returns the type as overloads see it: without type arguments.
func (t Type) Erased() string { return t.Class + strings.Repeat("[]", t.Dimensions) }

// String returns the type with qualified names.
func (t Type) String() string {
	s := t.Class
	if t.Bound != nil && t.Lower {
		s += " super " + t.Bound.String()
	} else if t.Bound != nil {
		s += " extends " + t.Bound.String()
	}
	if len(t.Arguments) > 0 {
		parts := make([]string, 0, len(t.Arguments))
		for _, a := range t.Arguments {
			parts = append(parts, a.String())
		}
		s += "<" + strings.Join(parts, ", ") + ">"
	}
	return s + strings.Repeat("[]", t.Dimensions)
}
