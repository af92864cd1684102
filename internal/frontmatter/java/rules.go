package java

import "github.com/stagewright/stagewright/internal/frontmatter/source"

// The rules of this package. They need the DDL and the Java sources, so that only generating applies them.
const (
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
