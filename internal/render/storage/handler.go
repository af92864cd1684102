package storage

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
)

// Opener is the part of a Store that serving needs.
type Opener interface {
	Open(ctx context.Context, ref Ref) (*Blob, error)
}

// retryAfter is how many seconds a client should wait when the storage fails.
const retryAfter = "5"

// Handler serves artifacts at /<namespace>/<name>/<revision>.tar.gz, with ranges and conditions, and nothing else: there
// are no listings, and what is being written cannot be named.
func Handler(store Opener, logger *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are answered here", http.StatusMethodNotAllowed)
			return
		}
		ref, err := ParsePath(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			notFound(w)
			return
		}
		blob, err := store.Open(r.Context(), ref)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			notFound(w)
			return
		case err != nil:
			if r.Context().Err() == nil { // the client is still there
				logger.Warn("serving artifact failed", "path", ref.Path(), "error", err.Error())
			}
			w.Header().Set("Retry-After", retryAfter)
			http.Error(w, "the storage does not answer; try again later", http.StatusServiceUnavailable)
			return
		}
		defer func() { _ = blob.Close() }() // it was only read
		w.Header().Set("Content-Type", MediaType)
		w.Header().Set("ETag", `"`+blob.Tag+`"`)
		http.ServeContent(w, r, "", blob.Time, blob.ReadSeekCloser) // which may be a file that the system sends by itself
	})
}

func notFound(w http.ResponseWriter) { http.Error(w, "there is no such artifact", http.StatusNotFound) }
