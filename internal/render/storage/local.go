package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/stagewright/stagewright/internal/artifact"
)

// Local is a Store in a directory. Several processes may share it.
type Local struct {
	root *os.Root
	disk disk // how it writes
}

// OpenLocal makes the directory if it is not there, and returns its store. Close it when done.
func OpenLocal(directory string) (*Local, error) {
	if err := os.MkdirAll(directory, directoryMode); err != nil {
		return nil, fmt.Errorf("opening storage: %w", err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("opening storage: %w", err)
	}
	return &Local{root: root, disk: rootDisk{root}}, nil
}

// Close lets go of the directory.
func (l *Local) Close() error { return l.root.Close() }

// Put implements Store.
func (l *Local) Put(ctx context.Context, of Snippet, packed artifact.Packed) (Stored, error) {
	return put(ctx, l, of, packed)
}

// Open implements Store.
func (l *Local) Open(_ context.Context, ref Ref) (*Blob, error) {
	stored, err := l.stat(ref)
	if err != nil {
		return nil, err
	}
	// Something that is not a file may have taken the place since; opening a pipe must not block.
	file, err := l.root.OpenFile(ref.Path(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening artifact: %w", err)
	}
	info, err := file.Stat() // of what was really opened
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening artifact %s: %w", ref.Path(), err), file.Close())
	}
	stored.Size, stored.Time = info.Size(), info.ModTime()
	return &Blob{ReadSeekCloser: file, Stored: stored, Tag: tag(stored)}, nil
}

// tag is the entity tag of a file. One is written once and then only renamed to its place. Another one has another time,
// even with the same name.
func tag(s Stored) string {
	return fmt.Sprintf("%.16s-%x-%x", strings.TrimPrefix(s.Revision, revisionPrefix), s.Size, s.Time.UnixNano())
}

// Stat implements Store.
func (l *Local) Stat(_ context.Context, ref Ref) (Stored, error) { return l.stat(ref) }

func (l *Local) stat(ref Ref) (Stored, error) {
	if err := ref.Validate(); err != nil {
		return Stored{}, err
	}
	info, err := l.root.Lstat(ref.Path())
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file: %w", ref.Path(), fs.ErrNotExist)
	}
	if err != nil {
		return Stored{}, fmt.Errorf("finding artifact: %w", err)
	}
	return Stored{Ref: ref, Size: info.Size(), Time: info.ModTime()}, nil
}

// List implements Store.
func (l *Local) List(_ context.Context, of Snippet) ([]Stored, error) {
	if err := of.Validate(); err != nil {
		return nil, err
	}
	entries, err := l.entries(of.directory())
	if err != nil {
		return nil, fmt.Errorf("listing artifacts: %w", err)
	}
	var found []Stored
	for _, entry := range entries {
		ref, ok := of.ref(entry.Name())
		if !ok {
			continue
		}
		stored, err := l.stat(ref)
		if errors.Is(err, fs.ErrNotExist) { // deleted since, or not a file
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing artifacts: %w", err)
		}
		found = append(found, stored)
	}
	return found, nil
}

// entries are those of a directory; one that is not there has none.
func (l *Local) entries(directory string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(l.root.FS(), directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// Delete implements Store.
func (l *Local) Delete(_ context.Context, ref Ref) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	return l.remove(ref.Path())
}

// DeleteAll implements Store. Files that are not the store's stay, and with them their directory.
func (l *Local) DeleteAll(_ context.Context, of Snippet) error {
	if err := of.Validate(); err != nil {
		return err
	}
	entries, err := l.entries(of.directory())
	if err != nil {
		return fmt.Errorf("deleting artifacts: %w", err)
	}
	for _, entry := range entries {
		if _, ok := of.ref(entry.Name()); ok || strings.HasSuffix(entry.Name(), temporarySuffix) {
			if err := l.remove(path.Join(of.directory(), entry.Name())); err != nil {
				return err
			}
		}
	}
	l.removeEmpty(of.directory())
	l.removeEmpty(of.Namespace)
	return nil
}

func (l *Local) remove(name string) error {
	if err := l.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting artifact: %w", err)
	}
	return nil
}

