package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// Library is a set of files and the name that imports of it begin with.
type Library struct {
	ImportPath string
	Files      Files
}

// Workspace is a program in memory. It is immutable and implements jsonnet.Workspace.
type Workspace struct {
	entry string
	units []Library // the program's own files first, without a name; then the libraries, of which later ones win
	id    string
}

// New returns the workspace of a program: the path of its entry in its files, and the libraries it may import.
func New(entry string, files Files, libraries []Library) *Workspace {
	w := &Workspace{entry: path.Clean(entry), units: append([]Library{{Files: files}}, libraries...)}
	// It is identified by what it holds: the same files in the same places give the same, whoever brings them.
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", w.entry)
	for _, unit := range w.units {
		fmt.Fprintf(h, "%q %s\n", unit.ImportPath, unit.Files.Sum())
	}
	w.id = "bundle " + hex.EncodeToString(h.Sum(nil))
	return w
}

// ID implements jsonnet.Workspace.
func (w *Workspace) ID() string { return w.id }

// Open implements jsonnet.Workspace.
func (w *Workspace) Open() (jsonnet.Session, error) {
	return &session{
		workspace: w, sources: map[place]*jsonnet.Source{}, places: map[*jsonnet.Source]place{}, names: map[string]bool{},
		lookups: &lookups{seen: map[place]bool{}},
	}, nil
}

// place is a path in one of the units.
type place struct {
	unit int
	path string
}

// session is one evaluation's view.
type session struct {
	workspace *Workspace
	sources   map[place]*jsonnet.Source
	places    map[*jsonnet.Source]place
	names     map[string]bool
	lookups   *lookups
}

// Entry implements jsonnet.Session.
func (s *session) Entry(context.Context) (*jsonnet.Source, error) {
	source := s.source(place{0, s.workspace.entry})
	if source == nil {
		return nil, fmt.Errorf("reading %s: no such file", s.workspace.entry)
	}
	return source, nil
}

// Import implements jsonnet.Importer.
func (s *session) Import(_ context.Context, from *jsonnet.Source, imported string) (*jsonnet.Source, error) {
	if strings.HasPrefix(imported, "/") {
		return nil, fmt.Errorf("couldn't open import %q: it is absolute; import files of the snippet and of its libraries by "+
			"their relative paths", imported)
	}
	candidates, outside := s.workspace.candidates(s.places, from, imported)
	for _, candidate := range candidates {
		if source := s.source(candidate); source != nil {
			return source, nil
		}
	}
	if outside {
		return nil, fmt.Errorf("couldn't open import %q: it leads out of the directory it is imported in; add what it "+
			"means to the snippet's libraries", imported)
	}
	return nil, fmt.Errorf("couldn't open import %q: no match in the snippet and its libraries", imported)
}

// vendor is the directory in which tools keep what a program imports.
const vendor = "vendor"

// candidates are the places where an import may be, in the order they are tried. outside says that it would leave the
// unit it is imported in.
func (w *Workspace) candidates(
	places map[*jsonnet.Source]place, from *jsonnet.Source, imported string,
) (found []place, outside bool) {
	add := func(unit int, name string) {
		if !local(name) {
			outside = true
			return
		}
		if at := (place{unit, name}); !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	if at, ok := places[from]; ok { // code that came as a variable is in no directory
		add(at.unit, path.Join(path.Dir(at.path), imported))
	}
	clean := path.Clean(imported)
	if !local(clean) {
		return found, outside
	}
	for unit := len(w.units) - 1; unit > 0; unit-- {
		if inside, ok := strings.CutPrefix(clean, path.Clean(w.units[unit].ImportPath)+"/"); ok {
			add(unit, inside)
		}
	}
	for unit := len(w.units) - 1; unit >= 0; unit-- {
		add(unit, clean)
		add(unit, path.Join(vendor, clean))
	}
	return found, outside
}

// local says whether a clean path stays in the directory it starts from.
func local(name string) bool { return name != ".." && !strings.HasPrefix(name, "../") && name != "." }

// source returns the file at a place, or nil, and notes that it was looked for.
func (s *session) source(at place) *jsonnet.Source {
	s.lookups.note(at)
	if known, ok := s.sources[at]; ok {
		return known
	}
	file, ok := s.workspace.units[at.unit].Files[at.path]
	if !ok {
		return nil
	}
	source := &jsonnet.Source{Name: s.name(at), Content: file.Content, Sum: file.Sum}
	s.sources[at] = source
	s.places[source] = at
	return source
}

// name is what errors show: the path, behind the name of the library. Where two files come to the same name, the second
// one gets a number.
func (s *session) name(at place) string {
	name := path.Join(s.workspace.units[at.unit].ImportPath, at.path)
	for n := 2; s.names[name]; n++ {
		name = path.Join(fmt.Sprintf("%s(%d)", vendor, n), s.workspace.units[at.unit].ImportPath, at.path)
	}
	s.names[name] = true
	return name
}

// Lookups implements jsonnet.Session.
func (s *session) Lookups() jsonnet.Lookups { return s.lookups }

// Close implements jsonnet.Session.
func (s *session) Close() error { return nil }

// lookups are the places that were asked for. Found or missed, they stay as they are: the workspace's ID covers every file.
type lookups struct {
	seen   map[place]bool
	weight int64
}

const lookupOverhead = 96

func (l *lookups) note(at place) {
	if !l.seen[at] {
		l.seen[at] = true
		l.weight += int64(len(at.path)) + lookupOverhead
	}
}

// Unchanged implements jsonnet.Lookups.
func (l *lookups) Unchanged(context.Context) bool { return true }

// Weight implements jsonnet.Lookups.
func (l *lookups) Weight() int64 { return l.weight }
