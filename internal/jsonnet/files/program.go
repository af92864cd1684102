package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// Program is an entry file and the roots it may import from.
type Program struct {
	store     *Store
	entry     Location
	libraries []*Root // the last one wins
}

// Program returns the program at entry. Its imports are confined to the root of entry and to the libraries, of which the
// last one that has a file wins.
func (s *Store) Program(entry Location, libraries []*Root) *Program {
	return &Program{store: s, entry: entry, libraries: libraries}
}

// Exists says whether the program's entry can be read. The error is nil, or says what is wrong without a path;
// IsMissing tells whether nothing is there.
func (p *Program) Exists() error {
	v := newView()
	defer v.close()
	return p.store.exists(v, p.entry)
}

// IsMissing says whether an error of Exists means that there is no such file.
func IsMissing(err error) bool { return errors.Is(err, errMissing) }

// IsRefused says whether an error of Exists means that there is something, but not a file inside its root.
func IsRefused(err error) bool { return errors.Is(err, errEscapes) || errors.Is(err, errNotRegular) }

// ID implements jsonnet.Workspace.
func (p *Program) ID() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q", p.entry.Root.given, p.entry.Path)
	for _, library := range p.libraries {
		fmt.Fprintf(&b, " %q", library.given)
	}
	return b.String()
}

// Open implements jsonnet.Workspace.
func (p *Program) Open() (jsonnet.Session, error) {
	return &session{
		program:  p,
		view:     newView(),
		sources:  map[Location]answer{},
		places:   map[*jsonnet.Source]Location{},
		resolved: map[request]answer{},
		names:    map[string]bool{},
	}, nil
}

// session reads and records for one evaluation.
type session struct {
	program  *Program
	view     *view
	sources  map[Location]answer
	places   map[*jsonnet.Source]Location
	resolved map[request]answer
	names    map[string]bool
	lookups  lookups
}

type request struct {
	from *jsonnet.Source
	path string
}

type answer struct {
	source *jsonnet.Source
	err    error
}

// Entry implements jsonnet.Session.
func (s *session) Entry(_ context.Context) (*jsonnet.Source, error) {
	source, err := s.source(s.program.entry)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.program.entry.Path, err)
	}
	return source, nil
}

// Import implements jsonnet.Importer: relative to the importing file, then the libraries from the last to the first.
func (s *session) Import(_ context.Context, from *jsonnet.Source, imported string) (*jsonnet.Source, error) {
	key := request{from, imported}
	if known, ok := s.resolved[key]; ok {
		return known.source, known.err
	}
	source, err := s.resolve(from, imported)
	s.resolved[key] = answer{source, err}
	return source, err
}

func (s *session) resolve(from *jsonnet.Source, imported string) (*jsonnet.Source, error) {
	candidates, outside := s.candidates(from, imported)
	for _, candidate := range candidates {
		source, err := s.source(candidate)
		switch {
		case err == nil:
			return source, nil
		case errors.Is(err, errEscapes):
			return nil, fmt.Errorf("couldn't open import %q: %w; make it relative, or add the directory it leads to with --library-path and import from there", imported, err)
		case !errors.Is(err, errMissing):
			return nil, fmt.Errorf("couldn't open import %q: %w", imported, err)
		}
	}
	if outside {
		return nil, fmt.Errorf("couldn't open import %q: it is outside the snippet's directory and the library paths; "+
			"add its directory with --library-path and import it by its path in there", imported)
	}
	return nil, fmt.Errorf("couldn't open import %q: no match locally or in the Jsonnet library paths", imported)
}

// candidates are the places where imported may be, in the order they are tried. outside says that a place was left out
// because it is in none of the roots.
func (s *session) candidates(from *jsonnet.Source, imported string) (places []Location, outside bool) {
	add := func(root *Root, directory string) {
		place, ok := s.place(root, directory, imported)
		switch {
		case !ok:
			outside = true
		case !slices.Contains(places, place):
			places = append(places, place)
		}
	}
	if at, ok := s.places[from]; ok {
		add(at.Root, path.Dir(at.Path))
	}
	if !filepath.IsAbs(imported) {
		for _, library := range slices.Backward(s.program.libraries) {
			add(library, ".")
		}
	}
	return places, outside
}

// place finds the root that imported is in, seen from a directory of a root: that root itself, or another one that the
// program may read.
func (s *session) place(root *Root, directory, imported string) (Location, bool) {
	if !filepath.IsAbs(imported) {
		if inside := path.Join(directory, filepath.ToSlash(imported)); filepath.IsLocal(inside) {
			return Location{root, inside}, true
		}
		imported = filepath.Join(root.path, directory, imported)
	}
	imported = filepath.Clean(imported)
	roots := append([]*Root{s.program.entry.Root}, s.program.libraries...)
	for _, allowed := range roots {
		if inside, err := filepath.Rel(allowed.path, imported); err == nil && filepath.IsLocal(inside) {
			return Location{allowed, filepath.ToSlash(inside)}, true
		}
	}
	return Location{}, false
}

// source reads a place and records what was found there.
func (s *session) source(at Location) (*jsonnet.Source, error) {
	if known, ok := s.sources[at]; ok {
		return known.source, known.err
	}
	f, err := s.program.store.read(s.view, at)
	s.lookups.record(s.program.store, at, f.sum, err)
	if err != nil {
		s.sources[at] = answer{nil, err}
		return nil, err
	}
	source := &jsonnet.Source{Name: s.name(at), Content: f.content, Sum: f.sum}
	s.sources[at] = answer{source, nil}
	s.places[source] = at
	return source, nil
}

// name is the path inside the root; a second file of the same path in another root gets that directory's name in front.
func (s *session) name(at Location) string {
	name := at.Path
	if s.names[name] {
		name = path.Join(path.Base(filepath.ToSlash(at.Root.path)), at.Path)
	}
	for n := 2; s.names[name]; n++ {
		name = path.Join(fmt.Sprintf("%s(%d)", path.Base(filepath.ToSlash(at.Root.path)), n), at.Path)
	}
	s.names[name] = true
	return name
}

// Lookups implements jsonnet.Session.
func (s *session) Lookups() jsonnet.Lookups { return &s.lookups }

// Close implements jsonnet.Session.
func (s *session) Close() error {
	s.view.close()
	return nil
}

// lookups implements jsonnet.Lookups.
type lookups struct {
	store *Store
	made  []lookup
}

// lookup is a place with what was there: a content, nothing, or something that could not be read.
type lookup struct {
	at    Location
	sum   [sha256.Size]byte
	fault string
}

func (l *lookups) record(store *Store, at Location, sum [sha256.Size]byte, err error) {
	l.store = store
	l.made = append(l.made, lookup{at, sum, fault(err)})
}

// Unchanged implements jsonnet.Lookups.
func (l *lookups) Unchanged(ctx context.Context) bool {
	v := newView()
	defer v.close()
	for _, made := range l.made {
		if ctx.Err() != nil {
			return false
		}
		sum, err := l.store.sum(v, made.at)
		if sum != made.sum || fault(err) != made.fault {
			return false
		}
	}
	return true
}

// Weight implements jsonnet.Lookups.
func (l *lookups) Weight() int64 {
	weight := int64(0)
	for _, made := range l.made {
		weight += int64(len(made.at.Path)+len(made.fault)) + 128
	}
	return weight
}

func fault(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
