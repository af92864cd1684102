package webhookserve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"
)

const (
	// maxBody is what a request may have, in bytes: an object and the one before it.
	maxBody = 7 << 20
	// maxBuffered is what all requests together may have of their bodies in memory.
	maxBuffered = 128 << 20
	// pieceSize is what a request that sends nothing takes of that.
	pieceSize = 16 << 10
)

// buffers bounds the bodies that are in memory. Each takes what it has sent and a piece more, so that slow requests, however
// many, leave room for others.
type buffers struct{ free *semaphore.Weighted }

func newBuffers(size int64) *buffers { return &buffers{free: semaphore.NewWeighted(size)} }

// errTooLarge says that a body has more than maxBody.
var errTooLarge = fmt.Errorf("the body has more than %d bytes", maxBody)

// read returns a body. The function that it returns gives back the room for it.
func (b *buffers) read(ctx context.Context, body io.Reader) (content []byte, giveBack func(), err error) {
	var buffer bytes.Buffer
	var taken int64
	release := func() { b.free.Release(taken) }
	for {
		if err := b.free.Acquire(ctx, pieceSize); err != nil {
			release()
			return nil, nil, fmt.Errorf("waiting for room for the body: %w", err)
		}
		taken += pieceSize
		copied, err := io.CopyN(&buffer, body, pieceSize)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			release()
			return nil, nil, fmt.Errorf("reading the body: %w", err)
		case buffer.Len() > maxBody:
			release()
			return nil, nil, errTooLarge
		case copied < pieceSize: // it has ended
			return buffer.Bytes(), release, nil
		}
	}
}

// buffered reads bodies before a handler begins with them.
func (b *buffers) buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
		defer cancel()
		content, giveBack, err := b.read(ctx, r.Body)
		switch {
		case errors.Is(err, errTooLarge):
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		case err != nil: // who asked has left, or is too slow, or too many are
			http.Error(w, "the body could not be read in time", http.StatusServiceUnavailable)
			return
		}
		defer giveBack()
		r.Body = io.NopCloser(bytes.NewReader(content))
		next.ServeHTTP(w, r)
	})
}
