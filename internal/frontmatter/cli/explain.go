package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

func (a *app) explain(_ context.Context, args []string) error {
	if len(args) == 0 {
		return a.listRules()
	}
	var b strings.Builder
	for i, id := range args {
		r, ok := check.RuleNamed(strings.Trim(id, "[]"))
		if !ok {
			message := fmt.Sprintf("there is no rule %q", id)
			if near, found := matter.Nearest(id, check.RuleNames()); found {
				message += "; did you mean " + near + "?"
			}
			return misusef("%s", message)
		}
		if i > 0 {
			b.WriteString("\n")
		}
		explainRule(&b, r)
	}
	return printTo(a.stdout, b.String())
}

func explainRule(b *strings.Builder, r check.RuleRow) {
	fmt.Fprintf(b, "%s (%s, %s layer)\n\n%s\n%s\n", r.ID, r.Severity, r.Layer, r.Summary, strings.ReplaceAll(r.Text, "`", ""))
	for _, e := range []struct {
		title   string
		example check.Example
	}{{"Wrong", r.Wrong}, {"Right", r.Right}} {
		if e.example.IsZero() {
			continue
		}
		fmt.Fprintf(b, "\n%s%s:\n\n", e.title, where(e.example))
		for line := range strings.Lines(e.example.SQL) {
			b.WriteString("    " + strings.ToValidUTF8(line, "\uFFFD"))
		}
	}
}

// where says in which file an example stands, when that matters.
func where(e check.Example) string {
	text := ""
	if e.Path != "" {
		text = ", in " + e.Path
	}
	if e.Project != "" {
		text += ", with " + strings.TrimSpace(e.Project) + " in " + matter.ProjectFile
	}
	return text
}

func (a *app) listRules() error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, r := range check.Rules() {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.Severity, r.Summary); err != nil {
			return fmt.Errorf("writing the rules: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing the rules: %w", err)
	}
	return nil
}

func printTo(out io.Writer, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("writing output: %w", err)
	}
	return nil
}
