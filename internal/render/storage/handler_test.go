package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/http/fetch"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/render/storage"
	"github.com/stagewright/stagewright/internal/serving"
)

// serve listens as the program does.
func serve(t *testing.T, store storage.Opener) (string, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := serving.Listen(t.Context(), serving.Options{
		Name: "storage", Address: "127.0.0.1:0", Handler: storage.Handler(store, logger), Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
	return "http://" + s.Address(), &log
}

func request(t *testing.T, method, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r) // follows no redirects
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

func TestHandler_ServesArtifacts(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		url, _ := serve(t, store)
		stored := put(t, store, web(), strings.Repeat("content", 1000))
		archive := read(t, store, stored.Ref)
		url += "/" + stored.Path()

		response, body := request(t, http.MethodGet, url)
		tag := response.Header.Get("ETag")
		if response.StatusCode != http.StatusOK || !bytes.Equal(body, archive) {
			t.Errorf("GET: %s, %d bytes", response.Status, len(body))
		}
		for name, want := range map[string]string{
			"Content-Type": "application/gzip", "Content-Length": fmt.Sprint(len(archive)), "Accept-Ranges": "bytes",
			"X-Content-Type-Options": "nosniff", "Content-Encoding": "",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		if !strings.HasPrefix(tag, `"`) || len(tag) < 3 || response.Header.Get("Last-Modified") == "" {
			t.Errorf("ETag = %s, Last-Modified = %s", tag, response.Header.Get("Last-Modified"))
		}
		head, body := request(t, http.MethodHead, url)
		if head.StatusCode != http.StatusOK || len(body) != 0 || head.ContentLength != int64(len(archive)) || head.Header.Get("ETag") != tag {
			t.Errorf("HEAD: %s, %d, %v", head.Status, head.ContentLength, head.Header)
		}

		size := len(archive)
		tests := map[string]struct {
			header []string
			status int
			body   []byte
		}{
			"unchanged":            {[]string{"If-None-Match", tag}, http.StatusNotModified, nil},
			"changed":              {[]string{"If-None-Match", `"another"`}, http.StatusOK, archive},
			"still the same":       {[]string{"If-Match", tag}, http.StatusOK, archive},
			"not the same":         {[]string{"If-Match", `"another"`}, http.StatusPreconditionFailed, nil},
			"the start":            {[]string{"Range", "bytes=0-9"}, http.StatusPartialContent, archive[:10]},
			"the rest":             {[]string{"Range", "bytes=10-"}, http.StatusPartialContent, archive[10:]},
			"the end":              {[]string{"Range", "bytes=-10"}, http.StatusPartialContent, archive[size-10:]},
			"resumed":              {[]string{"Range", "bytes=10-", "If-Range", tag}, http.StatusPartialContent, archive[10:]},
			"cannot be resumed":    {[]string{"Range", "bytes=10-", "If-Range", `"another"`}, http.StatusOK, archive},
			"behind the end":       {[]string{"Range", fmt.Sprintf("bytes=%d-", size)}, http.StatusRequestedRangeNotSatisfiable, nil},
			"asked for compressed": {[]string{"Accept-Encoding", "gzip"}, http.StatusOK, archive},
		}
		for name, test := range tests {
			response, body := request(t, http.MethodGet, url, test.header...)
			if response.StatusCode != test.status || test.body != nil && !bytes.Equal(body, test.body) {
				t.Errorf("%s: %s, %d bytes", name, response.Status, len(body))
			}
		}
		checkParts(t, url, archive)
	})
}

// checkParts asks for two ranges at once, the later one first.
func checkParts(t *testing.T, url string, archive []byte) {
	t.Helper()
	response, body := request(t, http.MethodGet, url, "Range", "bytes=20-29,0-4")
	_, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || response.StatusCode != http.StatusPartialContent {
		t.Fatalf("%s, %v", response.Status, err)
	}
	parts := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	for _, want := range [][]byte{archive[20:30], archive[:5]} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(part); err != nil || !bytes.Equal(got, want) || part.Header.Get("Content-Type") != "application/gzip" {
			t.Errorf("part: %d bytes, %v, %v", len(got), err, part.Header)
		}
	}
}

