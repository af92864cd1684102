package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// Project is a folder with its settings and the paths of its files. Paths are absolute.
type Project struct {
	*statement.Project
	File     *source.File // the project file; nil without one
	Findings []source.Finding
	Paths    []string // of the .sql files, in the order of their relative paths
	Selected []string // files and folders that the user asked about

	include, exclude globs
	nested           []string // folders below that are projects of their own
	listed           bool     // Paths has all files
	unreadable       []unreadable
}

// unreadable is a folder that cannot be listed.
type unreadable struct {
	path string
	err  error
}

// Overrides are settings given as flags. They win over the project file.
type Overrides struct {
	Source      string // folder of the statements, absolute
	DDL         []string
	BasePackage string
	Dialect     string
}

// MisuseError is an input that cannot be checked at all.
type MisuseError struct{ Message string }

func (e *MisuseError) Error() string { return e.Message }

// FindProjects returns the projects of files and folders, in the order of their roots. Every path belongs to the
// nearest folder above it that has a project file; without one, a folder is its own project. A file that only the
// overlay has belongs to the project of its folder.
func FindProjects(paths []string, overlay map[string]string, overrides Overrides) ([]*Project, error) {
	byRoot := map[string]*Project{}
	for pending := slices.Clone(paths); len(pending) > 0; {
		path := pending[0]
		pending = pending[1:]
		resolved, isDir, err := resolve(path, overlay)
		if err != nil {
			return nil, err
		}
		root, found := projectRoot(resolved, isDir)
		p := byRoot[root]
		if p == nil {
			if p, err = openProject(root, found, overrides); err != nil {
				return nil, err
			}
			byRoot[root] = p
		}
		// A file without a project is looked at alone: its folder may be anything, a home folder included.
		if (found || isDir) && !p.listed {
			if err := p.list(); err != nil {
				return nil, err
			}
			pending = append(pending, p.nested...)
		}
		if !isDir && filepath.Base(resolved) != matter.ProjectFile && !strings.HasSuffix(resolved, ".sql") {
			return nil, &MisuseError{fmt.Sprintf("%s is not an .sql file", path)}
		}
		p.Selected = append(p.Selected, resolved)
		if _, ok := overlay[path]; ok || !p.listed {
			p.add(resolved)
		}
	}
	projects := make([]*Project, 0, len(byRoot))
	for _, p := range byRoot {
		projects = append(projects, p)
	}
	slices.SortFunc(projects, func(a, b *Project) int { return cmp.Compare(a.Root, b.Root) })
	return projects, nil
}

// ProjectOf returns the project of a folder with its settings, without looking for files.
func ProjectOf(dir string, overrides Overrides) (*Project, error) {
	resolved, _, err := resolve(dir, nil)
	if err != nil {
		return nil, err
	}
	root, found := projectRoot(resolved, true)
	return openProject(root, found, overrides)
}

// resolve follows symlinks of a path that the user named.
func resolve(path string, overlay map[string]string) (resolved string, isDir bool, err error) {
	if _, ok := overlay[path]; ok {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", false, misuse(filepath.Dir(path), err)
		}
		return filepath.Join(dir, filepath.Base(path)), false, nil
	}
	if resolved, err = filepath.EvalSymlinks(path); err != nil {
		return "", false, misuse(path, err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", false, misuse(path, err)
	}
	return resolved, info.IsDir(), nil
}

func misuse(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &MisuseError{fmt.Sprintf("there is no file or folder %s", path)}
	}
	return fmt.Errorf("reading %s: %w", path, err)
}

// projectRoot walks up from a path to the folder of its project file.
func projectRoot(path string, isDir bool) (root string, found bool) {
	start := path
	if !isDir {
		start = filepath.Dir(path)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, matter.ProjectFile)); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return start, false
		}
	}
}

