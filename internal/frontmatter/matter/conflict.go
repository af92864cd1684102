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
	case len(c.Words) == 0:
		return true
	case n.Kind == Bool:
		return slices.Contains(c.Words, strings.ToLower(n.Value))
	default:
		return n.Kind == Text && slices.Contains(c.Words, n.Value)
	}
}

// Conflict is a pair of conditions that do not go together.
type Conflict struct {
	A, B   Condition // the finding is at B
	Why    string
	Unless *Condition // with which they do
}

// outParameter is a parameter that brings a value back.
var outParameter = Condition{Key: "parameters", Variant: true}

// Requirement is a key that needs another one.
type Requirement struct{ Key, Needs, Why string }

// Conflicts returns the table of what keys must not say together.
func Conflicts() []Conflict { return conflictTable }

// Requirements returns the table of keys that need another key.
func Requirements() []Requirement { return requirementTable }

var conflictTable = []Conflict{
	{A: is("executeOnce", "false"), B: is("executeBatch", "false"), Why: "nothing would be generated for the statement"},
	{A: is("type", Reading, Calling), B: is("executeBatch", "true"), Why: "only a writing statement can be executed as a batch"},
	{A: is("returning", Single, Multiple, Cursor), B: is("executeBatch", "true"), Why: "a batch returns no rows"},
	{A: is("type", Reading, Calling), B: is("writesReturnUpdateCount", "true"), Why: "only a writing statement has an update count"},
	{A: is("returning", Single, Multiple, Cursor), B: is("writesReturnUpdateCount", "true"), Why: "a statement that returns rows does not return their number"},
	{A: is("returning", None, Multiple, Cursor), B: is("throwOnMultipleResults", "true"), Why: "only a statement that returns a single row can have too many"},
	{A: is("returning", None), B: is("resultRowType"), Why: "a statement that returns none has no rows", Unless: &outParameter},
	{A: is("returning", None), B: is("resultRowConverter"), Why: "a statement that returns none has no rows"},
	{A: is("returning", None), B: is("resultRowColumns"), Why: "a statement that returns none has no rows", Unless: &outParameter},
	{A: is("resultRowType"), B: is("resultRowConverter"), Why: "a row is built by its type or by its converter"},
	{A: is("resultRowColumns"), B: is("resultRowConverter"), Why: "a converter chooses its columns itself"},
	{A: outParameter, B: is("type", Reading, Writing), Why: "only a call has parameters that are OUT or INOUT"},
	{A: outParameter, B: is("returning", Cursor), Why: "a call with parameters that are OUT or INOUT has no cursor"},
}

var requirementTable = []Requirement{
	{"resultRowColumns", "resultRowType", "the columns are those of its components"},
}

// withoutEffect lists keys that another one makes useless; a warning, because nothing is wrong with the result.
var withoutEffect = []Conflict{
	{A: is("executeOnce", "false"), B: is("executeOncePrefix"), Why: "no such method is generated"},
	{A: is("executeOnce", "false"), B: is("executeOnceSuffix"), Why: "no such method is generated"},
	{A: is("executeBatch", "false"), B: is("executeBatchPrefix"), Why: "no such method is generated"},
	{A: is("executeBatch", "false"), B: is("executeBatchSuffix"), Why: "no such method is generated"},
}

func is(key string, words ...string) Condition { return Condition{Key: key, Words: words} }

// Combine checks the keys of a mapping against each other.
func Combine(root *Node) []source.Finding {
	var findings []source.Finding
	pair := func(c Conflict, rule source.Rule, message string) {
		if !c.A.met(root) || !c.B.met(root) || c.Unless != nil && c.Unless.met(root) {
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
