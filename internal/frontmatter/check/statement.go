package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// Statement checks a statement's settings against each other and against its SQL, one concern per function.
func Statement(p *statement.Project, s *statement.Statement) []source.Finding {
	if !s.Readable() {
		return nil
	}
	var findings []source.Finding
	for _, check := range []func(*statement.Project, *statement.Statement) []source.Finding{
		parameterUse, parameterTwice, parameterNames, types, keywordsInClasses, plainStatement, batchWithoutParameters, methodNames, vendor, sqlTypes, cutBody,
	} {
		findings = append(findings, check(p, s)...)
	}
	return findings
}

func one(rule source.Rule, span source.Span, message string, fixes ...source.Fix) []source.Finding {
	return []source.Finding{{Rule: rule, Span: span, Message: message, Fixes: fixes}}
}

// maxSuggestions bounds the names that a misspelt one is compared with.
const maxSuggestions = 1000

// parameterUse: what is declared occurs in the SQL.
func parameterUse(_ *statement.Project, s *statement.Statement) []source.Finding {
	var findings []source.Finding
	var undeclared []string
	var unused []statement.Parameter
	for _, p := range s.Parameters {
		if !p.Declared() && len(undeclared) < maxSuggestions {
			undeclared = append(undeclared, p.Name)
		}
	}
	for _, p := range s.Parameters {
		if p.Declared() && len(p.Uses) == 0 {
			unused = append(unused, p)
		}
	}
	nearest := make([]string, len(unused))
	meant := map[string]int{} // how many were probably meant to be this one
	for i, p := range unused {
		nearest[i], _ = matter.Nearest(p.Name, undeclared)
		meant[nearest[i]]++
	}
	for i, p := range unused {
		message := fmt.Sprintf("the SQL has no parameter :%s", p.Name)
		near := nearest[i]
		if near == "" {
			findings = append(findings, one(RuleParameterUnused, p.Span, message)...)
			continue
		}
		message += fmt.Sprintf("; did you mean %s?", near)
		findings = append(findings, one(RuleParameterUnused, p.Span, message, source.Replacement(p.Span, near, meant[near] == 1))...)
	}
	return findings
}

// parameterTwice: a parameter is declared once.
func parameterTwice(_ *statement.Project, s *statement.Statement) []source.Finding {
	var findings []source.Finding
	seen := map[string]bool{}
	for _, n := range items(s.Written.Get("parameters")) {
		name := n.Get("name")
		if name == nil || name.Kind != matter.Text {
			continue
		}
		if seen[name.Value] {
			findings = append(findings, one(RuleParameterTwice, name.Span, fmt.Sprintf("the parameter %s is declared already", name.Value))...)
		}
		seen[name.Value] = true
	}
	return findings
}

func items(n *matter.Node) []*matter.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// parameterNames: the names in the SQL become parameters of a method.
func parameterNames(_ *statement.Project, s *statement.Statement) []source.Finding {
	var findings []source.Finding
	for _, p := range s.Parameters {
		if len(p.Uses) > 0 && !matter.IsName(p.Name) {
			findings = append(findings, one(RuleParameterName, p.Uses[0], fmt.Sprintf("%s is a keyword of Java and cannot name a parameter; choose another name", p.Name))...)
		}
	}
	return findings
}

