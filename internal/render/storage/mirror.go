package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/stagewright/stagewright/internal/artifact"
)

const (
	// DefaultMirrorBytes is what a mirror holds: thousands of usual artifacts, and a fraction of a node's disk.
	DefaultMirrorBytes = 1 << 30
	// freshTime is how long an artifact is served from the mirror without asking the store whether it is still there.
	freshTime = 15 * time.Second
	// pauseTime is how long a store that failed is not asked again for the sake of serving.
	pauseTime = 2 * time.Second
	// askTimeout bounds a question to the store for which an answer is at hand.
	askTimeout = 3 * time.Second
	// fetchTimeout bounds fetching an artifact that the mirror does not have: the largest at 1 MB/s.
	fetchTimeout = time.Minute
	// maxFetches bounds how many are fetched and verified at a time, each of which may need some hundred MiB.
	maxFetches = 2
)

// MirrorOptions are what a mirror is made of.
type MirrorOptions struct {
	Remote    Store  // where artifacts really are
	Directory string // of this mirror; made if it is not there
	MaxBytes  int64  // of the files in it; zero is DefaultMirrorBytes
	Logger    *slog.Logger
	Now       func() time.Time // nil is time.Now
}

// Mirror is a Store that keeps copies of what it puts and of what it is asked for in a directory, and serves them from
// there: artifacts stay available while the store behind it fails. What is there and what is not is said by the store
// behind it alone, and everything that changes something goes there.
//
// A copy is served only after its content was found to be that of its revision.
type Mirror struct {
	remote  Store
	local   *Local
	index   *mirrorIndex
	logger  *slog.Logger
	now     func() time.Time
	flight  singleflight.Group
	fetches chan struct{}
}

// OpenMirror opens the directory of a mirror, with what it has from an earlier run. Close it when done.
func OpenMirror(options MirrorOptions) (*Mirror, error) {
	local, err := OpenLocal(options.Directory)
	if err != nil {
		return nil, err
	}
	if options.MaxBytes == 0 {
		options.MaxBytes = DefaultMirrorBytes
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	m := &Mirror{
		remote: options.Remote, local: local, index: newMirrorIndex(options.MaxBytes), logger: options.Logger, now: options.Now,
		fetches: make(chan struct{}, maxFetches),
	}
	found, err := local.all()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening mirror: %w", err), local.Close())
	}
	for _, each := range found {
		m.removeFiles(m.index.add(each.Ref, mirrored{size: each.Size, time: each.Time})) // not verified by this process
	}
	return m, nil
}

// Close lets go of the directory.
func (m *Mirror) Close() error { return m.local.Close() }

// Put implements Store.
func (m *Mirror) Put(ctx context.Context, of Snippet, packed artifact.Packed) (Stored, error) {
	stored, err := m.remote.Put(ctx, of, packed)
	if err == nil && stored.Digest == packed.Digest { // else another tarball of the same content is there, and stays
		m.keep(ctx, stored, packed.Archive)
	}
	return stored, err
}

// Stat implements Store. It asks the store behind: a copy does not mean that the artifact is there.
func (m *Mirror) Stat(ctx context.Context, ref Ref) (Stored, error) { return m.remote.Stat(ctx, ref) }

// List implements Store.
func (m *Mirror) List(ctx context.Context, of Snippet) ([]Stored, error) {
	return m.remote.List(ctx, of)
}

// Delete implements Store.
func (m *Mirror) Delete(ctx context.Context, ref Ref) error {
	err := m.remote.Delete(ctx, ref)
	if err == nil {
		m.drop(ref)
	}
	return err
}

// DeleteAll implements Store.
func (m *Mirror) DeleteAll(ctx context.Context, of Snippet) error {
	if err := m.remote.DeleteAll(ctx, of); err != nil {
		return err
	}
	for _, ref := range m.index.refs() {
		if ref.Snippet == of {
			m.drop(ref)
		}
	}
	return m.local.DeleteAll(ctx, of)
}

// Open implements Store. While the store behind does not answer, the copy is what there is.
func (m *Mirror) Open(ctx context.Context, ref Ref) (*Blob, error) {
	if err := ref.Validate(); err != nil {
		return nil, err
	}
	if ctx.Value(pastMirrors{}) != nil {
		return m.remote.Open(ctx, ref)
	}
	if m.index.servable(ref, m.now()) {
		if blob, ok := m.openCopy(ctx, ref); ok {
			return blob, nil
		}
	}
	// What one reader asks for serves all that wait; so it does not end with that reader.
	detached := context.WithoutCancel(ctx)
	answer := m.flight.DoChan(ref.Path(), func() (any, error) { return m.refresh(detached, ref) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-answer:
		if result.Err != nil {
			return nil, result.Err
		}
		got := result.Val.(fetched)
		if got.archive != nil { // there was no room for a copy
			return memoryBlob(got), nil
		}
		if blob, ok := m.openCopy(ctx, ref); ok {
			return blob, nil
		}
		return nil, fmt.Errorf("opening artifact %s: its copy was removed meanwhile", ref.Path())
	}
}

// openCopy opens a copy that is as it was when it was verified.
func (m *Mirror) openCopy(ctx context.Context, ref Ref) (*Blob, bool) {
	blob, err := m.local.Open(ctx, ref)
	if err != nil {
		m.index.remove(ref)
		return nil, false
	}
	if !m.index.matches(blob.Stored) {
		_ = blob.Close() // it was not read
		return nil, false
	}
	return blob, true
}

// fetched is an artifact from the store behind, with its bytes where they are not in the mirror.
type fetched struct {
	Stored
	archive []byte
}

// refresh makes sure that the mirror has what the store has.
func (m *Mirror) refresh(ctx context.Context, ref Ref) (fetched, error) {
	if !m.verifyCopy(ctx, ref) {
		return m.fetch(ctx, ref)
	}
	if now := m.now(); !m.index.turn(now, now.Add(askTimeout)) {
		return fetched{}, nil // another artifact's reader waits, or has just waited in vain
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	stored, err := m.remote.Stat(asking, ref)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.index.pause(time.Time{})
		m.drop(ref)
		return fetched{}, err
	case err != nil:
		m.index.pause(m.now().Add(pauseTime))
		m.logger.Warn("the object store does not answer; serving artifacts from the mirror", "path", ref.Path(), "error", err.Error())
		return fetched{}, nil
	case m.index.matches(stored):
		m.index.pause(time.Time{})
		m.index.check(ref, m.now().Add(freshTime))
		return fetched{}, nil
	default: // put again meanwhile
		m.index.pause(time.Time{})
		got, err := m.fetch(ctx, ref)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.logger.Warn("an artifact cannot be fetched again; serving it from the mirror", "path", ref.Path(), "error", err.Error())
			return fetched{}, nil
		}
		return got, err
	}
}

