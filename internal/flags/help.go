package flags

import (
	"fmt"
	"io"
	"strings"
)

const helpWidth = 100

// WriteHelp writes what --help shows.
func (t Table) WriteHelp(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s [flags]\n", strings.TrimSpace(t.Summary), t.Program)
	if len(t.Examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, e := range t.Examples {
			fmt.Fprintf(&b, "  # %s\n  %s\n", e.Purpose, e.Command)
		}
	}
	for _, group := range t.Groups {
		fmt.Fprintf(&b, "\n%s:\n", group.Title)
		if group.Note != "" {
			fmt.Fprintf(&b, "  (%s)\n", group.Note)
		}
		for _, f := range group.Flags {
			f.writeHelp(&b)
		}
	}
	if len(t.Variables) > 0 {
		b.WriteString("\nEnvironment:\n")
		for _, v := range t.Variables {
			fmt.Fprintf(&b, "  %s\n%s", v.Name, wrap(v.Help, 6))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f Flag) writeHelp(b *strings.Builder) {
	shown := strings.ReplaceAll(f.Type(), ", repeatable", "...")
	if shown == "bool" {
		fmt.Fprintf(b, "  --%s (default %s)\n", f.Name, f.Default())
	} else {
		fmt.Fprintf(b, "  --%s %s (default %s)\n", f.Name, shown, f.Default())
	}
	b.WriteString(wrap(f.fullHelp(), 6))
}

func (f Flag) fullHelp() string {
	if f.Environment == "" {
		return f.Help
	}
	return fmt.Sprintf("%s; when empty, the environment variable %s is used", f.Help, f.Environment)
}

// wrap breaks text into indented lines.
func wrap(text string, indent int) string {
	var b strings.Builder
	line := ""
	flush := func() {
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent) + line + "\n")
		}
		line = ""
	}
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > helpWidth-indent {
			flush()
		}
		line = strings.TrimSpace(line + " " + word)
	}
	flush()
	return b.String()
}

// Markdown is the reference page.
func (t Table) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Flags of `%s`\n\n", t.Program)
	b.WriteString("<!-- Made from the program's flag table by `make generate`; do not edit. -->\n\n")
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(t.Summary))
	for _, group := range t.Groups {
		fmt.Fprintf(&b, "\n## %s\n\n", group.Title)
		if group.Note != "" {
			fmt.Fprintf(&b, "%s.\n\n", upper(group.Note))
		}
		b.WriteString("| Flag | Type | Default | Meaning |\n|---|---|---|---|\n")
		for _, f := range group.Flags {
			fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", f.Name, f.Type(), cell(f.Default()), cell(f.fullHelp()))
		}
	}
	if len(t.Variables) > 0 {
		b.WriteString("\n## Environment\n\n| Variable | Meaning |\n|---|---|\n")
		for _, v := range t.Variables {
			fmt.Fprintf(&b, "| `%s` | %s |\n", v.Name, cell(v.Help))
		}
	}
	return b.String()
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "\n", " ").Replace(text)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
