package matter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Condition is something a key can be. A key that is not written meets none, whatever its default.
type Condition struct {
	Key     string
	Words   []string // one of these words; of a boolean, true or false
	Variant bool     // parameters: one of them is OUT or INOUT
}

// met tells whether the front matter meets the condition. Without words, any value does.
func (c Condition) met(root *Node) bool {
	n := root.Get(c.Key)
	switch {
	case n == nil || n.Kind == Null:
		return false
	case c.Variant:
		return slices.ContainsFunc(n.Items, func(p *Node) bool {
			v := p.Get("variant")
			return v != nil && (v.Value == Out || v.Value == InOut)
		})
	case c.Words == nil:
		return true
	case n.Kind == Bool:
		return slices.Contains(c.Words, strings.ToLower(n.Value))
	default:
		return n.Kind == Text && slices.Contains(c.Words, n.Value)
	}
}

// Conflict is a pair of conditions that do not go together.
type Conflict struct {
	A, B Condition // the finding is at B
	Why  string
}

// Requirement is a key that needs another one.
type Requirement struct{ Key, Needs, Why string }

// Conflicts returns the table of what keys must not say together.
func Conflicts() []Conflict { return conflictTable }

// Requirements returns the table of keys that need another key.
func Requirements() []Requirement { return requirementTable }

var conflictTable = []Conflict{
	{is("executeOnce", "false"), is("executeBatch", "false"), "nothing would be generated for the statement"},
	{is("type", Reading, Calling), is("executeBatch", "true"), "only a writing statement can be executed as a batch"},
	{is("returning", Single, Multiple, Cursor), is("executeBatch", "true"), "a batch returns no rows"},
	{is("type", Reading, Calling), is("writesReturnUpdateCount", "true"), "only a writing statement has an update count"},
	{is("returning", Single, Multiple, Cursor), is("writesReturnUpdateCount", "true"), "a statement that returns rows does not return their number"},
	{is("returning", None, Multiple, Cursor), is("throwOnMultipleResults", "true"), "only a statement that returns a single row can have too many"},
	{is("returning", None), Condition{Key: "resultRowType"}, "a statement that returns none has no rows"},
	{is("returning", None), Condition{Key: "resultRowConverter"}, "a statement that returns none has no rows"},
	{is("returning", None), Condition{Key: "resultRowColumns"}, "a statement that returns none has no rows"},
	{Condition{Key: "resultRowType"}, Condition{Key: "resultRowConverter"}, "a row is built by its type or by its converter"},
	{Condition{Key: "resultRowColumns"}, Condition{Key: "resultRowConverter"}, "a converter chooses its columns itself"},
	{Condition{Key: "parameters", Variant: true}, is("type", Reading, Writing), "only a call has parameters that are OUT or INOUT"},
	{Condition{Key: "parameters", Variant: true}, is("returning", Cursor), "a call with parameters that are OUT or INOUT has no cursor"},
}

var requirementTable = []Requirement{
	{"resultRowColumns", "resultRowType", "the columns are those of its components"},
}

// withoutEffect lists keys that another one makes useless; a warning, because nothing is wrong with the result.
var withoutEffect = []Conflict{
	{is("executeOnce", "false"), Condition{Key: "executeOncePrefix"}, "no such method is generated"},
	{is("executeOnce", "false"), Condition{Key: "executeOnceSuffix"}, "no such method is generated"},
	{is("executeBatch", "false"), Condition{Key: "executeBatchPrefix"}, "no such method is generated"},
	{is("executeBatch", "false"), Condition{Key: "executeBatchSuffix"}, "no such method is generated"},
}

func is(key string, words ...string) Condition { return Condition{Key: key, Words: words} }

// Combine checks the keys of a mapping against each other.
func Combine(root *Node) []source.Finding {
	var findings []source.Finding
	pair := func(c Conflict, rule source.Rule, message string) {
		if !c.A.met(root) || !c.B.met(root) {
			return
		}
		a, b := root.Pair(c.A.Key), root.Pair(c.B.Key)
		findings = append(findings, source.Finding{
			Rule: rule, Span: b.Span,
			Message: fmt.Sprintf(message, describe(b), describe(a)) + ": " + c.Why,
			Related: []source.Related{{Span: a.Span, Message: "the other key"}},
		})
	}
	for _, c := range conflictTable {
		pair(c, RuleConflict, "%s does not go with %s")
	}
	for _, c := range withoutEffect {
		pair(c, RuleNoEffect, "%s has no effect with %s")
	}
	for _, r := range requirementTable {
		if p := root.Pair(r.Key); p != nil && root.Get(r.Needs) == nil {
			findings = append(findings, source.Finding{
				Rule: RuleMissing, Span: p.Span, Message: fmt.Sprintf("%s needs %s: %s", r.Key, r.Needs, r.Why),
			})
		}
	}
	return findings
}

// describe says a pair as it is written, the value only when it is a short one.
func describe(p *Pair) string {
	if p.Value.Kind == Bool || p.Value.Kind == Text && len(p.Value.Value) < 20 {
		return p.Key + ": " + p.Value.Value
	}
	return p.Key
}
