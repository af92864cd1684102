package check

import (
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// The rules of this package.
const (
	RuleUnreadable      source.Rule = "unreadable"
	RuleOutside         source.Rule = "outside-root"
	RuleParameterUnused source.Rule = "parameter-not-in-sql"
	RuleParameterTwice  source.Rule = "parameter-twice"
	RuleParameterName   source.Rule = "parameter-name"
	RuleJavaType        source.Rule = "java-type"
	RuleJavaKeyword     source.Rule = "java-keyword"
	RuleJDBCType        source.Rule = "jdbc-type"
	RuleScale           source.Rule = "scale-without-type"
	RulePlainStatement  source.Rule = "plain-statement"
	RuleBatch           source.Rule = "batch-without-parameters"
	RuleMethodName      source.Rule = "method-name"
	RuleCutBody         source.Rule = "cut-body"
	RuleVendor          source.Rule = "vendor-name"
	RuleDuplicateName   source.Rule = "duplicate-name"
	RuleVariant         source.Rule = "variant-conflict"
	RuleMethodClash     source.Rule = "method-clash"
	RuleConverterAlias  source.Rule = "converter-alias"
	RuleInjection       source.Rule = "converter-injection"
	RuleRepositoryCase  source.Rule = "repository-case"

	// Applied when Java is generated: they need the DDL and the Java sources.
	RuleParameterType source.Rule = "parameter-type"
	RuleRowType       source.Rule = "row-type"
	RuleRowColumns    source.Rule = "row-columns"
	RuleConverter     source.Rule = "row-converter"
	RuleCollection    source.Rule = "collection-parameter"
	RuleOutParameter  source.Rule = "out-parameter"
	RuleMethod        source.Rule = "java-method"
	RuleAnnotation    source.Rule = "annotation-value"
	RuleClass         source.Rule = "java-class"
)

// RuleRow is a row of the table of rules.
type RuleRow struct {
	ID       source.Rule
	Severity Severity
	Layer    Layer
	Summary  string // one sentence
	Text     string // why it is a rule and what to do
	Wrong    Example
	Right    Example
}

// Layer is what a rule looks at.
type Layer string

// The layers, from what needs the least to what needs the most.
const (
	LayerFile      Layer = "file"
	LayerShape     Layer = "shape"
	LayerStatement Layer = "statement"
	LayerProject   Layer = "project"
	LayerJava      Layer = "java" // by generate java only
)

// Example is a small project: one file, findUser.sql when it has no path, and the project file when there is one.
type Example struct{ SQL, Path, Project string }

// IsZero tells whether there is no example.
func (e Example) IsZero() bool { return e == Example{} }

func sql(text string) Example { return Example{SQL: text} }

// Rules returns the table of rules, by layer.
func Rules() []RuleRow { return ruleTable }

// RuleNamed returns the row of a rule.
func RuleNamed(id string) (RuleRow, bool) {
	for _, r := range ruleTable {
		if string(r.ID) == id {
			return r, true
		}
	}
	return RuleRow{}, false
}

// RuleNames returns the names of the rules.
func RuleNames() []string {
	names := make([]string, 0, len(ruleTable))
	for _, r := range ruleTable {
		names = append(names, string(r.ID))
	}
	return names
}

// SeverityOf returns the severity of a rule.
func SeverityOf(id source.Rule) Severity {
	for _, r := range ruleTable {
		if r.ID == id {
			return r.Severity
		}
	}
	return Error
}
