package format

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// File returns the text of a file with all its front matter formatted. Front matter that cannot be read stays.
func File(f *statement.File) string { return source.Edited(f.Text, Edits(f)) }

// Edits returns what File changes, by position.
func Edits(f *statement.File) []source.Edit {
	var edits []source.Edit
	for _, s := range f.Statements {
		block := s.Source.Block
		if block == nil || !s.Readable() {
			continue
		}
		formatted := comment(Matter(block.YAML()), lineEnd(f.Text[block.Start:]))
		if formatted != block.Text(f.Text) {
			edits = append(edits, source.Edit{Span: block.Span, Text: formatted})
		}
	}
	return edits
}

// lineEnd returns the first line end of a text.
func lineEnd(text string) string {
	i := strings.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return "\n"
	case strings.HasPrefix(text[i:], "\r\n"):
		return "\r\n"
	default:
		return text[i : i+1]
	}
}

// comment puts dashes before each line.
func comment(yaml, end string) string {
	lines := strings.Split(strings.TrimSuffix(yaml, "\n"), "\n")
	for i, line := range lines {
		if lines[i] = "--"; line != "" {
			lines[i] += " " + line
		}
	}
	return strings.Join(lines, end)
}

// Matter formats front matter without its dashes. What would come out with another meaning, or with a comment less,
// comes out as it was.
func Matter(yaml string) string {
	root, findings := matter.Read(yaml, identity)
	if root == nil || len(findings) > 0 {
		return yaml
	}
	f := newFormatter(yaml)
	lines := f.mapping(root, matter.KeyShape(), 0)
	lines = append(lines, f.trailing()...)
	formatted := strings.Join(lines, "\n") + "\n"
	again, findings := matter.Read(formatted, identity)
	if again == nil || len(findings) > 0 || !equal(root, again) {
		return yaml
	}
	check := newFormatter(formatted)
	check.mapping(again, matter.KeyShape(), 0)
	if !slices.Equal(f.comments(), check.comments()) {
		return yaml
	}
	return formatted
}

func identity(offset int) int { return offset }

// equal compares values; keys may stand in another order.
func equal(a, b *matter.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || len(a.Items) != len(b.Items) || len(a.Pairs) != len(b.Pairs) {
		return false
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, p := range a.Pairs {
		if other := b.Get(p.Key); other == nil || !equal(p.Value, other) {
			return false
		}
	}
	return true
}
