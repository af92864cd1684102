package ddl

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Schema is the tables of a project.
type Schema struct {
	tables map[string][]*Table // by the last part of the name, in lower case
	Notes  []Note
}

// Note is a statement that was not read.
type Note struct {
	File *source.File
	Span source.Span
	Text string // its first words
}

// Table is a table with its columns in their order.
type Table struct {
	Name    string // as it is written, with its schema
	Columns []*Column
}

// Column is a column of a table.
type Column struct {
	Name    string // as it is written, without quotes
	Type    Type
	NotNull bool
}

// Type is a type of SQL. Its name is in lower case, one blank between words, without arguments and array brackets.
type Type struct {
	Name       string
	Arguments  []string // those in parentheses
	Unsigned   bool
	Dimensions int // of an array
}

// String returns the type as SQL has it.
func (t Type) String() string {
	s := t.Name
	if len(t.Arguments) > 0 {
		s += "(" + strings.Join(t.Arguments, ", ") + ")"
	}
	if t.Unsigned {
		s += " unsigned"
	}
	return s + strings.Repeat("[]", t.Dimensions)
}

// NewSchema returns a schema without tables.
func NewSchema() *Schema { return &Schema{tables: map[string][]*Table{}} }

// Empty tells whether there is no table.
func (s *Schema) Empty() bool { return len(s.tables) == 0 }

// Table returns the tables of a name; several when schemas share it and the name does not say which.
func (s *Schema) Table(name string) []*Table {
	all := s.tables[last(name)]
	if !strings.Contains(name, ".") || len(all) < 2 {
		return all
	}
	var exact []*Table
	for _, t := range all {
		if strings.EqualFold(t.Name, name) {
			exact = append(exact, t)
		}
	}
	if exact == nil {
		return all
	}
	return exact
}

// Column returns the column of a name, without regard to case, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c
		}
	}
	return nil
}

func last(name string) string {
	return strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
}

// create adds a table; one of the same name is replaced.
func (s *Schema) create(t *Table) {
	s.drop(t.Name)
	s.tables[last(t.Name)] = append(s.tables[last(t.Name)], t)
}

func (s *Schema) drop(name string) {
	key := last(name)
	s.tables[key] = slices.DeleteFunc(s.tables[key], func(t *Table) bool { return strings.EqualFold(t.Name, name) })
	if len(s.tables[key]) == 0 {
		delete(s.tables, key)
	}
}

func (t *Table) set(c *Column) {
	for i, old := range t.Columns {
		if strings.EqualFold(old.Name, c.Name) {
			t.Columns[i] = c
			return
		}
	}
	t.Columns = append(t.Columns, c)
}

func (t *Table) remove(name string) {
	t.Columns = slices.DeleteFunc(t.Columns, func(c *Column) bool { return strings.EqualFold(c.Name, name) })
}
