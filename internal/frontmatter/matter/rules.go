package matter

import "github.com/stagewright/stagewright/internal/frontmatter/source"

// The rules of this package: what is wrong with front matter without looking at the SQL.
const (
	RuleSyntax     source.Rule = "yaml-syntax"
	RuleFeature    source.Rule = "yaml-feature"
	RuleDuplicate  source.Rule = "duplicate-key"
	RuleUnknownKey source.Rule = "unknown-key"
	RuleType       source.Rule = "wrong-type"
	RuleWord       source.Rule = "unknown-word"
	RuleFormat     source.Rule = "wrong-format"
	RuleEmpty      source.Rule = "empty-value"
	RuleMissing    source.Rule = "missing-key"
	RuleConflict   source.Rule = "conflicting-keys"
	RuleNoEffect   source.Rule = "key-without-effect"
)