// verifyCopy says whether there is a copy with the content of its revision. It is read once in the life of the process.
func (m *Mirror) verifyCopy(ctx context.Context, ref Ref) bool {
	entry, ok := m.index.get(ref)
	if !ok || entry.verified {
		return ok
	}
	release, err := m.takeFetch(ctx)
	if err != nil {
		return false
	}
	defer release()
	archive, err := m.local.read(ctx, ref)
	if err != nil || !isRevision(archive, ref) {
		m.logger.Warn("a copy in the mirror is damaged and is removed", "path", ref.Path())
		m.drop(ref)
		return false
	}
	m.index.verify(ref)
	return true
}

// fetch reads an artifact from the store behind, verifies it and keeps a copy.
func (m *Mirror) fetch(ctx context.Context, ref Ref) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	release, err := m.takeFetch(ctx)
	if err != nil {
		return fetched{}, err
	}
	defer release()
	blob, err := m.remote.Open(ctx, ref)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			m.drop(ref)
		}
		return fetched{}, err
	}
	archive, err := readArchive(blob, ref)
	if err := errors.Join(err, blob.Close()); err != nil {
		return fetched{}, err
	}
	if int64(len(archive)) != blob.Size || !isRevision(archive, ref) {
		return fetched{}, fmt.Errorf("reading artifact %s: %w: the object store has something else", ref.Path(), artifact.ErrDigestMismatch)
	}
	if m.keep(ctx, blob.Stored, archive) {
		return fetched{Stored: blob.Stored}, nil
	}
	return fetched{blob.Stored, archive}, nil
}

func (m *Mirror) takeFetch(ctx context.Context) (release func(), err error) {
	select {
	case m.fetches <- struct{}{}:
		return func() { <-m.fetches }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for other artifacts to be fetched: %w", ctx.Err())
	}
}

func isRevision(archive []byte, ref Ref) bool {
	files, err := artifact.DefaultLimits().Unpack(bytes.NewReader(archive))
	return err == nil && files.Revision() == ref.Revision
}

// keep writes a copy, with the time of the original so that all replicas give it the same entity tag. A disk that is full
// does no harm to the artifact.
func (m *Mirror) keep(ctx context.Context, stored Stored, archive []byte) bool {
	if int64(len(archive)) > m.index.limit {
		return false
	}
	err := m.local.write(ctx, stored.Ref, archive)
	if err == nil {
		err = m.local.disk.Chtimes(stored.Path(), stored.Time)
	}
	if err != nil {
		m.drop(stored.Ref)
		m.logger.Warn("an artifact cannot be mirrored", "path", stored.Path(), "error", err.Error())
		return false
	}
	m.removeFiles(m.index.add(stored.Ref, mirrored{
		size: stored.Size, time: stored.Time, verified: true, fresh: m.now().Add(freshTime),
	}))
	return true
}

func (m *Mirror) drop(ref Ref) {
	m.index.remove(ref)
	m.removeFiles([]Ref{ref})
}

// removeFiles removes copies that are no longer in the index. Whoever reads one has it open.
func (m *Mirror) removeFiles(refs []Ref) {
	for _, ref := range refs {
		if err := m.local.remove(ref.Path()); err != nil {
			m.logger.Warn("a copy in the mirror cannot be removed", "path", ref.Path(), "error", err.Error())
		}
	}
}

func memoryBlob(got fetched) *Blob {
	return &Blob{ReadSeekCloser: nopCloser{bytes.NewReader(got.archive)}, Stored: got.Stored, Tag: tag(got.Stored)}
}

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

// sweep removes the copies of what the store behind has no more. Where it does not answer, they stay.
func (m *Mirror) sweep(ctx context.Context) (int, error) {
	of := map[Snippet][]Ref{}
	for _, ref := range m.index.refs() {
		of[ref.Snippet] = append(of[ref.Snippet], ref)
	}
	removed := 0
	for snippet, refs := range of {
		asking, cancel := context.WithTimeout(ctx, fetchTimeout)
		found, err := m.remote.List(asking, snippet)
		cancel()
		if err != nil {
			return removed, fmt.Errorf("sweeping mirror: %w", err) // and the others would wait in vain too
		}
		there := map[Ref]bool{}
		for _, each := range found {
			there[each.Ref] = true
		}
		for _, ref := range refs {
			if entry, ok := m.index.get(ref); ok && !there[ref] && m.now().After(entry.fresh) { // not put since
				m.drop(ref)
				removed++
			}
		}
	}
	return removed, nil
}
