package ddl

import (
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Read adds what a file declares. Files are read in the order in which they would be executed.
func (s *Schema) Read(file *source.File, options source.Options) {
	options.Match = func(string) source.Match { return source.NoKey }
	for _, st := range source.Parse(file, options).Statements {
		sql := st.SQL.Text(file.Text)
		r := reader{schema: s, dialect: st.Dialect, cursor: cursor{all: tokens(sql, st.Dialect)}}
		if !r.statement() {
			s.Notes = append(s.Notes, Note{File: file, Span: st.SQL, Text: r.start()})
		}
	}
}

// reader reads one statement.
type reader struct {
	cursor

	schema  *Schema
	dialect source.Dialect
}

// start returns the first words, for a note.
func (r *reader) start() string {
	var words []string
	for i, t := range r.all {
		if i == 3 || t.kind != source.Word {
			break
		}
		words = append(words, t.text)
	}
	return strings.Join(words, " ")
}

// statement reads a statement about tables; false for any other.
func (r *reader) statement() bool {
	switch {
	case r.take("CREATE"):
		r.takeAny(" OR REPLACE GLOBAL LOCAL TEMP TEMPORARY UNLOGGED CACHED MEMORY FOREIGN COLUMN ROW ")
		return r.take("TABLE") && r.create()
	case r.take("ALTER"):
		r.takeAny(" FOREIGN ")
		return r.take("TABLE") && r.alter()
	case r.take("DROP", "TABLE"):
		r.take("IF", "EXISTS")
		for _, part := range r.split() {
			if name, ok := part.name(); ok {
				r.schema.drop(name)
			}
		}
		return true
	}
	return false
}

func (r *reader) create() bool {
	exists := r.take("IF", "NOT", "EXISTS")
	name, ok := r.name()
	if !ok {
		return false
	}
	body, ok := r.group()
	if !ok { // AS SELECT, PARTITION OF, LIKE
		return false
	}
	t := &Table{Name: name}
	for _, element := range body.split() {
		r.element(t, element)
	}
	if len(t.Columns) == 0 {
		return false
	}
	if !exists || len(r.schema.Table(name)) == 0 {
		r.schema.create(t)
	}
	return true
}

// element reads a column or a constraint of a table.
func (r *reader) element(t *Table, c *cursor) {
	if c.take("CONSTRAINT") {
		if !c.is("PRIMARY") && !c.is("UNIQUE") && !c.is("FOREIGN") && !c.is("CHECK") && !c.is("EXCLUDE") && !c.is("NOT") {
			c.part()
		}
		r.primaryKey(t, c)
		return
	}
	switch {
	case c.is("PRIMARY", "KEY"):
		r.primaryKey(t, c)
		return
	case c.is("FOREIGN", "KEY"), c.is("UNIQUE", "("), c.is("UNIQUE", "KEY"), c.is("UNIQUE", "INDEX"), c.is("UNIQUE", "NULLS"),
		c.is("CHECK", "("), c.is("EXCLUDE", "USING"), c.is("EXCLUDE", "("), c.is("PERIOD", "FOR"):
		return
	case r.dialect.Name == "mysql" && (c.is("KEY") || c.is("INDEX") || c.is("FULLTEXT") || c.is("SPATIAL")):
		return
	case c.take("LIKE"):
		if name, ok := c.name(); ok {
			for _, other := range r.schema.Table(name) {
				for _, column := range other.Columns {
					clone := *column
					t.set(&clone)
				}
			}
		}
		return
	}
	if column, ok := readColumn(c); ok {
		t.set(column)
	}
}

// primaryKey makes the columns of a primary key NOT NULL.
func (r *reader) primaryKey(t *Table, c *cursor) {
	if !c.take("PRIMARY", "KEY") {
		return
	}
	c.takeAny(" CLUSTERED NONCLUSTERED ")
	columns, ok := c.group()
	if !ok {
		return
	}
	for _, part := range columns.split() {
		if name, ok := part.part(); ok {
			if column := t.Column(name); column != nil {
				column.NotNull = true
			}
		}
	}
}

// alter reads the actions of ALTER TABLE. Those of a table that is not known are left out.
func (r *reader) alter() bool {
	r.take("IF", "EXISTS")
	r.take("ONLY")
	name, ok := r.name()
	if !ok {
		return false
	}
	tables := r.schema.Table(name)
	if len(tables) != 1 {
		return false
	}
	r.take("*")
	for _, action := range r.split() {
		r.action(tables[0], action)
	}
	return true
}

func (r *reader) action(t *Table, c *cursor) {
	switch {
	case c.take("ADD"):
		r.add(t, c)
	case c.take("DROP"):
		if c.is("CONSTRAINT") || c.is("PRIMARY") || c.is("INDEX") || c.is("KEY") || c.is("FOREIGN") || c.is("CHECK") {
			return
		}
		c.take("COLUMN")
		c.take("IF", "EXISTS")
		if name, ok := c.part(); ok {
			t.remove(name)
		}
	case c.take("MODIFY"):
		c.take("COLUMN")
		r.add(t, c)
	case c.take("CHANGE"):
		c.take("COLUMN")
		if old, ok := c.part(); ok {
			t.rename(old, c.peek(0).raw)
			r.add(t, c)
		}
	case c.take("RENAME"):
		r.rename(t, c)
	case c.take("ALTER"):
		r.change(t, c)
	}
}

// add reads columns and constraints, in parentheses or not.
func (r *reader) add(t *Table, c *cursor) {
	c.take("COLUMN")
	c.take("IF", "NOT", "EXISTS")
	if group, ok := c.group(); ok {
		for _, part := range group.split() {
			r.element(t, part)
		}
		return
	}
	r.element(t, c)
}

func (r *reader) rename(t *Table, c *cursor) {
	if c.take("TO") {
		if name, ok := c.name(); ok {
			r.schema.drop(t.Name)
			if i := strings.LastIndexByte(t.Name, '.'); i >= 0 && !strings.Contains(name, ".") {
				name = t.Name[:i+1] + name
			}
			t.Name = name
			r.schema.create(t)
		}
		return
	}
	if c.is("CONSTRAINT") {
		return
	}
	c.take("COLUMN")
	old, ok := c.part()
	if ok && c.take("TO") {
		if name, ok := c.part(); ok {
			t.rename(old, name)
		}
	}
}

func (t *Table) rename(old, name string) {
	if c := t.Column(old); c != nil {
		c.Name = strings.Trim(name, "\"`[]")
	}
}

// change reads ALTER COLUMN.
func (r *reader) change(t *Table, c *cursor) {
	if c.is("CONSTRAINT") || c.is("INDEX") {
		return
	}
	c.take("COLUMN")
	name, ok := c.part()
	column := t.Column(name)
	if !ok || column == nil {
		return
	}
	switch {
	case c.take("SET", "DATA", "TYPE"), c.take("TYPE"):
		if typ, ok := readType(c); ok {
			column.Type = typ
		}
	case c.take("SET", "NOT", "NULL"):
		column.NotNull = true
	case c.take("DROP", "NOT", "NULL"), c.take("SET", "NULL"):
		column.NotNull = false
	case c.is("SET") || c.is("DROP") || c.is("ADD") || c.is("RESTART"):
	case c.take("RENAME", "TO"):
		if to, ok := c.part(); ok {
			column.Name = to
		}
	default: // SQL Server and H2: the whole column anew
		c.at--
		if anew, ok := readColumn(c); ok {
			t.set(anew)
		}
	}
}
