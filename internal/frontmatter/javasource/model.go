package javasource

import "github.com/stagewright/stagewright/internal/frontmatter/statement"

// Kind is what a class is declared as.
type Kind uint8

// The kinds of declarations.
const (
	Class Kind = iota
	Interface
	Enum
	Record
	Annotation
)

// String names the kind as messages do.
func (k Kind) String() string {
	return [...]string{"a class", "an interface", "an enum", "a record", "an annotation"}[k]
}

// Declaration is a class of any kind, with what is needed to build values of it.
type Declaration struct {
	Name       string // qualified, with dots before nested names
	Kind       Kind
	Generic    bool // has type parameters
	Public     bool // it and all classes around it
	Static     bool // can be used without an instance of the class around it
	Abstract   bool
	Components []Component // of a record, in their order
	Constants  []string    // of an enum, in their order
	Methods    []Method    // public ones, in their order
	Creatable  bool        // a public constructor takes nothing
	Path       string
	Offset     int // of the name, in bytes
}

// Component is a component of a record.
type Component struct {
	Name string
	Type Type
}

// Method is a public method.
type Method struct {
	Name       string
	Static     bool
	Generic    bool
	Returns    Type
	Parameters []Type
	Throws     []Type
}

// Type is a type with resolved names. Unresolved says which name could not be resolved, so that only those who need the
// type have to complain.
type Type struct {
	statement.Type
	Unresolved string
}

// Nested returns the declaration's package and the name below it.
func (f *file) nested(d *Declaration) string {
	if f.pkg == "" {
		return d.Name
	}
	return d.Name[len(f.pkg)+1:]
}
