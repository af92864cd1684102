package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/ddl"
	"github.com/stagewright/stagewright/internal/frontmatter/javasource"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// Schema reads the DDL of the project, in the order in which a database gets it. A pattern that no file matches is a misuse: types
// would be missing for no reason that can be seen.
func (p *Project) Schema() (*ddl.Schema, error) {
	files, err := p.DDLFiles()
	if err != nil {
		return nil, err
	}
	return p.SchemaOf(files), nil
}

// SchemaOf reads the tables that files create.
func (p *Project) SchemaOf(files []*source.File) *ddl.Schema {
	schema := ddl.NewSchema()
	for _, file := range files {
		schema.Read(file, source.Options{Dialect: p.Dialect, Separator: p.Separator})
	}
	return schema
}

// DDLFiles returns the files that tell the types of columns, in the order in which a database gets them.
func (p *Project) DDLFiles() ([]*source.File, error) {
	var paths []string
	for _, pattern := range p.DDL {
		found, err := p.matching(pattern)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	files := make([]*source.File, 0, len(paths))
	for _, relative := range ddl.InOrder(paths) {
		path := filepath.Join(p.Root, filepath.FromSlash(relative))
		text, findings := readFile(path)
		file := source.NewFile(path, text)
		if findings == nil {
			findings = file.CheckEncoding()
		}
		if findings != nil {
			return nil, fmt.Errorf("reading DDL %s: %s", path, findings[0].Message)
		}
		files = append(files, file)
	}
	return files, nil
}

// matching returns the files that a pattern of DDL matches; like the pattern they are relative to the project file.
func (p *Project) matching(pattern string) ([]string, error) {
	glob := compileGlobs([]string{pattern})
	fixed := strings.TrimPrefix(pattern, "./")
	if i := strings.IndexAny(fixed, "*?"); i >= 0 {
		fixed = path.Dir(fixed[:i] + "x")
	}
	var paths []string
	start := filepath.Join(p.Root, filepath.FromSlash(fixed))
	err := filepath.WalkDir(start, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && file != start && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		relative, err := filepath.Rel(p.Root, file)
		if relative = filepath.ToSlash(relative); err == nil && glob.match(relative) {
			paths = append(paths, relative)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for DDL: %w", err)
	}
	if paths == nil {
		return nil, &MisuseError{fmt.Sprintf("no file matches the pattern of DDL %s, relative to %s", pattern, p.Root)}
	}
	return paths, nil
}

// Sources returns the index of the project's Java sources.
func (p *Project) Sources() *javasource.Index {
	roots := make([]string, 0, len(p.JavaSources))
	for _, folder := range p.JavaSources {
		roots = append(roots, filepath.Join(p.Root, filepath.FromSlash(folder)))
	}
	return javasource.New(roots)
}
