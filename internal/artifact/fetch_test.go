package artifact_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/stagewright/stagewright/internal/artifact"
)

// quick are options with which a test does not wait.
func quick() artifact.FetchOptions {
	options := artifact.DefaultFetchOptions()
	options.Delay, options.MaxDelay = time.Microsecond, time.Microsecond
	return options
}

func TestFetch_ReturnsTheArchiveOrSaysWhyNot(t *testing.T) {
	archive := noise(100 << 10)
	sha256 := digest.FromBytes(archive).String()
	send := func(w http.ResponseWriter) { _, _ = w.Write(archive) }
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { send(w) }))
	defer other.Close()
	sendCut := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
		_, _ = w.Write(archive[:len(archive)/2])
		panic(http.ErrAbortHandler)
	}
	status := func(w http.ResponseWriter, code int) { w.WriteHeader(code) }

	tests := map[string]struct {
		serve    func(w http.ResponseWriter, r *http.Request, attempt int)
		digest   string // when it is not that of the archive
		change   func(*artifact.FetchOptions)
		requests int
		want     string // in the error; empty: the archive arrives
		is       error
	}{
		"at once": {serve: func(w http.ResponseWriter, _ *http.Request, _ int) { send(w) }, requests: 1},
		"after the server was busy": {requests: 4, serve: func(w http.ResponseWriter, _ *http.Request, attempt int) {
			if attempt < 4 {
				status(w, []int{http.StatusServiceUnavailable, http.StatusInternalServerError, http.StatusTooManyRequests}[attempt-1])
				return
			}
			send(w)
		}},
		"after the connection broke": {requests: 2, serve: func(w http.ResponseWriter, _ *http.Request, attempt int) {
			if attempt == 1 {
				sendCut(w)
			}
			send(w)
		}},
		"from another path of the server": {requests: 2, serve: func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.URL.Path != "/elsewhere" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			send(w)
		}},
		"busy for too long": {
			requests: 4, want: "the server answered 503 Service Unavailable (attempt 4 of 4)",
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, http.StatusServiceUnavailable) },
		},
		"cut off each time": {
			requests: 4, want: "unexpected EOF (attempt 4 of 4)",
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) { sendCut(w) },
		},
		"missing": {
			requests: 1, want: "artifact not found", is: artifact.ErrNotFound,
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, http.StatusNotFound) },
		},
		"forbidden": {
			requests: 1, want: "the server answered 403 Forbidden",
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, http.StatusForbidden) },
		},
		"not the one": {
			requests: 1, want: "digest mismatch: it is " + sha256, is: artifact.ErrDigestMismatch, digest: digest.FromString("x").String(),
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) { send(w) },
		},
		"too large, as announced": {
			requests: 1, want: "the archive has more than 1000 bytes", change: func(o *artifact.FetchOptions) { o.MaxBytes = 1000 },
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
				send(w)
			},
		},
		"too large, as announced, and then silent": {
			requests: 1, want: "the archive has more than 1000 bytes",
			change: func(o *artifact.FetchOptions) { o.MaxBytes, o.Timeout = 1000, 10*time.Second },
			serve: func(w http.ResponseWriter, r *http.Request, _ int) {
				w.Header().Set("Content-Length", "1001")
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done() // it is not waited for
			},
		},
		"too large, and without end": {
			requests: 1, want: "the archive has more than 1000 bytes", change: func(o *artifact.FetchOptions) { o.MaxBytes = 1000 },
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.Copy(w, zeros{}) },
		},
		"just as large as it may be": {
			requests: 1, change: func(o *artifact.FetchOptions) { o.MaxBytes = int64(len(archive)) },
			serve: func(w http.ResponseWriter, _ *http.Request, _ int) { send(w) },
		},
		"redirected to another server": {
			requests: 1, want: "redirects to another server, " + other.URL,
			serve: func(w http.ResponseWriter, r *http.Request, _ int) { http.Redirect(w, r, other.URL, http.StatusFound) },
		},
		"redirected to another scheme": {
			requests: 1, want: "redirects to another server, https://",
			serve: func(w http.ResponseWriter, r *http.Request, _ int) {
				http.Redirect(w, r, "https://"+r.Host, http.StatusFound)
			},
		},
		"redirected in a circle": {
			requests: 4, want: "redirects more than 3 times",
			serve: func(w http.ResponseWriter, r *http.Request, _ int) { http.Redirect(w, r, "/", http.StatusFound) },
		},
		"compressed on the way": {
			requests: 1, want: "digest mismatch", is: artifact.ErrDigestMismatch,
			serve: func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Header.Get("Accept-Encoding") != "" {
					t.Error("it asks for compression")
				}
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(compress(t, archive))
			},
		},
		"silent": {
			requests: 2, want: "timeout awaiting response headers (attempt 2 of 2)",
			change: func(o *artifact.FetchOptions) { o.Silence, o.Attempts = 20*time.Millisecond, 2 },
			serve:  func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() },
		},
		"slow without end": {
			requests: 1, want: "it took longer than 100ms", is: context.DeadlineExceeded,
			change: func(o *artifact.FetchOptions) { o.Timeout = 100 * time.Millisecond },
			serve: func(w http.ResponseWriter, r *http.Request, _ int) {
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			},
		},
		"sha384": {requests: 1, digest: digest.SHA384.FromBytes(archive).String(), serve: func(w http.ResponseWriter, _ *http.Request, _ int) { send(w) }},
		"sha512": {requests: 1, digest: digest.SHA512.FromBytes(archive).String(), serve: func(w http.ResponseWriter, _ *http.Request, _ int) { send(w) }},
		"blake3": {requests: 1, digest: digest.BLAKE3.FromBytes(archive).String(), serve: func(w http.ResponseWriter, _ *http.Request, _ int) { send(w) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				test.serve(w, r, int(requests.Add(1)))
			}))
			t.Cleanup(server.Close)
			options := quick()
			if test.change != nil {
				test.change(&options)
			}
			want := sha256
			if test.digest != "" {
				want = test.digest
			}
			got, err := artifact.NewFetcher(options).Fetch(t.Context(), server.URL+"/a.tar.gz", want)
			switch {
			case test.want == "" && (err != nil || !bytes.Equal(got, archive)):
				t.Errorf("%d bytes, %v", len(got), err)
			case test.want != "" && (err == nil || got != nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error = %v, want %q", err, test.want)
			case test.is != nil && !errors.Is(err, test.is):
				t.Errorf("error = %v, which is not %v", err, test.is)
			}
			if n := int(requests.Load()); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
		})
	}
}

