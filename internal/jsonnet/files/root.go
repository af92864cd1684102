package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Root is a directory that files are confined to. The directory is looked up by its path again and again: when another
// one takes its place (a mounted volume, a swapped checkout), the next View sees that one.
type Root struct {
	path  string // absolute and clean
	given string // as it is opened: behind a symbolic link, cleaning a ".." away would lead elsewhere

	mu     sync.Mutex
	handle *handle // the directory that was last found at path
}

// handle is an open directory, shared by the views that began while it was at the root's path.
type handle struct {
	dir      *os.Root
	identity fs.FileInfo
	uses     int // views, and one for the Root that holds it
}

// NewRoot returns the root at a directory, which need not exist yet.
func NewRoot(directory string) (*Root, error) {
	path, err := filepath.Abs(directory)
	if err != nil {
		return nil, fmt.Errorf("finding directory %q: %w", directory, err)
	}
	return &Root{path: path, given: directory}, nil
}

// Path is the absolute path of the directory. It is for logs at start, never for the author of a snippet.
func (r *Root) Path() string { return r.path }

// open returns the directory that is at the root's path now. Release it when done.
func (r *Root) open() (*handle, error) {
	info, err := os.Stat(r.given)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handle == nil || !os.SameFile(r.handle.identity, info) {
		if err := r.reopen(); err != nil {
			return nil, err
		}
	}
	r.handle.uses++
	return r.handle, nil
}

func (r *Root) reopen() error {
	dir, err := os.OpenRoot(r.given)
	if err != nil {
		return err
	}
	identity, err := dir.Stat(".")
	if err != nil {
		_ = dir.Close()
		return err
	}
	if r.handle != nil {
		r.handle.drop()
	}
	r.handle = &handle{dir: dir, identity: identity, uses: 1}
	return nil
}

func (r *Root) release(h *handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.drop()
}

// drop ends one use; the last one closes the directory. The caller holds the Root's lock.
func (h *handle) drop() {
	if h.uses--; h.uses == 0 {
		_ = h.dir.Close() // opened for reading: nothing can be lost
	}
}

// view pins, for each root it is asked about, the directory it found first.
type view struct {
	handles map[*Root]*handle
	missing map[*Root]error
}

func newView() *view {
	return &view{handles: map[*Root]*handle{}, missing: map[*Root]error{}}
}

func (v *view) dir(r *Root) (*os.Root, error) {
	if h, ok := v.handles[r]; ok {
		return h.dir, nil
	}
	if err, ok := v.missing[r]; ok {
		return nil, err
	}
	h, err := r.open()
	if err != nil {
		v.missing[r] = err
		return nil, err
	}
	v.handles[r] = h
	return h.dir, nil
}

func (v *view) close() {
	for r, h := range v.handles {
		r.release(h)
	}
	clear(v.handles)
}
