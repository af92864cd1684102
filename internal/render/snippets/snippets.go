package snippets

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/stagewright/stagewright/internal/jsonnet/files"
)

// EntryFile is what a snippet of a directory is evaluated from.
const EntryFile = "main.jsonnet"

// Config says what is served.
type Config struct {
	Files       []string // paths of Jsonnet files, each served under exactly that path
	Directories []string // directories whose subdirectories are snippets; the first one that has a name wins
	Libraries   []string // directories to import from; the last one that has a file wins
}

// Catalog finds programs by name. It is safe for concurrent use.
type Catalog struct {
	store       *files.Store
	files       map[string]*files.Program
	directories []*files.Root
	libraries   []*files.Root
}

// NotFoundError says why a name is not served. Its text is fit for whoever asked for it.
type NotFoundError struct {
	Name, Why string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("snippet %q: %s", e.Name, e.Why) }

// NewCatalog returns the catalog of a configuration. What it names need not exist yet.
func NewCatalog(store *files.Store, config Config) (*Catalog, error) {
	c := &Catalog{store: store, files: map[string]*files.Program{}}
	var err error
	if c.directories, err = roots(config.Directories); err != nil {
		return nil, err
	}
	if c.libraries, err = roots(config.Libraries); err != nil {
		return nil, err
	}
	for _, file := range config.Files {
		directory, name := filepath.Split(file) // which cleans nothing
		root, err := files.NewRoot(cmp.Or(directory, "."))
		if err != nil {
			return nil, err
		}
		entry := files.Location{Root: root, Path: cmp.Or(name, ".")}
		c.files[file] = store.Program(entry, c.libraries)
	}
	return c, nil
}

func roots(directories []string) ([]*files.Root, error) {
	made := make([]*files.Root, 0, len(directories))
	for _, directory := range directories {
		root, err := files.NewRoot(directory)
		if err != nil {
			return nil, err
		}
		made = append(made, root)
	}
	return made, nil
}

// Find returns the program of a name, or a *NotFoundError.
func (c *Catalog) Find(name string) (*files.Program, error) {
	if program, ok := c.files[name]; ok {
		return program, usable(name, program)
	}
	if !fs.ValidPath(name) || name == "." {
		return nil, &NotFoundError{name, "no file is served under exactly this path, and the name of a snippet in a " +
			"directory has no empty parts, no \".\" and no \"..\""}
	}
	for _, directory := range c.directories {
		program := c.store.Program(files.Location{Root: directory, Path: name + "/" + EntryFile}, c.libraries)
		err := usable(name, program)
		var missing *missingError
		if !errors.As(err, &missing) {
			return program, err
		}
	}
	return nil, &NotFoundError{name, "no file is served under this path, and no snippet directory has " + name + "/" + EntryFile}
}

// missingError is a NotFoundError for a file that is not there, as opposed to one that must not be read.
type missingError struct{ *NotFoundError }

func (e *missingError) Unwrap() error { return e.NotFoundError }

// usable returns nil when the program can be tried; evaluating it says what else may be wrong with its file.
func usable(name string, program *files.Program) error {
	err := program.Exists()
	switch {
	case files.IsMissing(err):
		return &missingError{&NotFoundError{name, "its file does not exist"}}
	case files.IsRefused(err):
		return &NotFoundError{name, "its file cannot be served: " + err.Error()}
	default:
		return nil
	}
}
