package javasource

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// resolver turns names into qualified ones, in the order of the Java Language Specification (6.4.1 and 6.5.5): type
// variables, classes around, imports of one class, the package, imports on demand. Member types that are inherited are
// not looked for.
type resolver struct {
	index      *Index
	file       *file
	in         *parsed
	variables  []string
	unresolved string
}

func (r *resolver) typ(t statement.Type) statement.Type {
	if !t.Primitive && t.Class != "?" {
		t.Class = r.class(t.Class)
	}
	if t.Bound != nil {
		bound := r.typ(*t.Bound)
		t.Bound = &bound
	}
	arguments := make([]statement.Type, 0, len(t.Arguments))
	for _, a := range t.Arguments {
		arguments = append(arguments, r.typ(a))
	}
	if t.Arguments != nil {
		t.Arguments = arguments
	}
	return t
}

func (r *resolver) class(name string) string {
	first, rest, nested := strings.Cut(name, ".")
	if slices.Contains(r.variables, first) {
		r.fail(name)
		return name
	}
	if class, ok := r.simple(first); ok {
		if nested {
			return class + "." + rest
		}
		return class
	}
	if nested { // a qualified name
		return name
	}
	r.fail(name)
	return name
}

func (r *resolver) fail(name string) {
	if r.unresolved == "" {
		r.unresolved = name
	}
}

// simple resolves a name without dots.
func (r *resolver) simple(name string) (string, bool) {
	for d := r.in; d != nil; d = d.outer {
		own := r.file.nested(&d.Declaration)
		if own == name || strings.HasSuffix(own, "."+name) {
			return d.Name, true
		}
		if member := r.file.byName[own+"."+name]; member != nil {
			return member.Name, true
		}
	}
	if class, ok := r.file.single[name]; ok {
		return class, true
	}
	if d := r.file.byName[name]; d != nil {
		return d.Name, true
	}
	if class := qualify(r.file.pkg, name); r.known(class) {
		return class, true
	}
	for _, pkg := range append(slices.Clone(r.file.onDemand), "java.lang") {
		if class := qualify(pkg, name); slices.Contains(platform, class) || r.known(class) {
			return class, true
		}
	}
	return "", false
}

func (r *resolver) known(class string) bool {
	_, _, err := r.index.find(class)
	return err == nil
}

func qualify(pkg, name string) string {
	if pkg == "" {
		return name
	}
	return pkg + "." + name
}

// platform lists the classes of Java that values have and sources import on demand; others need an import of their own.
var platform = strings.Fields(`
	java.lang.Boolean java.lang.Byte java.lang.CharSequence java.lang.Character java.lang.Class java.lang.Comparable java.lang.Double
	java.lang.Enum java.lang.Exception java.lang.Float java.lang.IllegalArgumentException java.lang.Integer java.lang.Iterable java.lang.Long
	java.lang.Number java.lang.Object java.lang.Record java.lang.RuntimeException java.lang.Short java.lang.String java.lang.Throwable
	java.lang.Void java.math.BigDecimal java.math.BigInteger java.net.URI java.net.URL java.sql.Array java.sql.Blob java.sql.Clob
	java.sql.Connection java.sql.Date java.sql.ResultSet java.sql.SQLException java.sql.Time java.sql.Timestamp java.time.Duration
	java.time.Instant java.time.LocalDate java.time.LocalDateTime java.time.LocalTime java.time.OffsetDateTime java.time.OffsetTime
	java.time.Period java.time.Year java.time.YearMonth java.time.ZonedDateTime java.util.Collection java.util.Currency java.util.Date
	java.util.List java.util.Locale java.util.Map java.util.Optional java.util.Set java.util.UUID`)
