package java

import (
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

// headView is what stands above a method.
type headView struct {
	Override    bool
	Doc         []string
	Annotations []string
	Deprecated  bool
}

// OwnHead is that of the method that opens its connection.
func (m *methodView) OwnHead() headView { return m.head(m.OwnNote) }

// GivenHead is that of the method that is given its connection.
func (m *methodView) GivenHead() headView {
	return m.head("", "@param "+ascii(m.L["connection"])+" the connection to use, which stays open")
}

func (m *methodView) head(note string, tags ...string) headView {
	doc := append([]string(nil), m.Doc...)
	if note != "" {
		doc = append(doc, "<p>", note)
	}
	if m.Template == "batch" {
		tags = append(tags, "@throws IllegalArgumentException when the arrays have different lengths")
	}
	if m.Throw {
		tags = append(tags, "@throws IllegalStateException when there is more than one row")
	}
	if m.ReturnDoc != "" {
		at := 0
		if len(tags) > 0 && strings.HasPrefix(tags[0], "@param") {
			at = 1
		}
		tags = append(tags[:at:at], append([]string{"@return " + m.ReturnDoc}, tags[at:]...)...)
	}
	if len(tags) > 0 {
		doc = append(append(doc, ""), tags...)
	}
	h := headView{Override: m.Override, Doc: doc, Annotations: m.Annotations}
	for _, a := range m.Annotations {
		if strings.HasPrefix(a, "@"+mark("java.lang.Deprecated")) {
			h.Deprecated = true
		}
	}
	return h
}

// StatementType is the class of the statement.
func (m *methodView) StatementType() string {
	switch {
	case !m.Prepared:
		return mark("java.sql.Statement")
	case m.Call:
		return mark("java.sql.CallableStatement")
	}
	return mark("java.sql.PreparedStatement")
}

// Prepare is the expression that makes the statement.
func (m *methodView) Prepare() string {
	switch connection := m.L["connection"]; {
	case !m.Prepared:
		return connection + ".createStatement()"
	case m.Call:
		return connection + ".prepareCall(" + m.SQL + ")"
	default:
		return connection + ".prepareStatement(" + m.SQL + ")"
	}
}

// Plain is the argument with which a statement that is not prepared is executed.
func (m *methodView) Plain() string {
	if m.Prepared {
		return ""
	}
	return m.SQL
}

// Query is the expression that executes the statement and returns its rows. What writes or calls may return update
// counts before them.
func (m *methodView) Query() string {
	s := m.L["statement"]
	if m.Kind == matter.Reading {
		return s + ".executeQuery(" + m.Plain() + ")"
	}
	return "firstRows(" + s + ", " + s + ".execute(" + m.Plain() + "))"
}

// OwnCursor is what a cursor with a connection of its own starts with. Reading needs a transaction, or some drivers read
// everything into memory.
func (m *methodView) OwnCursor() string {
	open := "open"
	if m.Kind == matter.Reading {
		open = "begin"
	}
	return m.L["cursor"] + ", " + m.L["cursor"] + "." + open + "(this.dataSource)"
}

// GivenCursor is what a cursor with a given connection starts with.
func (m *methodView) GivenCursor() string { return m.L["cursor"] + ", " + m.L["connection"] }

// ConstructorParameters are those of the constructor.
func (v *classView) ConstructorParameters() string {
	var parts []string
	if v.DataSource {
		parts = append(parts, mark("javax.sql.DataSource")+" dataSource")
	}
	for _, c := range v.Converters {
		if c.Injected {
			parts = append(parts, c.Type+" "+c.Name)
		}
	}
	return strings.Join(parts, ", ")
}

// Simple is the name of the interface without its package.
func (v *classView) Simple() string { return lastPart(v.Interface) }
