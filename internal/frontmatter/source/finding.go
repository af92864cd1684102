package source

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
