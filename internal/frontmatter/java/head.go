package java

import "strings"

// headView is what stands above a method.
type headView struct {
	Override    bool
	Doc         []string
	Annotations []string
	Deprecated  bool
}

// givenHead is that of the method that is given its connection.
func (m *methodView) givenHead() headView {
	return m.head("", "@param "+ascii(m.L["connection"])+" the connection to use, which stays open")
}

func (m *methodView) head(note string, tags ...string) headView {
	doc := append([]string(nil), m.Above.Doc...)
	if note != "" {
		doc = append(doc, "<p>", note)
	}
	if m.Template == "batch" {
		tags = append(tags, "@throws IllegalArgumentException when the arrays have different lengths")
	}
	if m.Is.Throw {
		tags = append(tags, "@throws IllegalStateException when there is more than one row")
	}
	if m.Above.ReturnDoc != "" {
		at := 0
		if len(tags) > 0 && strings.HasPrefix(tags[0], "@param") {
			at = 1
		}
		tags = append(tags[:at:at], append([]string{"@return " + m.Above.ReturnDoc}, tags[at:]...)...)
	}
	if len(tags) > 0 {
		doc = append(append(doc, ""), tags...)
	}
	h := headView{Override: m.Above.Override, Doc: doc, Annotations: m.Above.Annotations}
	for _, a := range m.Above.Annotations {
		if strings.HasPrefix(a, "@"+mark("java.lang.Deprecated")) || strings.HasPrefix(a, "@"+mark("Deprecated")) {
			h.Deprecated = true
		}
	}
	return h
}

// statementType is the class of the statement.
func (m *methodView) statementType() string {
	switch {
	case !m.Is.Prepared:
		return mark("java.sql.Statement")
	case m.Is.Call:
		return mark("java.sql.CallableStatement")
	}
	return mark("java.sql.PreparedStatement")
}

// prepare is the expression that makes the statement.
func (m *methodView) prepare() string {
	switch connection := m.L["connection"]; {
	case !m.Is.Prepared:
		return connection + ".createStatement()"
	case m.Is.Call:
		return connection + ".prepareCall(" + m.SQL.Text + ")"
	default:
		return connection + ".prepareStatement(" + m.SQL.Text + ")"
	}
}

// plain is the argument with which a statement that is not prepared is executed.
func (m *methodView) plain() string {
	if m.Is.Prepared {
		return ""
	}
	return m.SQL.Text
}

// query is the expression that executes the statement and returns its rows. What writes or calls may return update
// counts before them.
func (m *methodView) query() string {
	s := m.L["statement"]
	if m.Is.Reading {
		return s + ".executeQuery(" + m.plain() + ")"
	}
	return "firstRows(" + s + ", " + s + ".execute(" + m.plain() + "))"
}

// ownCursor is what a cursor with a connection of its own starts with. Reading needs a transaction, or some drivers read
// everything into memory.
func (m *methodView) ownCursor() string {
	open := "open"
	if m.Is.Reading {
		open = "begin"
	}
	return m.L["cursor"] + ", " + m.L["cursor"] + "." + open + "(this.dataSource)"
}

// givenCursor is what a cursor with a given connection starts with.
func (m *methodView) givenCursor() string { return m.L["cursor"] + ", " + m.L["connection"] }

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
