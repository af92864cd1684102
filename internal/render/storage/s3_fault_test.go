package storage_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/objectstore"
	"github.com/stagewright/stagewright/internal/objectstore/objectstoretest"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// faults is what a proxy does instead of asking the object store.
type faults struct {
	answer atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func (f *faults) set(answer func(http.ResponseWriter, *http.Request) bool) { f.answer.Store(&answer) }

func behindFaults(t *testing.T) (*storage.S3, *storage.S3, *faults) {
	t.Helper()
	f := &faults{}
	config := objectstoretest.Start(t)
	direct, err := objectstore.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := objectstore.Open(objectstoretest.Intercept(t, config, func(w http.ResponseWriter, r *http.Request) bool {
		answer := f.answer.Load()
		return answer != nil && (*answer)(w, r)
	}))
	if err != nil {
		t.Fatal(err)
	}
	return storage.NewS3(bucket), storage.NewS3(direct), f
}

func respond(status int, code string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>"+code+" it says</Message></Error>")
		return true
	}
}

func cutConnection(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// TestS3_FailsAndRecovers: an error is an error and never a missing artifact, nothing half is visible, and the same store
// goes on when the object store is back.
func TestS3_FailsAndRecovers(t *testing.T) {
	store, direct, faults := behindFaults(t)
	first := put(t, store, web(), "1")
	tests := map[string]func(http.ResponseWriter, *http.Request) bool{
		"unavailable":     respond(http.StatusServiceUnavailable, "SlowDown"),
		"internal error":  respond(http.StatusInternalServerError, "InternalError"),
		"access denied":   respond(http.StatusForbidden, "AccessDenied"),
		"no bucket":       respond(http.StatusNotFound, "NoSuchBucket"),
		"cut connections": cutConnection,
		"cut uploads": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				_, _ = io.CopyN(io.Discard, r.Body, 10)
				return cutConnection(w, r)
			}
			return false
		},
		"uploads refused": func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodPut && respond(http.StatusInsufficientStorage, "QuotaExceeded")(w, r)
		},
		"reading back fails": func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodGet && respond(http.StatusForbidden, "AccessDenied")(w, r)
		},
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			faults.set(fault)
			_, err := store.Put(t.Context(), web(), packed(t, "2 "+name))
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Put: %v", err)
			}
			t.Log(err)
			for _, revision := range revisions(t, direct, web()) {
				archive := read(t, direct, storage.Ref{Snippet: web(), Revision: revision})
				files, err := artifact.DefaultLimits().Unpack(bytes.NewReader(archive))
				if err != nil || files.Revision() != revision {
					t.Errorf("half an artifact is visible: %v", err)
				}
			}
			faults.set(func(http.ResponseWriter, *http.Request) bool { return false })
			put(t, store, web(), "2 "+name)
			if err := storage.Verify(t.Context(), store, first.Ref, first.Digest.String()); err != nil {
				t.Errorf("the one from before: %v", err)
			}
		})
	}
}

// TestPut_NoticesAStoreThatLies: what comes back has to be what was written.
func TestPut_NoticesAStoreThatLies(t *testing.T) {
	store, _, faults := behindFaults(t)
	var written atomic.Bool
	faults.set(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPut:
			written.Store(true)
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("ETag", `"0"`)
			return true
		case r.Method == http.MethodGet && written.Load():
			w.Header().Set("ETag", `"0"`)
			w.Header().Set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
			_, _ = io.WriteString(w, "something else")
			return true
		default:
			return false
		}
	})
	if _, err := store.Put(t.Context(), web(), packed(t, "1")); !errors.Is(err, artifact.ErrDigestMismatch) {
		t.Errorf("Put: %v", err)
	}
}

// TestHandler_SurvivesAFailingObjectStore: no client takes an error for an artifact, whenever it happens.
func TestHandler_SurvivesAFailingObjectStore(t *testing.T) {
	store, _, faults := behindFaults(t)
	stored := put(t, store, web(), "1")
	url, log := serve(t, store)
	url += "/" + stored.Path()
	options := artifact.DefaultFetchOptions()
	options.Attempts = 1
	fetcher := artifact.NewFetcher(options)
	tests := map[string]struct {
		fault func(http.ResponseWriter, *http.Request) bool
		want  string
	}{
		"unavailable":   {respond(http.StatusServiceUnavailable, "SlowDown"), "503"},
		"access denied": {respond(http.StatusForbidden, "AccessDenied"), "503"},
		"fails when the body is read": {func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodGet && respond(http.StatusForbidden, "AccessDenied")(w, r)
		}, "EOF"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			faults.set(test.fault)
			_, err := fetcher.Fetch(t.Context(), url, stored.Digest.String())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
			faults.set(func(http.ResponseWriter, *http.Request) bool { return false })
			if _, err := fetcher.Fetch(t.Context(), url, stored.Digest.String()); err != nil {
				t.Errorf("when the store is back: %v", err)
			}
		})
	}
	if !strings.Contains(log.String(), "AccessDenied") {
		t.Errorf("log: %s", log.String())
	}
}
