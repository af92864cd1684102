package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// maxRounds bounds --fix: each round fixes what the one before it uncovered.
const maxRounds = 10

func (a *app) check(ctx context.Context, args []string) error {
	options, err := a.options(args)
	if err != nil {
		return err
	}
	if a.values.bool("fix") {
		if options.Overlay != nil {
			return misusef("--fix writes files; it does not go with --stdin-filename")
		}
		if err := a.fix(ctx, options); err != nil {
			return err
		}
	}
	result, err := a.run(ctx, options)
	if err != nil {
		return err
	}
	if err := report(a.values.text("format"), a.stdout, result); err != nil {
		return err
	}
	if a.values.text("format") == "text" {
		a.summary(result)
	}
	if result.Errors() > 0 {
		return errFindings
	}
	return nil
}

// options turns arguments and flags into what is checked.
func (a *app) options(args []string) (check.Options, error) {
	o := check.Options{
		Paths: args, Dir: a.dir, Strict: a.values.bool("strict"),
		Overrides: check.Overrides{
			Source: a.values.text("source"), DDL: a.values.list("ddl"),
			BasePackage: a.values.text("base-package"), Dialect: a.values.text("dialect"),
		},
	}
	if name := a.values.text("stdin-filename"); name != "" {
		if len(args) > 0 {
			return o, misusef("--stdin-filename checks standard input; it does not go with paths")
		}
		text, err := a.readStdin()
		if err != nil {
			return o, err
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(a.dir, name)
		}
		name = filepath.Clean(name)
		o.Paths, o.Overlay = []string{name}, map[string]string{name: text}
	}
	if len(o.Paths) == 0 {
		o.Paths = []string{a.dir}
	}
	return o, nil
}

// readStdin reads standard input, as far as a file would be read.
func (a *app) readStdin() (string, error) {
	text, err := io.ReadAll(io.LimitReader(a.stdin, source.MaxFileSize+1))
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	if len(text) > source.MaxFileSize {
		return "", misusef("standard input is larger than 32 MiB")
	}
	return string(text), nil
}

// run checks, with progress on a terminal.
func (a *app) run(ctx context.Context, o check.Options) (*check.Result, error) {
	p := newProgress(a.stderr, "checking")
	o.Progress = p.update
	defer p.clear()
	result, err := check.Run(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("checking statements: %w", err)
	}
	return result, nil
}

// fix applies the sure fixes, round by round.
func (a *app) fix(ctx context.Context, o check.Options) error {
	for range maxRounds {
		result, err := a.run(ctx, o)
		if err != nil {
			return err
		}
		fixed := 0
		byPath := map[string][]check.Diagnostic{}
		for _, d := range result.Diagnostics {
			byPath[d.Path] = append(byPath[d.Path], d)
		}
		for _, d := range result.Diagnostics {
			all := byPath[d.Path]
			if all == nil {
				continue
			}
			delete(byPath, d.Path)
			text, n := check.Apply(d.File.Text, all)
			if n == 0 {
				continue
			}
			if err := a.confine(o, d.Absolute, d.Path); err != nil {
				return err
			}
			if err := replaceFile(d.Absolute, d.Path, text); err != nil {
				return err
			}
			fixed += n
		}
		if fixed == 0 {
			return nil
		}
		_, _ = fmt.Fprintf(a.stderr, "%s fixed\n", count(fixed, "finding"))
	}
	return nil
}

func (a *app) summary(r *check.Result) {
	statements := 0
	for _, f := range r.Files {
		statements += len(f.Statements)
	}
	if len(r.Files) == 0 && len(r.Diagnostics) == 0 {
		_, _ = fmt.Fprintln(a.stderr, "no .sql files found")
		return
	}
	errors := r.Errors()
	warnings := len(r.Diagnostics) - errors
	_, _ = fmt.Fprintf(a.stderr, "%s in %s: %s, %s\n", count(statements, "statement"), count(len(r.Files), "file"), count(errors, "error"), count(warnings, "warning"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
