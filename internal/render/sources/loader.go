package sources

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/jsonnet/lru"
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

// Loader loads artifacts. It can be used concurrently.
type Loader struct {
	fetcher Fetcher
	limits  artifact.Limits
	budget  *budget
	kept    *lru.Cache[Location, bundle.Files]
}

// NewLoader returns a loader with an empty cache.
func NewLoader(o Options) *Loader {
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
	return &Loader{
		fetcher: o.Fetcher, limits: o.Limits,
		budget: newBudget(o.HeldBytes),
		kept:   lru.New[Location, bundle.Files](o.CacheBytes),
	}
}

// Hold is what one run uses. Close it when done; the files must not be used after that.
type Hold struct {
	loader *Loader
	tenant string
	bytes  int64
}

// Hold begins the use of sources on behalf of a tenant, which is a namespace.
func (l *Loader) Hold(tenant string) *Hold { return &Hold{loader: l, tenant: tenant} }

// Close ends the use of everything that was loaded.
func (h *Hold) Close() {
	h.loader.budget.release(h.tenant, h.bytes)
	h.bytes = 0
}

// Load returns the files of an artifact. All that one Hold loads together may have as many bytes as one archive may inflate
// to: more is an artifact.RefusedError. ErrBusy says that there is no room now.
func (h *Hold) Load(ctx context.Context, at Location) (bundle.Files, error) {
	l := h.loader
	if files, ok := l.kept.Get(at); ok {
		return files, h.take(files.Bytes())
	}
	archive, err := l.fetcher.Fetch(ctx, at.URL, at.Digest)
	if err != nil {
		return nil, err
	}
	// Nothing can be said of what is inside before it has been inflated, which therefore happens twice: the first time
	// nothing is kept.
	size, err := l.limits.Measure(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	if err := h.take(size.Bytes + int64(size.Files)*fileBytes); err != nil {
		return nil, err
	}
	unpacked, err := l.limits.Unpack(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	files := make(bundle.Files, len(unpacked))
	for path, content := range unpacked {
		files[path] = bundle.File{Content: string(content), Sum: sha256.Sum256(content)}
		delete(unpacked, path) // so that no more than one file is there twice
	}
	l.kept.Put(at, files, files.Bytes())
	return files, nil
}

// fileBytes is what a file takes besides its content.
const fileBytes = bundle.FileOverhead

func (h *Hold) take(bytes int64) error {
	l := h.loader
	if h.bytes+bytes > l.limits.InflatedBytes {
		return fmt.Errorf("unpacking artifact: %w", &artifact.RefusedError{
			Why: fmt.Sprintf("all sources of one snippet together have more than %d bytes", l.limits.InflatedBytes),
		})
	}
	if !l.budget.take(h.tenant, bytes) {
		return ErrBusy
	}
	h.bytes += bytes
	return nil
}

// Reserve counts bytes that the user of the files needs besides them.
func (h *Hold) Reserve(bytes int64) error { return h.take(bytes) }
