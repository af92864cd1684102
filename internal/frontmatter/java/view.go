package java

import "strings"

// classView is what the templates of a repository see: nothing is left to decide but imports and indentation.
type classView struct {
	Package, Class, Interface string
	Doc                       []string
	Annotations               []string
	Final, DataSource         bool
	Converters                []fieldView
	Constants                 []constantView
	Methods                   []*methodView
	Helpers                   []string
}

// fieldView is a converter that a repository holds.
type fieldView struct {
	Type, Name string
	Injected   bool
	said       bool // by a statement, not by a default
}

type constantView struct{ Name, Literal string }

// methodView is one way to execute a statement, with the methods that belong to it.
type methodView struct {
	Name, Returns string
	Template      string // which body
	Names         namesView
	Above         aboveView
	Is            switchesView
	Parameters    []parameterView
	L             map[string]string // local variables
	SQL           sqlView
	Row           rowView
	Out           string // the lines that return OUT parameters
	Code          codeView
}

// namesView is what a method calls itself and others. Call is how it is called in its class.
type namesView struct{ Label, Message, Several, CursorClass, Call string }

// aboveView is what stands above a method.
type aboveView struct {
	Doc         []string // without the tags
	ReturnDoc   string
	OwnNote     string // of the method that opens its own connection
	Annotations []string
	Override    bool
}

// switchesView is what a method is like.
type switchesView struct {
	Reading, Call bool
	Own           bool // there is a method that opens its own connection
	Catch         bool // exceptions of SQL are wrapped
	Vendors       bool // the database chooses the SQL
	Prepared      bool
	Counts        bool // update counts are returned
	Throw         bool // on multiple results
}

// sqlView is how a statement gets its SQL and its parameters.
type sqlView struct {
	Text      string   // expression
	Methods   []string // helpers that make it
	Binds     string
	FetchSize int
}

// codeView is what follows from the rest of a methodView. It is settled before the templates: they would look a method up anew
// at each use.
type codeView struct {
	Own, Given                           wayView
	CursorParameters                     string // of the method that both ways of a cursor share
	Throws, Sizes                        string
	StatementType, Prepare, Plain, Query string
	Void                                 bool
}

// wayView is one of the two methods of a name: that which opens its own connection, and that which is given one.
type wayView struct {
	Head       headView
	Parameters string
	Passed     string // arguments for the other method of the name
	Cursor     string // arguments for the method that both ways share
}

// complete settles what follows from the rest.
func (m *methodView) complete() *methodView {
	m.Code = codeView{
		Own: wayView{
			Head: m.head(m.Above.OwnNote), Parameters: m.list("", true), Passed: m.list(m.L["connection"], false), Cursor: m.list(m.ownCursor(), false),
		},
		Given:            wayView{Head: m.givenHead(), Parameters: m.givenParameters(), Cursor: m.list(m.givenCursor(), false)},
		CursorParameters: m.cursorParameters(),
		Throws:           m.throws(), Sizes: m.sizes(),
		StatementType: m.statementType(), Prepare: m.prepare(), Plain: m.plain(), Query: m.query(),
		Void: m.Returns == "void",
	}
	return m
}

type parameterView struct{ Type, Name string }

// rowView is how a row is read.
type rowView struct{ Type, Setup, Read string }

// throws is the clause of a method that leaves exceptions of SQL to its caller.
func (m *methodView) throws() string {
	if m.Is.Catch {
		return ""
	}
	return " throws " + mark("java.sql.SQLException")
}

// list joins a first part with declarations of the parameters.
func (m *methodView) list(first string, declared bool) string {
	parts := nonEmpty(first)
	for _, p := range m.Parameters {
		if declared {
			parts = append(parts, p.Type+" "+p.Name)
		} else {
			parts = append(parts, p.Name)
		}
	}
	return strings.Join(parts, ", ")
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// givenParameters are those of the method that is given its connection.
func (m *methodView) givenParameters() string {
	return m.list(mark("java.sql.Connection")+" "+m.L["connection"], true)
}

// cursorParameters are those of the method that both ways of a cursor share.
func (m *methodView) cursorParameters() string {
	return m.list(mark(m.Names.CursorClass)+" "+m.L["cursor"]+", "+mark("java.sql.Connection")+" "+m.L["connection"], true)
}

// sizes are the lengths of a batch's arrays.
func (m *methodView) sizes() string {
	parts := make([]string, 0, len(m.Parameters))
	for _, p := range m.Parameters {
		parts = append(parts, p.Name+".length")
	}
	return strings.Join(parts, ", ")
}
