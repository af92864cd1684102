package lsp

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// workspace holds the open documents and the projects they belong to.
type workspace struct {
	overrides check.Overrides
	encoding  source.Encoding
	documents map[string]*document // by URI
	projects  map[string]*project  // by root
}

func newWorkspace(o check.Overrides) *workspace {
	return &workspace{overrides: o, encoding: source.UTF16, documents: map[string]*document{}, projects: map[string]*project{}}
}

// negotiate takes the first encoding of the client's list that there is; UTF-16 is what every client has.
func (w *workspace) negotiate(offered []string) string {
	known := map[string]source.Encoding{"utf-8": source.UTF8, "utf-16": source.UTF16, "utf-32": source.CodePoints}
	for _, name := range offered {
		if e, ok := known[name]; ok {
			w.encoding = e
			return name
		}
	}
	return "utf-16"
}

// document is an open text.
type document struct {
	uri     string
	path    string // with symlinks resolved; that of the URI for texts that are no files
	version int
	text    string
	file    *statement.File // nil when the text is newer
	project *project
	dirty   bool // diagnostics are to be published
}

// project is a project with its files as they are, open documents in place of what is on disk.
type project struct {
	*check.Project
	files map[string]*statement.File // by path
	found map[*statement.File][]source.Finding
}

// pathOf returns the path of a file URI; false for other URIs.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri, false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}

func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// resolved follows the symlinks of a path's folder, as the finding of projects does.
func resolved(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// open takes a text into the workspace.
func (w *workspace) open(uri, text string, version int) *document {
	path, isFile := pathOf(uri)
	d := &document{uri: uri, path: path, version: version, text: text, dirty: true}
	if isFile {
		d.path = resolved(path)
		d.project = w.projectOf(d.path, text)
	}
	if d.project == nil {
		d.project = &project{Project: &check.Project{Project: statement.NewProject("")}, files: map[string]*statement.File{}}
	}
	w.documents[uri] = d
	return d
}

// projectOf returns the project of a file, read when it is not there yet; nil when its folder cannot be read.
func (w *workspace) projectOf(path, text string) *project {
	found, err := check.FindProjects([]string{path}, map[string]string{path: text}, w.overrides)
	if err != nil {
		return nil
	}
	for _, p := range found {
		if !p.Asked(path) {
			continue
		}
		if known, ok := w.projects[p.Root]; ok {
			return known
		}
		loaded := &project{Project: p, files: map[string]*statement.File{}}
		// A folder without a project file may be anything, a home folder included: only what is open is read.
		if p.File != nil {
			for _, other := range p.Paths {
				loaded.load(other)
			}
		}
		w.projects[p.Root] = loaded
		return loaded
	}
	return nil
}

// load reads a file from disk; one that is gone or too large is not a part of the project.
func (p *project) load(path string) {
	relative, ok := p.Relative(path)
	info, err := os.Stat(path)
	if !ok || !p.Reads(relative) || err != nil || !info.Mode().IsRegular() || info.Size() > source.MaxFileSize {
		delete(p.files, path)
		return
	}
	data, err := os.ReadFile(path) //nolint:gosec // files of the user's project
	if err != nil {
		delete(p.files, path)
		return
	}
	p.files[path] = check.File(p.Project.Project, source.NewFile(path, string(data)), relative)
}

// current returns a document's statements, read anew when its text has changed.
func (d *document) current() *statement.File {
	if d.file != nil {
		return d.file
	}
	file := source.NewFile(d.path, d.text)
	relative, inside := d.project.Relative(d.path)
	if filepath.Base(d.path) == matter.ProjectFile {
		_, findings := statement.ReadProject(d.project.Root, file)
		d.file = &statement.File{File: file, Findings: findings}
		return d.file
	}
	if !inside || d.project.Root == "" {
		relative = filepath.Base(d.path)
	}
	d.file = check.File(d.project.Project.Project, file, relative)
	if d.project.Root == "" || inside && d.project.Reads(relative) {
		d.project.files[d.path] = d.file
		d.project.found = nil
	}
	return d.file
}

// across returns the findings between a project's statements.
func (p *project) across() map[*statement.File][]source.Finding {
	if p.found == nil {
		files := make([]*statement.File, 0, len(p.files))
		for _, f := range p.files {
			files = append(files, f)
		}
		check.ByPath(files)
		p.found = check.Across(p.Project.Project, files)
	}
	return p.found
}

// findings returns all that is wrong with a document, in order.
func (d *document) findings() []check.Diagnostic {
	file := d.current()
	var all []check.Diagnostic
	for _, findings := range [][]source.Finding{file.Findings, d.project.across()[file]} {
		for _, f := range findings {
			all = append(all, check.Diagnostic{Finding: f, File: file.File, Severity: check.SeverityOf(f.Rule)})
		}
	}
	return check.Sort(all)
}

// touch marks everything that a change of a project's file may concern.
func (w *workspace) touch(p *project) {
	p.found = nil
	for _, d := range w.documents {
		if d.project == p {
			d.dirty = true
		}
	}
}

// reload forgets a project, so that its settings are read anew for its open documents.
func (w *workspace) reload(root string) {
	delete(w.projects, root)
	for _, d := range w.documents {
		if strings.HasPrefix(d.path, root) {
			fresh := w.open(d.uri, d.text, d.version)
			*d = *fresh
			w.documents[d.uri] = d
		}
	}
}

// rangeOf translates a span into the client's terms.
func (w *workspace) rangeOf(f *source.File, s source.Span) textRange {
	return textRange{w.positionOf(f, s.Start), w.positionOf(f, s.End)}
}

func (w *workspace) positionOf(f *source.File, offset int) position {
	p := f.PositionIn(offset, w.encoding)
	return position{p.Line - 1, p.Column - 1}
}

func (w *workspace) offsetOf(f *source.File, p position) int {
	return f.Offset(source.Position{Line: p.Line + 1, Column: p.Character + 1}, w.encoding)
}
