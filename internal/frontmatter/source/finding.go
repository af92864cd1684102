package source

import (
	"cmp"
	"slices"
	"strings"
)

// Span is a half-open range of byte offsets in one file.
type Span struct{ Start, End int }

// Contains says whether an offset lies in the span or directly behind it, as a cursor does.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset <= s.End }

// Text returns the part of a text that the span covers.
func (s Span) Text(text string) string { return text[s.Start:s.End] }

// Edit replaces a span by a text.
type Edit struct {
	Span
	Text string
}

// Edited returns a text with edits made that do not overlap.
func Edited(text string, edits []Edit) string {
	edits = slices.SortedFunc(slices.Values(edits), func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// Replacement is the fix that puts a word in the place of another.
func Replacement(span Span, word string, sure bool) Fix {
	return Fix{Title: "Replace by " + word, Edits: []Edit{{Span: span, Text: word}}, Sure: sure}
}

// Fix is a suggestion that can be applied. A sure one is applied by `check --fix` without asking.
type Fix struct {
	Title string
	Edits []Edit
	Sure  bool
}

// Rule names a rule; the table of rules gives its severity, text and examples.
type Rule string

// Finding is something a rule says about a place in a file.
type Finding struct {
	Rule    Rule
	Span    Span
	Message string
	Fixes   []Fix
	Related []Related
}

// Related is another place that a finding is about.
type Related struct {
	Path    string
	Span    Span
	Message string
}

// The rules of this package.
const (
	RuleEncoding      Rule = "file-encoding"
	RuleFileSize      Rule = "file-size"
	RuleUnterminated  Rule = "unterminated"
	RuleUnnamed       Rule = "unnamed-parameter"
	RuleSeparator     Rule = "separator-line"
	RuleWithoutSQL    Rule = "front-matter-without-sql"
	RuleTwoBlocks     Rule = "two-front-matters"
	RuleKeyNotRead    Rule = "key-not-read"
	RuleNestedTooDeep Rule = "front-matter-size"
	RuleTooMany       Rule = "too-many-findings"
)