func TestFetch_RefusesWhatItCannotVerifyOrReach(t *testing.T) {
	sha256 := digest.FromString("x").String()
	tests := map[string]struct{ url, digest, want string }{
		"no digest":          {"http://127.0.0.1:1/a", "", "reading digest"},
		"digest without hex": {"http://127.0.0.1:1/a", "sha256:abc", "reading digest"},
		"weak digest":        {"http://127.0.0.1:1/a", "md5:d41d8cd98f00b204e9800998ecf8427e", "reading digest"},
		"file":               {"file:///etc/passwd", sha256, "not an http or https URL"},
		"no host":            {"http:///a", sha256, "not an http or https URL"},
		"no URL":             {"http://user:secret@[", sha256, "not an http or https URL"},
		"nobody listens":     {"http://user:secret@127.0.0.1:1/a", sha256, "connection refused"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := artifact.NewFetcher(quick()).Fetch(t.Context(), test.url, test.digest)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the password is in the error: %v", err)
			}
		})
	}
}

func TestFetch_AsksWhetherAnAddressIsPermitted(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer server.Close()
	asked := 0
	options := quick()
	options.Permit = func(to netip.AddrPort) error {
		asked++
		if to.Addr().IsLoopback() {
			return errors.New("loopback is not permitted")
		}
		return nil
	}
	_, err := artifact.NewFetcher(options).Fetch(t.Context(), server.URL, digest.FromString("").String())
	if err == nil || !strings.Contains(err.Error(), "loopback is not permitted") || asked != 1 || requests.Load() != 0 {
		t.Errorf("error = %v after asking %d times, %d requests", err, asked, requests.Load())
	}
	options.Permit = func(netip.AddrPort) error { return nil }
	if _, err := artifact.NewFetcher(options).Fetch(t.Context(), server.URL, digest.FromString("").String()); err != nil {
		t.Errorf("permitted: %v", err)
	}
}

func TestFetch_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel() // so that the fetch is waiting, or about to
	}))
	defer server.Close()
	options := artifact.DefaultFetchOptions()
	options.Delay, options.MaxDelay = time.Hour, time.Hour
	if _, err := artifact.NewFetcher(options).Fetch(ctx, server.URL, digest.FromString("").String()); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestVerify_ReadsToTheEnd(t *testing.T) {
	want := digest.FromString("content").String()
	if err := artifact.Verify(strings.NewReader("content"), want); err != nil {
		t.Error(err)
	}
	if err := artifact.Verify(strings.NewReader("conten"), want); !errors.Is(err, artifact.ErrDigestMismatch) {
		t.Errorf("other content: %v", err)
	}
	if err := artifact.Verify(io.MultiReader(strings.NewReader("con"), brokenReader{}), want); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("broken: %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestFetch_ShowsNoSignature(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	sum := "sha256:" + strings.Repeat("0", 64)
	for name, address := range map[string]string{
		"missing":   server.URL + "/a.tar.gz?X-Amz-Signature=hunter2",
		"no http":   "ftp://example.com/a.tar.gz?token=hunter2",
		"no server": "http:///a.tar.gz?token=hunter2",
		"no URL":    "http://[a?token=hunter2",
	} {
		options := artifact.DefaultFetchOptions()
		options.Attempts = 1
		if _, err := artifact.NewFetcher(options).Fetch(t.Context(), address, sum); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFetch_ServerWithManyWords: what a server says of itself goes into conditions and logs.
func TestFetch_ServerWithManyWords(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(connection))
			_, _ = fmt.Fprintf(connection, "HTTP/1.1 403 %s\x1b[31m\r\nContent-Length: 0\r\n\r\n", strings.Repeat("x", 100_000))
			_ = connection.Close()
		}
	}()
	address := "http://" + listener.Addr().String() + "/a"
	digest := "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	_, err = artifact.NewFetcher(artifact.DefaultFetchOptions()).Fetch(t.Context(), address, digest)
	want := "fetching artifact " + address + ": the server answered 403 Forbidden"
	if err == nil || err.Error() != want {
		t.Errorf("error %.300v, want %q", err, want)
	}
}
