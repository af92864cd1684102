package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// Options say what is checked and how.
type Options struct {
	Paths     []string // absolute, or relative to Dir
	Dir       string   // the working folder, from which paths are shown
	Overrides Overrides
	Strict    bool                  // warnings count as errors
	Whole     bool                  // all files of the projects count as asked about
	Overlay   map[string]string     // texts by absolute path, instead of what the files hold
	Progress  func(done, total int) // called now and then; may be nil
}

// Result is what a run found.
type Result struct {
	Diagnostics []Diagnostic
	Files       []*statement.File // of the paths that were asked about, in the order of their paths
	Projects    []*Project
}

// Errors counts the diagnostics that are errors.
func (r *Result) Errors() int {
	n := 0
	for _, d := range r.Diagnostics {
		if d.Severity == Error {
			n++
		}
	}
	return n
}

// Run checks the statements of the given paths. All statements of their projects are read, so that the verdict on a
// file does not depend on which others were named.
func Run(ctx context.Context, o Options) (*Result, error) {
	paths := make([]string, 0, len(o.Paths))
	for _, p := range o.Paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(o.Dir, p)
		}
		paths = append(paths, filepath.Clean(p))
	}
	if o.Overrides.Source != "" && !filepath.IsAbs(o.Overrides.Source) {
		o.Overrides.Source = filepath.Join(o.Dir, o.Overrides.Source)
	}
	projects, err := FindProjects(paths, o.Overlay, o.Overrides)
	if err != nil {
		return nil, err
	}
	r := &runner{options: o, result: &Result{Projects: projects}, show: shower(o.Dir)}
	for _, p := range projects {
		r.total += len(p.Paths)
	}
	for _, p := range projects {
		if err := r.project(ctx, p); err != nil {
			return nil, err
		}
	}
	r.result.Diagnostics = Sort(r.result.Diagnostics)
	return r.result, nil
}

type runner struct {
	options Options
	result  *Result
	show    func(string) string
	total   int
	done    atomic.Int64
}

// shower returns how a path is shown: relative to the working folder when it lies below it.
func shower(dir string) func(string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return func(path string) string {
		relative, err := filepath.Rel(dir, path)
		if err != nil || strings.HasPrefix(relative, "..") {
			return filepath.ToSlash(path)
		}
		return filepath.ToSlash(relative)
	}
}

func (r *runner) project(ctx context.Context, p *Project) error {
	if p.File != nil {
		path := p.File.Path
		p.File.Path = r.show(path)
		r.report(p.File, path, p.Findings)
	}
	files, err := r.read(ctx, p)
	if err != nil {
		return err
	}
	found := Across(p.Project, files)
	statement.Inherit(files)
	for i, f := range files {
		if !r.options.Whole && !p.Asked(p.Paths[i]) {
			continue
		}
		r.result.Files = append(r.result.Files, f)
		r.report(f.File, p.Paths[i], f.Findings)
		r.report(f.File, p.Paths[i], found[f])
	}
	r.outside(p)
	for _, u := range p.unreadable {
		r.report(source.NewFile(r.show(u.path), ""), u.path, cannotRead("folder", u.err))
	}
	return nil
}

// outside reports files that were named and do not lie in the folder of the statements.
func (r *runner) outside(p *Project) {
	for _, path := range p.Selected {
		if !strings.HasSuffix(path, ".sql") || slices.Contains(p.Paths, path) {
			continue
		}
		if _, inside := p.Relative(path); !inside {
			r.report(source.NewFile(r.show(path), ""), path, []source.Finding{{
				Rule: RuleOutside, Message: fmt.Sprintf("the file lies outside of sqlRoot (%s), so that it has no repository; move it, or change sqlRoot", p.SQLRoot),
			}})
		}
	}
}

// read reads and checks the files of a project, several at a time, and keeps their order.
func (r *runner) read(ctx context.Context, p *Project) ([]*statement.File, error) {
	files := make([]*statement.File, len(p.Paths))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(len(p.Paths), 1)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(p.Paths) {
					return
				}
				files[i] = r.file(p, p.Paths[i])
				if done := r.done.Add(1); r.options.Progress != nil {
					r.options.Progress(int(done), r.total)
				}
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("checking %s: %w", p.Root, err)
	}
	return files, nil
}

func (r *runner) file(p *Project, path string) *statement.File {
	relative, _ := p.Relative(path)
	text, ok := r.options.Overlay[path]
	if !ok {
		read, finding := readFile(path)
		if finding != nil {
			return &statement.File{File: source.NewFile(r.show(path), ""), Relative: relative, Findings: finding}
		}
		text = read
	}
	return File(p.Project, source.NewFile(r.show(path), text), relative)
}

// readFile reads a file, unless it is larger than what is read at all.
func readFile(path string) (string, []source.Finding) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular(): // a pipe may never end
		return "", cannotRead("file", errNotRegular)
	case err == nil && info.Size() > source.MaxFileSize:
		return "", []source.Finding{source.TooLarge()}
	}
	data, err := os.ReadFile(path) //nolint:gosec // the path comes from walking the user's folder
	if err != nil {
		return "", cannotRead("file", err)
	}
	return string(data), nil
}

var errNotRegular = errors.New("it is not a regular file")

// cannotRead says why, without the path, which the diagnostic has already.
func cannotRead(what string, err error) []source.Finding {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return []source.Finding{{Rule: RuleUnreadable, Message: fmt.Sprintf("the %s cannot be read: %v", what, err)}}
}

// File reads a file and checks each of its statements.
func File(p *statement.Project, file *source.File, relative string) *statement.File {
	f := statement.Build(p, file, relative)
	for _, s := range f.Statements {
		f.Findings = append(f.Findings, Statement(p, s)...)
	}
	return f
}

func (r *runner) report(file *source.File, path string, findings []source.Finding) {
	for _, f := range findings {
		d := Diagnostic{Finding: f, File: file, Path: file.Path, Absolute: path, Severity: SeverityOf(f.Rule)}
		if r.options.Strict {
			d.Severity = Error
		}
		r.result.Diagnostics = append(r.result.Diagnostics, d)
	}
}
