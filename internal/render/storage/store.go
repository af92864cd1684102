package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/stagewright/stagewright/internal/artifact"
)

// Store keeps artifacts. An artifact that is not there is an error that wraps fs.ErrNotExist.
type Store interface {
	// Put stores an artifact, reads it back and returns what is stored. Where an artifact of the same content is stored
	// already, that one stays and only its time changes: consumers may be fetching it by its digest.
	Put(ctx context.Context, of Snippet, packed artifact.Packed) (Stored, error)
	// Open reads an artifact. Close it when done.
	Open(ctx context.Context, ref Ref) (*Blob, error)
	// Stat says whether an artifact is there, without reading it.
	Stat(ctx context.Context, ref Ref) (Stored, error)
	// List returns the artifacts of a snippet in no particular order, without reading them.
	List(ctx context.Context, of Snippet) ([]Stored, error)
	// Delete removes an artifact. One that is not there is no error.
	Delete(ctx context.Context, ref Ref) error
	// DeleteAll removes all artifacts of a snippet, and what else was written for it.
	DeleteAll(ctx context.Context, of Snippet) error
}

// Stored describes an artifact in a store.
type Stored struct {
	Ref
	Digest digest.Digest // of the tarball; only from Put, because it takes reading
	Size   int64         // of the tarball, in bytes
	Time   time.Time     // when it was put last
}

// Blob is an artifact to be read.
type Blob struct {
	io.ReadSeekCloser
	Stored
	Tag string // a strong entity tag, without quotes: other bytes have another one
}

// Verify reads an artifact to its end and compares its digest. artifact.ErrDigestMismatch and fs.ErrNotExist are to be
// told from failures of the storage. A copy in a mirror does not count: other replicas read what it is a copy of.
func Verify(ctx context.Context, store Store, ref Ref, want string) error {
	blob, err := store.Open(context.WithValue(ctx, pastMirrors{}, true), ref)
	if err != nil {
		return err
	}
	err = artifact.Verify(blob, want)
	return errors.Join(err, blob.Close())
}

// pastMirrors is the key of contexts in which artifacts are read from where they really are. Stores may be wrapped, so
// their type does not say which one has a mirror.
type pastMirrors struct{}

// medium is what put needs from an implementation.
type medium interface {
	read(ctx context.Context, ref Ref) ([]byte, error)
	write(ctx context.Context, ref Ref, archive []byte) error
	touch(ctx context.Context, ref Ref, archive []byte) error // with what it has now
	Stat(ctx context.Context, ref Ref) (Stored, error)
}

// put is Put for any medium. The file is named by its content, and the same content may have been compressed into other
// bytes by another release of the program, so what is there already counts by its content.
func put(ctx context.Context, to medium, of Snippet, packed artifact.Packed) (Stored, error) {
	ref := Ref{of, packed.Revision}
	if err := ref.Validate(); err != nil {
		return Stored{}, err
	}
	archive, save := packed.Archive, to.write
	switch existing, err := to.read(ctx, ref); {
	case err == nil && holds(existing, packed):
		archive, save = existing, to.touch
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errTooLarge):
		return Stored{}, err
	}
	if err := save(ctx, ref, archive); err != nil {
		return Stored{}, err
	}
	saved, err := to.read(ctx, ref)
	if err != nil {
		return Stored{}, fmt.Errorf("reading back: %w", err)
	}
	if !bytes.Equal(saved, archive) {
		return Stored{}, fmt.Errorf("reading back artifact %s: %w", ref.Path(), artifact.ErrDigestMismatch)
	}
	stored, err := to.Stat(ctx, ref)
	stored.Digest = digest.FromBytes(saved)
	return stored, err
}

// holds says whether an archive has the content of another one. A damaged archive has not.
func holds(archive []byte, packed artifact.Packed) bool {
	if bytes.Equal(archive, packed.Archive) {
		return true
	}
	files, err := artifact.DefaultLimits().Unpack(bytes.NewReader(archive))
	return err == nil && files.Revision() == packed.Revision
}

var errTooLarge = errors.New("it is larger than an artifact can be")

// readArchive reads what should be an archive.
func readArchive(from io.Reader, ref Ref) ([]byte, error) {
	limit := artifact.DefaultLimits().ArchiveBytes
	archive, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(archive)) > limit {
		err = errTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("reading artifact %s: %w", ref.Path(), err)
	}
	return archive, nil
}
