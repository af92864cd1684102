package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/java"
	"github.com/stagewright/stagewright/internal/frontmatter/output"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// generate writes the code of projects. All statements of a project are read, whatever was named: its classes hold all
// of them.
func (a *app) generate(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "java" {
		return misusef("generate what? Write frontmatter generate java [path...]")
	}
	options, err := a.options(args[1:])
	if err != nil {
		return err
	}
	options.Whole = true
	result, err := a.run(ctx, options)
	if err != nil {
		return err
	}
	if err := lines(a.stderr, result, textLine); err != nil {
		return err
	}
	if n := result.Errors(); n > 0 {
		_, _ = fmt.Fprintf(a.stderr, "%s; nothing generated\n", count(n, "error"))
		return errFindings
	}
	g := generateRun{app: a, options: options, result: result}
	for _, p := range result.Projects {
		if err := g.project(p); err != nil {
			return err
		}
	}
	return g.finish()
}

// generateRun is one run of generate.
type generateRun struct {
	*app
	options check.Options
	result  *check.Result

	files, changed, refused int
}

func (g *generateRun) project(p *check.Project) error {
	files := g.filesOf(p)
	folder, err := g.folder(p)
	if len(files) == 0 && (err != nil || !folder.Written()) {
		return nil
	}
	if err != nil {
		return err
	}
	tables, err := p.DDLFiles()
	if err != nil {
		return fmt.Errorf("generating %s: %w", p.Root, err)
	}
	read := inputs(p, folder, files, tables)
	if last := remembered(folder); last.same(read, folder) {
		g.noteDDL(last.Notes)
		g.files += last.Files
		return nil
	}
	schema, sources := p.SchemaOf(tables), p.Sources()
	g.noteDDL(len(schema.Notes))
	out, err := java.Generate(java.Input{Project: p.Project, Files: files, Schema: schema, Sources: sources})
	if err != nil {
		return fmt.Errorf("generating %s: %w", p.Root, err)
	}
	if out.Files == nil {
		return g.refuse(p, files, out)
	}
	wanted := make([]output.File, 0, len(out.Files))
	for _, f := range out.Files {
		wanted = append(wanted, output.File(f))
	}
	unlock := func() {}
	if !g.reporting() {
		if unlock, err = folder.Lock(); err != nil {
			return fmt.Errorf("generating %s: %w", p.Root, err)
		}
	}
	defer unlock()
	plan, err := output.NewPlan(folder, wanted)
	var foreign *output.ForeignError
	if errors.As(err, &foreign) {
		for _, message := range foreign.Messages {
			_, _ = fmt.Fprintf(g.stderr, "frontmatter: %s\n", oneLine(message))
		}
		g.refused += len(foreign.Messages)
		return nil
	}
	if err != nil {
		return fmt.Errorf("generating %s: %w", p.Root, err)
	}
	g.files += len(wanted)
	g.changed += len(plan.Changes)
	if err := g.apply(folder, plan); err != nil {
		return err
	}
	if state, ok := folder.State(); ok && !g.reporting() {
		remember(folder, memory{Inputs: read, Looked: sources.Looked(), State: state, Files: len(wanted), Notes: len(schema.Notes)})
	}
	return nil
}

func (g *generateRun) noteDDL(n int) {
	if n > 0 {
		_, _ = fmt.Fprintf(g.stderr, "%s of the DDL not read: only CREATE, ALTER and DROP TABLE tell types\n", count(n, "statement"))
	}
}

// reporting tells whether changes are only said.
func (g *generateRun) reporting() bool { return g.values.bool("diff") || g.values.bool("check") }

// filesOf returns the files of a project, in the order of their paths.
func (g *generateRun) filesOf(p *check.Project) []*statement.File {
	mine := make(map[string]bool, len(p.Paths))
	for _, path := range p.Paths {
		mine[path] = true
	}
	var files []*statement.File
	for _, f := range g.result.Files {
		if mine[g.resolved(f.Path)] || mine[absolute(g.dir, f.Path)] {
			files = append(files, f)
		}
	}
	return files
}

// folder is where the code of a project is written. It lies in the project, or in what was named: the project file of
// somebody else is no reason to write anywhere.
func (g *generateRun) folder(p *check.Project) (output.Folder, error) {
	path := g.values.text("output")
	switch {
	case path != "":
		path = absolute(g.dir, path)
	case p.Output == "":
		return output.Folder{}, misusef("there is no folder for the code of %s; set output in frontmatter.yaml, or --output", p.Root)
	default:
		path = filepath.Join(p.Root, filepath.FromSlash(p.Output))
		if relative, err := filepath.Rel(g.resolved(p.Root), g.resolved(path)); err != nil || !filepath.IsLocal(relative) {
			if err := g.confine(g.options, path, path); err != nil {
				return output.Folder{}, err
			}
		}
	}
	if path == p.Root || path == p.Base() {
		return output.Folder{}, misusef("the folder of generated code is that of the statements (%s); choose one below it or beside it", path)
	}
	project, err := filepath.Rel(path, p.Root)
	if err != nil {
		return output.Folder{}, misusef("the folder %s cannot be reached from %s", path, p.Root)
	}
	return output.Folder{Path: path, Project: filepath.ToSlash(project), Header: java.Header, Force: g.values.bool("force")}, nil
}

// refuse prints what stands against generating.
func (g *generateRun) refuse(p *check.Project, files []*statement.File, out *java.Output) error {
	var all []check.Diagnostic
	add := func(file *source.File, findings []source.Finding) {
		for _, f := range findings {
			all = append(all, check.Diagnostic{Finding: f, File: file, Path: file.Path, Absolute: absolute(g.dir, file.Path), Severity: check.Error})
		}
	}
	if p.File != nil {
		add(p.File, out.Project)
	}
	for _, f := range files {
		add(f.File, out.Findings[f])
	}
	all = check.Sort(all)
	if err := lines(g.stderr, &check.Result{Diagnostics: all}, textLine); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(g.stderr, "%s; nothing generated\n", count(len(all), "error"))
	g.refused += len(all)
	return nil
}

// apply makes the changes, or says what they would be.
func (g *generateRun) apply(folder output.Folder, plan *output.Plan) error {
	if !g.reporting() {
		if err := plan.Apply(); err != nil {
			return fmt.Errorf("generating: %w", err)
		}
		return nil
	}
	for _, c := range plan.Changes {
		path := filepath.ToSlash(filepath.Join(folder.Path, c.Path))
		if relative, err := filepath.Rel(g.dir, path); err == nil && !strings.HasPrefix(relative, "..") {
			path = filepath.ToSlash(relative)
		}
		text := path + "\n"
		if g.values.bool("diff") {
			text = string(diff.Diff(path, []byte(c.Old), path+" (generated)", []byte(c.New)))
		}
		if err := printTo(g.stdout, text); err != nil {
			return err
		}
	}
	return nil
}

func (g *generateRun) finish() error {
	switch {
	case g.refused > 0:
		return errFindings
	case g.files == 0 && g.changed == 0:
		_, _ = fmt.Fprintln(g.stderr, "no statements found")
	case g.reporting() && g.changed > 0:
		_, _ = fmt.Fprintf(g.stderr, "%s to change\n", count(g.changed, "file"))
		return errFindings
	default:
		_, _ = fmt.Fprintf(g.stderr, "%s, %d changed\n", count(g.files, "generated file"), g.changed)
	}
	return nil
}