// types: every text that stands for a Java type is one.
func types(_ *statement.Project, s *statement.Statement) []source.Finding {
	var findings []source.Finding
	add := func(n *matter.Node) {
		if n == nil || n.Kind != matter.Text || n.Value == "" {
			return
		}
		_, err := statement.ParseType(n.Value)
		var wrong *statement.TypeError
		if !errors.As(err, &wrong) {
			return
		}
		span := n.Span
		var fixes []source.Fix
		if n.Plain {
			span.Start = min(n.Span.Start+wrong.Position, n.Span.End)
			if wrong.Wrong != "" {
				span.End = span.Start + len(wrong.Wrong)
			}
		}
		if n.Plain && wrong.Suggest != "" {
			fixes = append(fixes, source.Replacement(span, wrong.Suggest, true))
		}
		findings = append(findings, one(RuleJavaType, span, wrong.Message, fixes...)...)
	}
	parameters := s.Written.Get("parameters")
	for _, n := range items(parameters) {
		add(n.Get("type"))
	}
	if parameters != nil {
		for _, p := range parameters.Pairs {
			add(p.Value)
		}
	}
	add(s.Written.Get("resultRowType"))
	add(s.Written.Get("resultRowConverter").Get("resultType"))
	for _, a := range items(s.Written.Get("annotations")) {
		for _, m := range items(a.Get("members")) {
			add(m.Get("type"))
		}
	}
	return findings
}

// keywordsInClasses: no part of a qualified name is a keyword of Java.
func keywordsInClasses(_ *statement.Project, s *statement.Statement) []source.Finding {
	var findings []source.Finding
	add := func(n *matter.Node) {
		if n == nil || n.Kind != matter.Text {
			return
		}
		for part := range strings.SplitSeq(n.Value, ".") {
			if matter.IsKeyword(part) {
				findings = append(findings, one(RuleJavaKeyword, n.Span, fmt.Sprintf("%s is a keyword of Java and cannot be part of the name of a class", part))...)
			}
		}
	}
	add(s.Written.Get("repository"))
	converter := s.Written.Get("resultRowConverter")
	add(converter)
	add(converter.Get("converterType"))
	for _, a := range items(s.Written.Get("annotations")) {
		add(a.Get("type"))
	}
	if columns := s.Written.Get("resultRowColumns"); columns != nil {
		for _, p := range columns.Pairs {
			add(&matter.Node{Kind: matter.Text, Value: p.Key, Span: p.Span})
		}
	}
	return findings
}

// plainStatement: a statement that is not prepared has nothing to bind parameters to.
func plainStatement(_ *statement.Project, s *statement.Statement) []source.Finding {
	p := s.Written.Pair("usePreparedStatement")
	if p == nil || p.Value.Kind != matter.Bool || p.Value.True() || len(s.Source.Parameters) == 0 {
		return nil
	}
	return one(RulePlainStatement, p.Value.Span, fmt.Sprintf("a plain statement cannot have parameters, and the SQL has :%s; remove the key", s.Source.Parameters[0].Name))
}

// batchWithoutParameters: a batch needs something that differs between its entries.
func batchWithoutParameters(_ *statement.Project, s *statement.Statement) []source.Finding {
	p := s.Written.Pair("executeBatch")
	if p == nil || !p.Value.True() || len(s.Source.Parameters) > 0 {
		return nil
	}
	return one(RuleBatch, p.Value.Span, "a statement without parameters is not executed as a batch; remove the key")
}

// methodNames: with prefix and suffix, a method still has a name that Java allows.
func methodNames(p *statement.Project, s *statement.Statement) []source.Finding {
	if s.Name.Text == "" {
		return nil
	}
	var findings []source.Finding
	for _, m := range [][2]string{{"executeOncePrefix", "executeOnceSuffix"}, {"executeBatchPrefix", "executeBatchSuffix"}} {
		method := MethodName(p.Affix(s.Written, m[0]), s.Name.Text, p.Affix(s.Written, m[1]))
		if matter.IsName(method) {
			continue
		}
		span := s.Name.Span
		if n := s.Written.Get(m[0]); n != nil {
			span = n.Span
		}
		findings = append(findings, one(RuleMethodName, span, fmt.Sprintf("the method would be called %s, which is no Java identifier", method))...)
	}
	return findings
}

// MethodName joins the parts of a method's name in camel case.
func MethodName(prefix, name, suffix string) string {
	if prefix != "" {
		name = prefix + statement.Capital(name)
	}
	return name + statement.Capital(suffix)
}

