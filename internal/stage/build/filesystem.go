package build

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// fileSystem is what kustomize sees instead of the machine's: files in memory, which it cannot change. Paths are absolute.
type fileSystem struct {
	files       map[string][]byte
	directories map[string]bool
}

func newFileSystem() *fileSystem {
	return &fileSystem{files: map[string][]byte{}, directories: map[string]bool{"/": true}}
}

func (f *fileSystem) put(file string, content []byte) {
	file = path.Clean("/" + file)
	f.files[file] = content
	for dir := path.Dir(file); !f.directories[dir]; dir = path.Dir(dir) {
		f.directories[dir] = true
	}
}

var errReadOnly = errors.New("the files cannot be changed")

func notFound(name string) error { return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist} }

func absolute(name string) string { return path.Clean("/" + filepath.ToSlash(name)) }

// Exists implements filesys.FileSystem, as the methods below do.
func (f *fileSystem) Exists(name string) bool {
	_, isFile := f.files[absolute(name)]
	return isFile || f.IsDir(name)
}

func (f *fileSystem) IsDir(name string) bool { return f.directories[absolute(name)] }

func (f *fileSystem) ReadFile(name string) ([]byte, error) {
	content, ok := f.files[absolute(name)]
	if !ok {
		return nil, notFound(name)
	}
	return slices.Clone(content), nil // the artifact's bytes are shared
}

func (f *fileSystem) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	clean := absolute(name)
	if f.directories[clean] {
		return filesys.ConfirmedDir(clean), "", nil
	}
	if _, ok := f.files[clean]; ok {
		return filesys.ConfirmedDir(path.Dir(clean)), path.Base(clean), nil
	}
	return "", "", notFound(name)
}

func (f *fileSystem) ReadDir(name string) ([]string, error) {
	if !f.IsDir(name) {
		return nil, notFound(name)
	}
	prefix := strings.TrimSuffix(absolute(name), "/") + "/"
	var found []string
	note := func(p string) {
		if inside, ok := strings.CutPrefix(p, prefix); ok && inside != "" && !strings.Contains(inside, "/") {
			found = append(found, inside)
		}
	}
	for p := range f.files {
		note(p)
	}
	for p := range f.directories {
		note(p)
	}
	slices.Sort(found)
	return found, nil
}

func (f *fileSystem) Glob(pattern string) ([]string, error) {
	var found []string
	for p := range f.files {
		matched, err := path.Match(absolute(pattern), p)
		if err != nil {
			return nil, err
		}
		if matched {
			found = append(found, p)
		}
	}
	slices.Sort(found)
	return found, nil
}

// What follows is of no use for a build.

func (f *fileSystem) Create(string) (filesys.File, error)         { return nil, errReadOnly }
func (f *fileSystem) Mkdir(string) error                          { return errReadOnly }
func (f *fileSystem) MkdirAll(string) error                       { return errReadOnly }
func (f *fileSystem) RemoveAll(string) error                      { return errReadOnly }
func (f *fileSystem) Open(name string) (filesys.File, error)      { return nil, notFound(name) }
func (f *fileSystem) WriteFile(string, []byte) error              { return errReadOnly }
func (f *fileSystem) Walk(name string, _ filepath.WalkFunc) error { return notFound(name) }
