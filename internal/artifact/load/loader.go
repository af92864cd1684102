package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/lru"
)

// ErrBusy is that of files that do not fit into memory now. Trying again later helps.
var ErrBusy = errors.New("too many sources are unpacked now")

// Fetcher gets an archive that has a digest; *artifact.Fetcher is one.
type Fetcher interface {
	Fetch(ctx context.Context, address, digest string) ([]byte, error)
}

// Options are what a Loader is made of.
type Options struct {
	Fetcher Fetcher
	Limits  artifact.Limits // of one archive; zero is artifact.DefaultLimits
	// HeldBytes bounds the files that are in use at a time; zero is DefaultHeldBytes. What one archive may inflate to is at
	// most half of it, so that there is always a time at which it fits.
	HeldBytes int64
	// CacheBytes bounds the files that stay when nobody uses them; zero is DefaultCacheBytes, a negative number keeps none.
	CacheBytes int64
}

// Defaults of Options.
const (
	DefaultHeldBytes  = 1 << 30
	DefaultCacheBytes = 128 << 20
)

// Location is where an archive is. The same URL and digest give the same files to everybody; a digest alone does not, for
// who knows the digest of something may still not be allowed to fetch it.
type Location struct {
	URL    string
	Digest string
}

// Loader loads artifacts, as F. It can be used concurrently.
type Loader[F any] struct {
	fetcher Fetcher
	limits  artifact.Limits
	form    func(artifact.Files) F
	budget  *budget
	kept    *lru.Cache[Location, loaded[F]]
}

type loaded[F any] struct {
	files F
	bytes int64
}

// New returns a loader with an empty cache. form makes what users want of the files, once for all of them; it may consume
// the map. What it returns takes about as many bytes and is shared: nobody changes it.
func New[F any](o Options, form func(artifact.Files) F) *Loader[F] {
	if o.Limits == (artifact.Limits{}) {
		o.Limits = artifact.DefaultLimits()
	}
	if o.HeldBytes == 0 {
		o.HeldBytes = DefaultHeldBytes
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	o.Limits.InflatedBytes = min(o.Limits.InflatedBytes, o.HeldBytes/2)
	return &Loader[F]{
		fetcher: o.Fetcher, limits: o.Limits, form: form,
		budget: newBudget(o.HeldBytes),
		kept:   lru.New[Location, loaded[F]](o.CacheBytes),
	}
}

// AsIs is the form of those who want the files themselves.
func AsIs(files artifact.Files) artifact.Files { return files }

// Hold is what one run uses. Close it when done; the files must not be used after that.
type Hold[F any] struct {
	loader *Loader[F]
	tenant string
	bytes  int64
}

// Hold begins the use of sources on behalf of a tenant, which is a namespace.
func (l *Loader[F]) Hold(tenant string) *Hold[F] { return &Hold[F]{loader: l, tenant: tenant} }

// Close ends the use of everything that was loaded.
func (h *Hold[F]) Close() {
	h.loader.budget.release(h.tenant, h.bytes)
	h.bytes = 0
}

// Load returns the files of an artifact. All that one Hold loads together may have as many bytes as one archive may inflate
// to: more is an artifact.RefusedError. ErrBusy says that there is no room now.
func (h *Hold[F]) Load(ctx context.Context, at Location) (F, error) {
	var none F
	l := h.loader
	if known, ok := l.kept.Get(at); ok {
		return known.files, h.take(known.bytes)
	}
	archive, err := l.fetcher.Fetch(ctx, at.URL, at.Digest)
	if err != nil {
		return none, err
	}
	// Nothing can be said of what is inside before it has been inflated, which therefore happens twice: the first time
	// nothing is kept.
	size, err := l.limits.Measure(bytes.NewReader(archive))
	if err != nil {
		return none, err
	}
	needed := size.Bytes + int64(size.Files)*fileBytes
	if err := h.take(needed); err != nil {
		return none, err
	}
	unpacked, err := l.limits.Unpack(bytes.NewReader(archive))
	if err != nil {
		return none, err
	}
	files := l.form(unpacked)
	l.kept.Put(at, loaded[F]{files, needed}, needed)
	return files, nil
}

// fileBytes is about what a file takes besides its content: its path and its entry.
const fileBytes = 256

func (h *Hold[F]) take(bytes int64) error {
	l := h.loader
	if h.bytes+bytes > l.limits.InflatedBytes {
		return fmt.Errorf("unpacking artifact: %w", &artifact.RefusedError{
			Why: fmt.Sprintf("all that is used together has more than %d bytes", l.limits.InflatedBytes),
		})
	}
	if !l.budget.take(h.tenant, bytes) {
		return ErrBusy
	}
	h.bytes += bytes
	return nil
}

// Reserve counts bytes that the user of the files needs besides them.
func (h *Hold[F]) Reserve(bytes int64) error { return h.take(bytes) }
