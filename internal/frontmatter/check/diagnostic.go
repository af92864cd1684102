package check

import (
	"cmp"
	"slices"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Diagnostic is a finding in a file, with the severity of its rule.
type Diagnostic struct {
	source.Finding
	File     *source.File
	Path     string // as it is shown
	Absolute string // the same file, by which diagnostics are ordered wherever the program is called
	Severity Severity
}

// Severity is how bad a finding is.
type Severity uint8

// The severities.
const (
	Warning Severity = iota
	Error
)

// String names the severity as diagnostics do.
func (s Severity) String() string { return [...]string{"warning", "error"}[s] }

// Sort puts diagnostics into their order: by path, place, rule and message; of equal ones, one is kept.
func Sort(all []Diagnostic) []Diagnostic {
	slices.SortStableFunc(all, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Absolute, b.Absolute),
			cmp.Compare(a.Span.Start, b.Span.Start),
			cmp.Compare(a.Span.End, b.Span.End),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(all, func(a, b Diagnostic) bool {
		return a.Absolute == b.Absolute && a.Span == b.Span && a.Rule == b.Rule && a.Message == b.Message
	})
}