func TestHandler_ServesNothingElse(t *testing.T) {
	store, directory := openLocal(t)
	url, log := serve(t, store)
	stored := put(t, store, web(), "1")
	temporary := filepath.Join(directory, "team-a", "web.v1", hexadecimal+".tar.gz.tmp")
	notes := filepath.Join(directory, "team-a", "web.v1", "notes.txt")
	outside := filepath.Join(filepath.Dir(directory), hexadecimal+".tar.gz")
	for _, path := range []string{temporary, notes, outside} {
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/", "/team-a", "/team-a/", "/team-a/web.v1", "/team-a/web.v1/", "/team-a/web.v1/notes.txt", "/index.html",
		"/team-a/web.v1/" + hexadecimal + ".tar.gz", // not there
		"/team-a/web.v1/" + hexadecimal + ".tar.gz.tmp",
		"/../" + hexadecimal + ".tar.gz", "/team-a/../../" + hexadecimal + ".tar.gz",
		"/%2e%2e/" + hexadecimal + ".tar.gz", "/team-a/web.v1/..%2f..%2f..%2f" + hexadecimal + ".tar.gz",
		"//" + stored.Path(), "/./" + stored.Path(), "/" + stored.Path() + "/", "/" + stored.Path() + "%00",
		"/team-a/web.v1/" + strings.ToUpper(hexadecimal) + ".tar.gz",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			response, body := request(t, method, url+path)
			if response.StatusCode != http.StatusNotFound || bytes.Contains(body, []byte("secret")) || bytes.Contains(body, []byte(directory)) {
				t.Errorf("%s %s: %s: %s", method, path, response.Status, body)
			}
			if method == http.MethodGet && string(body) != "there is no such artifact\n" {
				t.Errorf("%s: %q", path, body)
			}
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
		response, _ := request(t, method, url+"/"+stored.Path())
		if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %s, Allow %q", method, response.Status, response.Header.Get("Allow"))
		}
	}
	if log.Len() != 0 {
		t.Errorf("log: %s", log.String())
	}
}

type failing struct{ err error }

func (f failing) Open(context.Context, storage.Ref) (*storage.Blob, error) { return nil, f.err }

func TestHandler_SaysThatTheStorageFails(t *testing.T) {
	path := "/team-a/web/" + hexadecimal + ".tar.gz"
	url, log := serve(t, failing{errors.New("the disk of host 10.0.0.7 is on fire")})
	response, body := request(t, http.MethodGet, url+path)
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" || bytes.Contains(body, []byte("fire")) {
		t.Errorf("%s: %s", response.Status, body)
	}
	if !strings.Contains(log.String(), "on fire") || !strings.Contains(log.String(), "path=team-a/web/") {
		t.Errorf("log: %s", log.String())
	}
	url, log = serve(t, failing{fmt.Errorf("finding artifact: %w", fs.ErrNotExist)})
	if response, _ := request(t, http.MethodGet, url+path); response.StatusCode != http.StatusNotFound || log.Len() != 0 {
		t.Errorf("%s, log: %s", response.Status, log.String())
	}
}

// TestHandler_IsReadByFlux with the library that its controllers fetch with, and by our own.
func TestHandler_IsReadByFlux(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		url, _ := serve(t, store)
		stored := put(t, store, web(), `{"a": 1}`)
		url += "/" + stored.Path()

		directory := t.TempDir()
		if err := fetch.New(fetch.WithUntar()).FetchWithContext(t.Context(), url, stored.Digest.String(), directory); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(directory, "rendered.json"))
		if err != nil || string(content) != `{"a": 1}` {
			t.Errorf("Flux reads %q, %v", content, err)
		}
		archive, err := artifact.NewFetcher(artifact.DefaultFetchOptions()).Fetch(t.Context(), url, stored.Digest.String())
		if err != nil || int64(len(archive)) != stored.Size {
			t.Errorf("%d bytes, %v", len(archive), err)
		}
		missing := httptest.NewServer(storage.Handler(store, slog.New(slog.DiscardHandler)))
		defer missing.Close()
		_, err = artifact.NewFetcher(artifact.DefaultFetchOptions()).Fetch(t.Context(),
			missing.URL+"/a/b/"+hexadecimal+".tar.gz", stored.Digest.String())
		if !errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("a missing artifact: %v", err)
		}
	})
}
