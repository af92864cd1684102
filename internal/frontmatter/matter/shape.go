package matter

import (
	"regexp"
	"slices"
	"strings"
)

// ShapeKind is what a value must be.
type ShapeKind uint8

// The kinds of shapes.
const (
	AnyText ShapeKind = iota // a text, of the Format when there is one
	Boolean
	Whole    // a whole number, 0 or more
	OneWord  // one of Words
	ListOf   // of Item
	Fields   // a mapping with a closed set of keys
	MapOf    // a mapping with free keys of the KeyFormat, to Item
	Either   // the first of Options whose kind of node fits
	AnyValue // a scalar of any type
)

// Shape is what a value may look like. The parser, the schema, completion and the reference read it.
type Shape struct {
	Kind      ShapeKind
	Words     []string
	Format    *Format
	KeyFormat *Format
	Item      *Shape
	Fields    []Field
	Options   []Shape
	Empty     bool   // the value may be missing behind its colon
	NotBlank  bool   // a text must not be empty
	Noun      string // what a text without a format is, for messages and the reference
}

// fieldNames returns the names of the fields.
func (s *Shape) fieldNames() []string {
	names := make([]string, 0, len(s.Fields))
	for _, field := range s.Fields {
		names = append(names, field.Name)
	}
	return names
}

// Field is a key of an inner mapping.
type Field struct {
	Name     string
	Shape    Shape
	Required bool
	Text     string
}

// Format is what a text must look like. Patterns are written in the part of the syntax that Go and JSON Schema share.
type Format struct {
	Name    string
	Pattern string
	Not     []string // texts that fit the pattern and are wrong all the same
	Text    string
	regexp  *regexp.Regexp
}

func newFormat(name, pattern, text string, not ...string) Format {
	return Format{Name: name, Pattern: pattern, Not: not, Text: text, regexp: regexp.MustCompile(pattern)}
}

const (
	namePattern = `[\p{L}_$][\p{L}\p{Nd}\p{Mn}\p{Mc}_$]*`
	pathPattern = namePattern + `(?:\.` + namePattern + `)*`
)

// The formats of texts.
var (
	nameFormat   = newFormat("a Java identifier", `^`+namePattern+`$`, "letters, digits, _ and $, not starting with a digit, and no keyword of Java", keywords...)
	classFormat  = newFormat("a class name", `^`+pathPattern+`$`, "one or more Java identifiers, joined by dots")
	pathFormat   = newFormat("a component path", `^`+pathPattern+`$`, "the name of a record component; names of nested records are joined by dots")
	affixFormat  = newFormat("a part of a method name", `^[\p{L}\p{Nd}\p{Mn}\p{Mc}_$]*$`, "letters, digits, _ and $")
	sqlFormat    = newFormat("a JDBC type", `^[A-Z][A-Z0-9_]*$`, "the name of a constant of java.sql.Types, in upper case")
	folderFormat = newFormat("a relative path", `^(?:[^/\\]+(?:/[^/\\]+)*|\.)$`, "relative to the project file, with / between folders and .. for the folder above")
)

// keywords are the words that Java reserves, with the three literals.
var keywords = strings.Fields(`_ abstract assert boolean break byte case catch char class const continue default do
	double else enum extends false final finally float for goto if implements import instanceof int interface long
	native new null package private protected public return short static strictfp super switch synchronized this
	throw throws transient true try void volatile while`)

// IsKeyword tells whether Java reserves a word.
func IsKeyword(word string) bool { return slices.Contains(keywords, word) }

// IsName tells whether a word can name something in Java.
func IsName(word string) bool { return nameFormat.regexp.MatchString(word) && !IsKeyword(word) }

// field returns the field of a name, or nil.
func (s *Shape) field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// String says what a value of the shape is, as messages and the reference do.
func (s *Shape) String() string {
	switch s.Kind {
	case Boolean:
		return "a boolean"
	case Whole:
		return "a whole number"
	case OneWord:
		return "one of " + strings.Join(s.Words, ", ")
	case ListOf:
		return "a list"
	case Fields, MapOf:
		return "a mapping"
	case AnyValue:
		return "a single value"
	case Either:
		var all []string
		for i := range s.Options {
			all = append(all, s.Options[i].String())
		}
		return strings.Join(all, " or ")
	default:
		switch {
		case s.Format != nil:
			return s.Format.Name
		case s.Noun != "":
			return s.Noun
		}
		return "a text"
	}
}