// openProject reads the project file and lists the files below the root of the statements.
func openProject(root string, found bool, overrides Overrides) (*Project, error) {
	p := &Project{Project: statement.NewProject(root)}
	if found {
		path := filepath.Join(root, matter.ProjectFile)
		text, findings := readFile(path)
		p.File = source.NewFile(path, text)
		if p.Findings = findings; findings == nil {
			p.Project, p.Findings = statement.ReadProject(root, p.File)
		}
	}
	if err := p.override(overrides); err != nil {
		return nil, err
	}
	p.include, p.exclude = compileGlobs(p.Include), compileGlobs(p.Exclude)
	return p, nil
}

func (p *Project) override(o Overrides) error {
	if o.Dialect != "" {
		d, ok := source.DialectNamed(o.Dialect)
		if !ok {
			return &MisuseError{fmt.Sprintf("there is no dialect %q", o.Dialect)}
		}
		p.Dialect = d
	}
	if o.BasePackage != "" {
		p.BasePackage = o.BasePackage
	}
	if o.Source != "" {
		relative, err := filepath.Rel(p.Root, o.Source)
		if err != nil {
			return &MisuseError{fmt.Sprintf("the source folder %s cannot be reached from %s", o.Source, p.Root)}
		}
		p.SQLRoot = filepath.ToSlash(relative)
	}
	if o.DDL != nil {
		p.DDL = o.DDL
	}
	return nil
}

// Base is the folder of the statements.
func (p *Project) Base() string { return filepath.Join(p.Root, filepath.FromSlash(p.SQLRoot)) }

// list walks the folder of the statements in sorted order. Symlinks, hidden folders, the output and nested projects
// are left out.
func (p *Project) list() error {
	p.listed, p.Paths = true, nil
	base := p.Base()
	err := filepath.WalkDir(base, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if path == base && errors.Is(err, fs.ErrNotExist) {
				return &MisuseError{fmt.Sprintf("there is no folder %s, the root of the statements of %s", p.SQLRoot, p.Root)}
			}
			p.unreadable = append(p.unreadable, unreadable{path, err})
			return nil
		case entry.IsDir():
			return p.enter(path, base)
		case entry.Type().IsRegular():
			if relative, ok := p.Relative(path); ok && p.Reads(relative) {
				p.Paths = append(p.Paths, path)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing %s: %w", base, err)
	}
	slices.Sort(p.Paths)
	return nil
}

// add adds a file that need not exist to those of the project.
func (p *Project) add(path string) {
	if relative, ok := p.Relative(path); ok && p.Reads(relative) && !slices.Contains(p.Paths, path) {
		p.Paths = append(p.Paths, path)
		slices.Sort(p.Paths)
	}
}

func (p *Project) enter(path, base string) error {
	if path == base {
		return nil
	}
	if strings.HasPrefix(filepath.Base(path), ".") || p.isOutput(path) {
		return filepath.SkipDir
	}
	if info, err := os.Stat(filepath.Join(path, matter.ProjectFile)); err == nil && info.Mode().IsRegular() {
		p.nested = append(p.nested, path)
		return filepath.SkipDir
	}
	return nil
}

// Relative returns a path below the folder of the statements, with slashes; false outside of it.
func (p *Project) Relative(path string) (string, bool) {
	relative, err := filepath.Rel(p.Base(), path)
	if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(relative), true
}

// isOutput tells whether a path is the folder of generated files, or lies in it.
func (p *Project) isOutput(path string) bool {
	return p.Output != "" && within(path, filepath.Join(p.Root, filepath.FromSlash(p.Output)))
}

// Reads tells whether a file below the folder of the statements is one of the project's.
func (p *Project) Reads(relative string) bool {
	hidden := strings.HasPrefix(relative, ".") || strings.Contains(relative, "/.")
	return !hidden && p.include.match(relative) && !p.exclude.match(relative) &&
		!p.isOutput(filepath.Join(p.Base(), filepath.FromSlash(relative)))
}

// within tells whether a path is a folder or lies in it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// Asked tells whether the user asked about a path.
func (p *Project) Asked(path string) bool {
	return slices.ContainsFunc(p.Selected, func(s string) bool {
		// The folder of statements may lie outside of the project that was named.
		return within(path, s) || within(p.Root, s)
	})
}
