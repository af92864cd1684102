package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/stagewright/stagewright/internal/lru"
)

// MaxFileBytes is the largest file that is read.
const MaxFileBytes = 64 << 20

// raceWindow is how long after a change a file's stamp does not yet prove that the content is the one that was read: a
// second write within the resolution of the file system's clock leaves the same stamp. It is generous, because that
// resolution is 2 seconds on some file systems. Until it has passed, the content is compared (as git does with entries
// of its index that are as young as the index).
const raceWindow = 2 * time.Second

// Location is a file by its root and its slash-separated path inside it.
type Location struct {
	Root *Root
	Path string
}

// stamp tells two states of a file apart without reading it.
type stamp struct {
	size              int64
	modified, changed time.Time
	device, inode     uint64
}

// Store reads files and remembers them. It is safe for concurrent use.
type Store struct {
	known    *lru.Cache[Location, knownFile]
	contents *lru.Cache[[sha256.Size]byte, string]
	now      func() time.Time
	stampOf  func(fs.FileInfo) stamp
}

// knownFile is what the Store remembers of a file even when its content has left the cache.
type knownFile struct {
	stamp stamp
	racy  bool // read so soon after its last change that the stamp alone proves nothing
	sum   [sha256.Size]byte
}

const knownFileWeight = 256

// NewStore returns a store that keeps up to cacheBytes of contents, and a sixteenth of that for what it knows of files.
func NewStore(cacheBytes int64) *Store {
	return &Store{
		known:    lru.New[Location, knownFile](cacheBytes / 16),
		contents: lru.New[[sha256.Size]byte, string](cacheBytes),
		now:      time.Now,
		stampOf:  stampOf,
	}
}

// file is the content of a file at one moment.
type file struct {
	content string
	sum     [sha256.Size]byte
}

var (
	errMissing    = errors.New("no such file")
	errNotRegular = errors.New("not a regular file")
	errEscapes    = errors.New("a symbolic link is absolute or leads out of the directory it is confined to")
	errTooLarge   = fmt.Errorf("larger than %d MiB", MaxFileBytes>>20)
)

// sum returns the SHA-256 of a file's content, from memory when the file's stamp proves it unchanged.
func (s *Store) sum(v *view, at Location) ([sha256.Size]byte, error) {
	known, ok, err := s.unchanged(v, at)
	if ok || err != nil {
		return known.sum, err
	}
	f, err := s.load(v, at)
	return f.sum, err
}

// read returns a file with its content.
func (s *Store) read(v *view, at Location) (file, error) {
	known, ok, err := s.unchanged(v, at)
	if err != nil {
		return file{}, err
	}
	if ok {
		if content, ok := s.contents.Get(known.sum); ok {
			return file{content, known.sum}, nil
		}
	}
	return s.load(v, at)
}

// exists says whether a file is there to be read, without reading it.
func (s *Store) exists(v *view, at Location) error {
	_, err := s.stat(v, at)
	return err
}

func (s *Store) unchanged(v *view, at Location) (knownFile, bool, error) {
	stamp, err := s.stat(v, at)
	if err != nil {
		return knownFile{}, false, err
	}
	known, ok := s.known.Get(at)
	return known, ok && !known.racy && known.stamp == stamp, nil
}

// stat looks before anything is opened: to open a device or a FIFO may block, or do something.
func (s *Store) stat(v *view, at Location) (stamp, error) {
	dir, err := v.dir(at.Root)
	if err != nil {
		return stamp{}, plain(err)
	}
	info, err := dir.Stat(at.Path)
	if err != nil {
		return stamp{}, plain(err)
	}
	if !info.Mode().IsRegular() {
		return stamp{}, errNotRegular
	}
	if info.Size() > MaxFileBytes {
		return stamp{}, errTooLarge
	}
	return s.stampOf(info), nil
}

// load reads the file. Its stamp is taken before the content, so a change in between makes the stamp out of date
// instead of vouching for content that is not there any more.
func (s *Store) load(v *view, at Location) (file, error) {
	dir, err := v.dir(at.Root)
	if err != nil {
		return file{}, plain(err)
	}
	before := s.now()
	opened, err := dir.OpenFile(at.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return file{}, plain(err)
	}
	defer func() { _ = opened.Close() }()
	info, err := opened.Stat()
	if err != nil {
		return file{}, plain(err)
	}
	if !info.Mode().IsRegular() {
		return file{}, errNotRegular
	}
	content, err := io.ReadAll(io.LimitReader(opened, MaxFileBytes+1))
	if err != nil {
		return file{}, plain(err)
	}
	if len(content) > MaxFileBytes {
		return file{}, errTooLarge
	}
	stamp := s.stampOf(info)
	f := file{string(content), sha256.Sum256(content)}
	if cached, ok := s.contents.Get(f.sum); ok {
		f.content = cached
	} else {
		s.contents.Put(f.sum, f.content, int64(len(f.content))+knownFileWeight)
	}
	racy := before.Before(stamp.changed.Add(raceWindow))
	s.known.Put(at, knownFile{stamp, racy, f.sum}, knownFileWeight)
	return f, nil
}

// plain reduces an error of the operating system to what is wrong, without the path it was found at.
func plain(err error) error {
	for _, none := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL} {
		if errors.Is(err, none) { // the last two: no file can have such a name
			return errMissing
		}
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	if err.Error() == "path escapes from parent" { // os.Root keeps its error to itself
		return errEscapes
	}
	return err
}
