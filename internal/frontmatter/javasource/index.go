package javasource

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/frontmatter/statement"
)

// maxFile is the size in bytes above which a source is not read: people do not write such files.
const maxFile = 4 << 20

// ErrNotFound tells that no source declares a class.
var ErrNotFound = errors.New("not in the Java sources")

// Index finds declarations below the folders of Java sources. A file is read when one of its classes is asked for, and
// then once. It may be used by several goroutines.
type Index struct {
	roots []string

	mu       sync.Mutex
	files    map[string]*file // by path; nil for what is not there
	errs     map[string]error
	sums     map[string]string // of the files that were read; empty for what is not there
	resolved map[*parsed]*Declaration
}

// New returns an index of folders, in the order in which they are searched.
func New(roots []string) *Index {
	return &Index{roots: roots, files: map[string]*file{}, errs: map[string]error{}, sums: map[string]string{}, resolved: map[*parsed]*Declaration{}}
}

// Looked returns the paths at which it has looked for files with what Sum says of what it found there.
func (x *Index) Looked() map[string]string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return maps.Clone(x.sums)
}

// Sum identifies what the file at a path holds; empty when there is none that would be read.
func Sum(path string) string {
	text, err := contents(path)
	if err != nil {
		return ""
	}
	return sumOf(text)
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Find returns the declaration of a class, by its qualified name with dots before nested names. The error wraps
// ErrNotFound when no source declares it. Callers share the declaration and leave it as it is.
func (x *Index) Find(class string) (*Declaration, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f, d, err := x.find(class)
	if err != nil {
		return nil, err
	}
	if x.resolved[d] == nil {
		x.resolved[d] = x.resolve(f, d)
	}
	return x.resolved[d], nil
}

// find looks for the file of a class, and for those of the classes around it when it is a nested one.
func (x *Index) find(class string) (*file, *parsed, error) {
	parts := strings.Split(class, ".")
	for n := len(parts); n > 0; n-- {
		for _, root := range x.roots {
			f, err := x.load(filepath.Join(append([]string{root}, parts[:n]...)...) + ".java")
			if err != nil {
				return nil, nil, err
			}
			if f == nil || f.pkg != strings.Join(parts[:n-1], ".") {
				continue
			}
			if d := f.byName[strings.Join(parts[n-1:], ".")]; d != nil {
				return f, d, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("%s: %w", class, ErrNotFound)
}

// load reads a file once; nil when it is not there.
func (x *Index) load(path string) (*file, error) {
	if f, known := x.files[path]; known {
		return f, x.errs[path]
	}
	var f *file
	text, err := contents(path)
	x.sums[path] = ""
	switch {
	case errors.Is(err, errNone):
		err = nil
	case err == nil:
		f = parseFile(path, text)
		x.sums[path] = sumOf(text)
	}
	x.files[path], x.errs[path] = f, err
	return f, err
}

// errNone tells that no class can be at a path.
var errNone = errors.New("no file")

func contents(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.Mode().IsRegular(): // also a name that is too long, or a folder that is a file
		return "", errNone
	case info.Size() > maxFile:
		return "", fmt.Errorf("reading %s: it is larger than 4 MiB", path)
	}
	data, err := os.ReadFile(path) //nolint:gosec // below the Java sources of the user's project
	if err != nil {
		return "", fmt.Errorf("reading Java sources: %w", err)
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("reading %s: it is not UTF-8", path)
	}
	return string(data), nil
}

// resolve returns a declaration with qualified types.
func (x *Index) resolve(f *file, d *parsed) *Declaration {
	r := d.Declaration
	r.Components = make([]Component, 0, len(d.components))
	for _, c := range d.components {
		r.Components = append(r.Components, Component{c.name, x.typ(f, d, c.typ, d.variables)})
	}
	r.Methods = make([]Method, 0, len(d.methods))
	for _, m := range d.methods {
		hidden := append(append([]string(nil), d.variables...), m.variables...)
		method := Method{Name: m.name, Static: m.static, Generic: len(m.variables) > 0, Returns: x.typ(f, d, m.returns, hidden)}
		for _, t := range m.parameters {
			method.Parameters = append(method.Parameters, x.typ(f, d, t, hidden))
		}
		for _, t := range m.throws {
			method.Throws = append(method.Throws, x.typ(f, d, t, hidden))
		}
		r.Methods = append(r.Methods, method)
	}
	return &r
}

// typ resolves the names of a type. Type variables stay unresolved.
func (x *Index) typ(f *file, d *parsed, t statement.Type, variables []string) Type {
	r := resolver{index: x, file: f, in: d, variables: variables}
	t = r.typ(t)
	return Type{Type: t, Unresolved: r.unresolved}
}