// vendor: the name of a product that is almost known is a slip.
func vendor(_ *statement.Project, s *statement.Statement) []source.Finding {
	n := s.Written.Get("vendor")
	if n == nil || n.Kind != matter.Text {
		return nil
	}
	near, ok := matter.Nearest(n.Value, source.Products())
	if short, found := shortProducts()[strings.ToLower(n.Value)]; found {
		near, ok = short, true
	}
	if !ok || near == n.Value {
		return nil
	}
	return one(RuleVendor, n.Span, fmt.Sprintf("the driver calls its product %s, not %s; they are compared exactly", near, n.Value), n.Replacement(near, true)...)
}

// cutBody: what ends a body, or a batch of statements in a client, starts no statement.
func cutBody(_ *statement.Project, s *statement.Statement) []source.Finding {
	first, _, _ := strings.Cut(s.Source.SQL.Text(s.File.Text), "\n")
	first = strings.TrimRight(first, " \t\r")
	word, _, _ := strings.Cut(first, " ")
	if len(word) > len("DELIMITER") {
		return nil
	}
	word, first = strings.ToUpper(word), strings.ToUpper(first)
	if word != "END" && word != "DELIMITER" && first != "GO" && first != "/" {
		return nil
	}
	span := source.Span{Start: s.Source.SQL.Start, End: s.Source.SQL.Start + len(word)}
	return one(RuleCutBody, span, fmt.Sprintf("no statement starts with %s: a body was cut at its first semicolon, or this is a command of a client; "+
		"set another separator with a line --@yosql sqlStatementSeparator: X", word))
}

// shortProducts are what people call products that their drivers call otherwise.
func shortProducts() map[string]string {
	return map[string]string{
		"postgres": "PostgreSQL", "pg": "PostgreSQL", "mssql": "Microsoft SQL Server", "sqlserver": "Microsoft SQL Server",
		"sql server": "Microsoft SQL Server", "maria": "MariaDB",
	}
}

// sqlTypes: a scale belongs to a JDBC type, and that is one of java.sql.Types.
func sqlTypes(_ *statement.Project, s *statement.Statement) []source.Finding {
	var findings []source.Finding
	for _, n := range items(s.Written.Get("parameters")) {
		t := n.Get("sqlType")
		if scale := n.Pair("scale"); scale != nil && t == nil {
			findings = append(findings, one(RuleScale, scale.Span, "scale needs sqlType: it is the scale of that type")...)
		}
		if t == nil || t.Kind != matter.Text || slices.Contains(jdbcTypes, t.Value) {
			continue
		}
		message := fmt.Sprintf("java.sql.Types has no %s", t.Value)
		var fixes []source.Fix
		if near, ok := matter.Nearest(t.Value, jdbcTypes); ok {
			message += fmt.Sprintf("; did you mean %s?", near)
			fixes = t.Replacement(near, true)
		}
		findings = append(findings, one(RuleJDBCType, t.Span, message, fixes...)...)
	}
	return findings
}

// jdbcTypes are the constants of java.sql.Types in Java 17.
var jdbcTypes = strings.Fields(`ARRAY BIGINT BINARY BIT BLOB BOOLEAN CHAR CLOB DATALINK DATE DECIMAL DISTINCT DOUBLE FLOAT
	INTEGER JAVA_OBJECT LONGNVARCHAR LONGVARBINARY LONGVARCHAR NCHAR NCLOB NULL NUMERIC NVARCHAR OTHER REAL REF
	REF_CURSOR ROWID SMALLINT SQLXML STRUCT TIME TIMESTAMP TIMESTAMP_WITH_TIMEZONE TIME_WITH_TIMEZONE TINYINT VARBINARY
	VARCHAR`)

// JDBCTypes returns the names that sqlType takes.
func JDBCTypes() []string { return jdbcTypes }
