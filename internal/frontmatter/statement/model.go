package statement

import (
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// File is a file of a project with its statements.
type File struct {
	*source.File
	Relative   string // below the SQL root, with slashes
	Statements []*Statement
	Findings   []source.Finding // of reading and of the shape of front matter
}

// Statement is a statement as its settings describe it.
type Statement struct {
	File    *File
	Source  source.Statement
	Written *matter.Node // the keys that are written; empty without front matter, nil when it cannot be read

	Name       Named
	Type       string // empty when nothing tells it
	Returning  string // empty without a type
	Repository Named  // qualified
	Vendor     string // empty for any
	Parameters []Parameter
}

// Named is a name and the place that gave it: the value of its key, or the start of the SQL.
type Named struct {
	Text    string // empty when there is no name
	Span    source.Span
	Written bool
}

// Parameter is a parameter of a statement.
type Parameter struct {
	Name    string
	Type    string // as written; empty to infer it
	Erased  string // the type as overloads see it; empty when it is not known
	Variant string
	Node    *matter.Node // the mapping it is declared by, or the type; nil when it is not declared
	Span    source.Span  // of its declared name, or of its first occurrence
	Uses    []source.Span
}

// Readable tells whether the front matter could be read, so that its settings can be judged.
func (s *Statement) Readable() bool { return s.Written != nil }

// Declared tells whether the parameter is in the front matter.
func (p *Parameter) Declared() bool { return p.Node != nil }
