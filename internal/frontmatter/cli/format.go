package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/format"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// stdinName stands for standard input in messages and as the name of its file.
const stdinName = "<stdin>"

func (a *app) format(ctx context.Context, args []string) error {
	options, err := a.options(args)
	if err != nil {
		return err
	}
	if slices.Contains(args, "-") {
		if len(args) > 1 {
			return misusef("- formats standard input; it does not go with paths")
		}
		return a.formatStdin(options.Overrides)
	}
	result, err := a.run(ctx, options)
	if err != nil {
		return err
	}
	f := formatRun{app: a, options: options, broken: brokenForm(result.Diagnostics)}
	for _, file := range result.Files {
		if err := f.file(file); err != nil {
			return err
		}
	}
	return f.finish()
}

// formatStdin formats standard input as a file of the project of the working folder, whatever its folders are.
func (a *app) formatStdin(overrides check.Overrides) error {
	text, err := a.readStdin()
	if err != nil {
		return err
	}
	p, err := check.ProjectOf(a.dir, overrides)
	if err != nil {
		return fmt.Errorf("reading the project: %w", err)
	}
	file := check.File(p.Project, source.NewFile(stdinName, text), stdinName)
	diagnostics := make([]check.Diagnostic, 0, len(file.Findings))
	for _, found := range file.Findings {
		diagnostics = append(diagnostics, check.Diagnostic{Finding: found, File: file.File, Path: stdinName, Severity: check.SeverityOf(found.Rule)})
	}
	f := formatRun{app: a, stdin: true, broken: brokenForm(check.Sort(diagnostics))}
	if err := f.file(file); err != nil {
		return err
	}
	return f.finish()
}

// brokenForm collects the errors in how files are written, by path. What statements mean is not the formatter's
// business; nor is where standard input would be stored.
func brokenForm(all []check.Diagnostic) map[string][]check.Diagnostic {
	broken := map[string][]check.Diagnostic{}
	for _, d := range all {
		if r, _ := check.RuleNamed(string(d.Rule)); d.Severity == check.Error && (r.Layer == check.LayerFile || r.Layer == check.LayerShape) {
			broken[d.Path] = append(broken[d.Path], d)
		}
	}
	return broken
}

// formatRun is one run of fmt.
type formatRun struct {
	*app
	options check.Options
	stdin   bool
	broken  map[string][]check.Diagnostic

	changed, refused int
}

func (f *formatRun) file(file *statement.File) error {
	if errs := f.broken[file.Path]; len(errs) > 0 {
		f.refused++
		if err := lines(f.stderr, &check.Result{Diagnostics: errs}, textLine); err != nil {
			return err
		}
		if f.stdin && !f.reporting() {
			return printTo(f.stdout, file.Text)
		}
		return nil
	}
	formatted := format.File(file)
	changed := formatted != file.Text
	if changed {
		f.changed++
	}
	switch {
	case f.values.bool("diff"):
		return printTo(f.stdout, string(diff.Diff(file.Path, []byte(file.Text), file.Path+" (formatted)", []byte(formatted))))
	case f.values.bool("check"):
		if changed {
			return printTo(f.stdout, file.Path+"\n")
		}
		return nil
	case f.stdin:
		return printTo(f.stdout, formatted)
	case changed:
		if err := f.confine(f.options, file.Path, file.Path); err != nil {
			return err
		}
		return replaceFile(absolute(f.dir, file.Path), file.Path, formatted)
	}
	return nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// reporting tells whether the run only says what would change.
func (f *formatRun) reporting() bool { return f.values.bool("diff") || f.values.bool("check") }

func (f *formatRun) finish() error {
	if f.refused > 0 {
		_, _ = fmt.Fprintf(f.stderr, "%s with errors left alone\n", count(f.refused, "file"))
	}
	if f.changed > 0 && !f.stdin {
		what := "formatted"
		if f.reporting() {
			what = "to format"
		}
		_, _ = fmt.Fprintf(f.stderr, "%s %s\n", count(f.changed, "file"), what)
	}
	if f.refused > 0 || f.changed > 0 && f.reporting() {
		return errFindings
	}
	return nil
}