// removeEmpty removes a directory that has nothing in it. One that has, stays; one that cannot be removed is no harm.
func (l *Local) removeEmpty(directory string) {
	if entries, err := l.entries(directory); err == nil && len(entries) == 0 {
		_ = l.disk.Remove(directory)
	}
}

func (l *Local) read(ctx context.Context, ref Ref) ([]byte, error) {
	blob, err := l.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	archive, err := readArchive(blob, ref)
	return archive, errors.Join(err, blob.Close())
}

func (l *Local) touch(_ context.Context, ref Ref, _ []byte) error {
	if err := l.disk.Chtimes(ref.Path(), time.Now()); err != nil {
		return fmt.Errorf("keeping artifact: %w", err)
	}
	return nil
}

// write puts an archive in its place by renaming, after all of it has reached the disk. The name of the temporary file is
// its own, so that two writers never write the same one.
func (l *Local) write(_ context.Context, ref Ref, archive []byte) error {
	temporary := path.Join(ref.directory(), rand.Text()+"."+strings.TrimSuffix(ref.file(), archiveSuffix)+temporarySuffix)
	file, err := l.create(ref.Snippet, temporary)
	if err != nil {
		return fmt.Errorf("writing artifact %s: %w", ref.Path(), err)
	}
	err = fill(file, archive)
	if err == nil {
		err = l.disk.Rename(temporary, ref.Path())
	}
	if err != nil {
		_ = l.disk.Remove(temporary) // the sweep finds what stays
		return fmt.Errorf("writing artifact %s: %w", ref.Path(), err)
	}
	// Until its directory has reached the disk too, the file may be gone after a crash of the machine.
	for _, directory := range []string{ref.directory(), ref.Namespace, "."} {
		if err := l.disk.SyncDirectory(directory); err != nil {
			return fmt.Errorf("writing artifact %s: %w", ref.Path(), err)
		}
	}
	return nil
}

// create makes the file and its directories. When an empty directory is swept or deleted in between, it tries again.
func (l *Local) create(of Snippet, name string) (file, error) {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		err := l.disk.MkdirAll(of.directory())
		if err == nil {
			var created file
			if created, err = l.disk.Create(name); err == nil {
				return created, nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) || attempt == attempts {
			return nil, err
		}
	}
}

func fill(f file, content []byte) error {
	_, err := f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// disk is what the store does to a directory. Tests let it fail.
type disk interface {
	MkdirAll(name string) error
	Create(name string) (file, error) // a new one
	Rename(from, to string) error
	Chtimes(name string, t time.Time) error
	Remove(name string) error
	SyncDirectory(name string) error
}

type file interface {
	io.WriteCloser
	Sync() error
}

const (
	directoryMode fs.FileMode = 0o750
	archiveMode   fs.FileMode = 0o640 // replicas that share a volume may share only a group
)

type rootDisk struct{ root *os.Root }

func (d rootDisk) MkdirAll(name string) error             { return d.root.MkdirAll(name, directoryMode) }
func (d rootDisk) Rename(from, to string) error           { return d.root.Rename(from, to) }
func (d rootDisk) Chtimes(name string, t time.Time) error { return d.root.Chtimes(name, t, t) }
func (d rootDisk) Remove(name string) error               { return d.root.Remove(name) }

func (d rootDisk) Create(name string) (file, error) {
	created, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, archiveMode)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return created, nil
}

func (d rootDisk) SyncDirectory(name string) error {
	directory, err := d.root.Open(name)
	if err != nil {
		return err
	}
	err = directory.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // file systems of a network that have nothing to sync say so
	}
	return errors.Join(err, directory.Close())
}
