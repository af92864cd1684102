package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/objectstore"
	"github.com/stagewright/stagewright/internal/objectstore/objectstoretest"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// cloud is an object store with a proxy in front that tests let fail, and a clock that mirrors share.
type cloud struct {
	config  objectstore.Config // of the proxy
	direct  *storage.S3
	faults  faults
	refused atomic.Bool
	gets    atomic.Int32
	mu      sync.Mutex
	later   time.Duration
}

func newCloud(t testing.TB) *cloud {
	t.Helper()
	c := &cloud{}
	config := objectstoretest.Start(t)
	bucket, err := objectstore.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	c.direct = storage.NewS3(bucket)
	c.config = objectstoretest.Intercept(t, config, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".gz") {
			c.gets.Add(1)
		}
		answer := c.faults.answer.Load()
		return answer != nil && (*answer)(w, r)
	})
	c.config.Transport = &http.Transport{
		DisableKeepAlives: true, ResponseHeaderTimeout: 500 * time.Millisecond,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if c.refused.Load() {
				address = "127.0.0.1:1"
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	return c
}

func (c *cloud) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.later)
}

// pass lets time pass for the mirrors.
func (c *cloud) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.later += d
}

func (c *cloud) heal() {
	c.refused.Store(false)
	c.faults.set(func(http.ResponseWriter, *http.Request) bool { return false })
	c.pass(time.Minute)
}

// mirror is that of one replica.
func (c *cloud) mirror(t testing.TB, directory string, limit int64) *storage.Mirror {
	t.Helper()
	bucket, err := objectstore.Open(c.config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := storage.OpenMirror(storage.MirrorOptions{
		Remote: storage.NewS3(bucket), Directory: directory, MaxBytes: limit, Logger: slog.New(slog.DiscardHandler), Now: c.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// outages are the ways in which a store fails. The last two only harm who reads an object.
func outages(c *cloud) map[string]func() {
	answer := func(answer func(http.ResponseWriter, *http.Request) bool) func() {
		return func() { c.faults.set(answer) }
	}
	isRead := func(r *http.Request) bool { return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".gz") }
	return map[string]func(){
		"refuses":        func() { c.refused.Store(true) },
		"cuts":           answer(cutConnection),
		"hangs":          answer(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }),
		"internal error": answer(respond(http.StatusInternalServerError, "InternalError")),
		"slow down":      answer(respond(http.StatusServiceUnavailable, "SlowDown")),
		"page of a proxy": answer(func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "<html>not found</html>", http.StatusNotFound)
			return true
		}),
		"truncates": answer(func(w http.ResponseWriter, r *http.Request) bool {
			if isRead(r) {
				w.Header().Set("Content-Length", "1000")
				w.Header().Set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
				_, _ = io.WriteString(w, "half")
			}
			return isRead(r)
		}),
		"wrong bytes": answer(func(w http.ResponseWriter, r *http.Request) bool {
			if isRead(r) {
				w.Header().Set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
				_, _ = io.WriteString(w, "something else")
			}
			return isRead(r)
		}),
	}
}

// TestMirror_ServesWhileTheObjectStoreFails: what was put or read before is served with its digest, a new artifact fails and
// says so, and all goes on when the store is back, with the same mirror.
func TestMirror_ServesWhileTheObjectStoreFails(t *testing.T) {
	for name := range outages(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t)
			leader, standby := c.mirror(t, t.TempDir(), 0), c.mirror(t, t.TempDir(), 0)
			first, second := put(t, leader, web(), "1"), put(t, leader, web(), "2")
			read(t, standby, first.Ref) // somebody has fetched it there
			c.pass(time.Hour)
			outages(c)[name]()

			for replica, store := range map[string]*storage.Mirror{"leader": leader, "standby": standby} {
				if err := serves(t, store, first); err != nil {
					t.Errorf("%s: %v", replica, err)
				}
			}
			if err := serves(t, standby, second); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("what is in no mirror: %v", err)
			}
			brief, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if _, err := leader.Put(brief, web(), packed(t, "3")); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Put: %v", err)
			}

			c.heal()
			third := put(t, leader, web(), "3")
			for _, each := range []storage.Stored{first, second, third} {
				if err := serves(t, standby, each); err != nil {
					t.Errorf("when the store is back: %v", err)
				}
			}
		})
	}
}

// serves says whether who asks for an artifact gets it.
func serves(t *testing.T, store storage.Store, stored storage.Stored) error {
	t.Helper()
	blob, err := store.Open(t.Context(), stored.Ref)
	if err != nil {
		return err
	}
	return errors.Join(artifact.Verify(blob, stored.Digest.String()), blob.Close())
}

// TestVerify_ACopyIsNoProof: the operator has to notice that the object store has lost or damaged what it announces.
func TestVerify_ACopyIsNoProof(t *testing.T) {
	c := newCloud(t)
	m := c.mirror(t, t.TempDir(), 0)
	stored := put(t, m, web(), "1")
	bucket, err := objectstore.Open(c.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Put(t.Context(), stored.Path(), "text/plain", []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	verify := func() error { return storage.Verify(t.Context(), m, stored.Ref, stored.Digest.String()) }
	if err := verify(); !errors.Is(err, artifact.ErrDigestMismatch) {
		t.Errorf("damaged: %v", err)
	}
	c.pass(time.Hour)
	if err := serves(t, m, stored); err != nil {
		t.Errorf("the copy is good and is not served: %v", err)
	}
	if err := c.direct.Delete(t.Context(), stored.Ref); err != nil {
		t.Fatal(err)
	}
	if err := verify(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: %v", err)
	}
	put(t, m, web(), "1")
	if err := verify(); err != nil {
		t.Errorf("put again: %v", err)
	}
}

// TestMirror_ReplicasGiveOneTag, so that a download is resumed at another replica.
func TestMirror_ReplicasGiveOneTag(t *testing.T) {
	c := newCloud(t)
	tags := map[string]bool{}
	stored := put(t, c.mirror(t, t.TempDir(), 0), web(), "1")
	for _, limit := range []int64{0, 0, 1} { // the last one has no room
		blob, err := c.mirror(t, t.TempDir(), limit).Open(t.Context(), stored.Ref)
		if err != nil {
			t.Fatal(err)
		}
		tags[fmt.Sprint(blob.Tag, blob.Time.UTC())] = true
		if err := blob.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(tags) != 1 {
		t.Errorf("tags and times %v", tags)
	}
}

// TestMirror_WhatIsGoneIsGone: a copy is no reason to serve what another replica has deleted.
func TestMirror_WhatIsGoneIsGone(t *testing.T) {
	c := newCloud(t)
	leader, standby := c.mirror(t, t.TempDir(), 0), c.mirror(t, t.TempDir(), 0)
	first, second := put(t, leader, web(), "1"), put(t, leader, web(), "2")
	for _, each := range []storage.Stored{first, second} {
		read(t, standby, each.Ref)
	}
	if err := leader.Delete(t.Context(), first.Ref); err != nil {
		t.Fatal(err)
	}
	if _, err := leader.Open(t.Context(), first.Ref); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("who deleted it: %v", err)
	}
	c.pass(time.Minute)
	if _, err := standby.Open(t.Context(), first.Ref); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another replica, later: %v", err)
	}
	if err := leader.DeleteAll(t.Context(), web()); err != nil {
		t.Fatal(err)
	}
	c.refused.Store(true)
	if _, err := leader.Open(t.Context(), second.Ref); err == nil {
		t.Error("a deleted artifact is served while the store fails")
	}
}

// TestMirror_IsBounded, and serves what it has no room for.
func TestMirror_IsBounded(t *testing.T) {
	c := newCloud(t)
	directory := t.TempDir()
	limit := packed(t, "00").Size() * 3
	m := c.mirror(t, directory, limit)
	var all []storage.Stored
	for i := range 10 {
		all = append(all, put(t, m, web(), fmt.Sprintf("%02d", i)))
	}
	large := put(t, m, web(), randomText(int(limit)*4))
	for range 2 {
		for _, each := range append(all, large) {
			if err := serves(t, m, each); err != nil {
				t.Error(err)
			}
		}
	}
	if size := sizeOf(t, directory); size == 0 || size > limit {
		t.Errorf("the mirror has %d bytes, and may have %d", size, limit)
	}
	smaller := c.mirror(t, directory, limit/3) // a restart with another limit
	if size := sizeOf(t, directory); size > limit/3 {
		t.Errorf("after a restart it has %d bytes, and may have %d", size, limit/3)
	}
	if err := serves(t, smaller, large); err != nil {
		t.Error(err)
	}
}

func randomText(n int) string {
	var text strings.Builder
	for i := 0; text.Len() < n; i++ {
		fmt.Fprintf(&text, "%x", i*i*7919)
	}
	return text.String()
}

func sizeOf(t *testing.T, directory string) int64 {
	t.Helper()
	var size int64
	err := filepath.WalkDir(directory, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			info, err := entry.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// TestMirror_AfterARestart: copies of the last run are served while the store fails, but no damaged one.
func TestMirror_AfterARestart(t *testing.T) {
	c := newCloud(t)
	directory := t.TempDir()
	before := c.mirror(t, directory, 0)
	good, damaged := put(t, before, web(), "1"), put(t, before, web(), "2")
	path := filepath.Join(directory, filepath.FromSlash(damaged.Path()))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("x"), int(info.Size()))
	if err := errors.Join(os.WriteFile(path, content, 0o600), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	c.refused.Store(true)
	after := c.mirror(t, directory, 0)
	if err := serves(t, after, good); err != nil {
		t.Errorf("a good copy: %v", err)
	}
	if _, err := after.Open(t.Context(), damaged.Ref); err == nil {
		t.Error("a damaged copy is served")
	}
	c.heal()
	if err := serves(t, after, damaged); err != nil {
		t.Errorf("the damaged one when the store is back: %v", err)
	}
}

// TestMirror_ReadersShareOneFetch: a new artifact has many readers at once.
func TestMirror_ReadersShareOneFetch(t *testing.T) {
	c := newCloud(t)
	stored := put(t, c.direct, web(), strings.Repeat("content", 1000))
	m := c.mirror(t, t.TempDir(), 0)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := serves(t, m, stored); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if gets := c.gets.Load(); gets != 1 {
		t.Errorf("the object was read %d times", gets)
	}
}

// TestMirror_OneReaderWaitsForAStoreThatHangs, and all others are served at once, whatever they read.
func TestMirror_OneReaderWaitsForAStoreThatHangs(t *testing.T) {
	c := newCloud(t)
	m := c.mirror(t, t.TempDir(), 0)
	first, second := put(t, m, web(), "1"), put(t, m, web(), "2")
	c.pass(time.Hour)
	c.refused.Store(true)
	if err := serves(t, m, first); err != nil { // since now it is known that the store fails
		t.Fatal(err)
	}
	c.refused.Store(false)
	c.pass(time.Minute)
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var others atomic.Int32
	c.faults.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, second.Path()) {
			others.Add(1)
		}
		once.Do(func() { close(asked) })
		<-release
		return false
	})
	var group sync.WaitGroup
	group.Go(func() {
		if err := serves(t, m, first); err != nil {
			t.Error(err)
		}
	})
	<-asked
	if err := serves(t, m, second); err != nil {
		t.Error(err)
	}
	if others.Load() > 0 {
		t.Error("the other reader waited for the store too")
	}
	close(release)
	group.Wait()
}

// TestMirror_AReaderThatLeavesFailsNobody.
func TestMirror_AReaderThatLeavesFailsNobody(t *testing.T) {
	c := newCloud(t)
	stored := put(t, c.direct, web(), "1")
	m := c.mirror(t, t.TempDir(), 0)
	held, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c.faults.set(func(http.ResponseWriter, *http.Request) bool {
		once.Do(func() { close(held); <-release })
		return false
	})
	ctx, leave := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := m.Open(ctx, stored.Ref); !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
	})
	<-held
	group.Go(func() {
		if err := serves(t, m, stored); err != nil {
			t.Errorf("who stayed: %v", err)
		}
	})
	leave()
	close(release)
	group.Wait()
}

// TestSweeper_RemovesWhatTheObjectStoreHasNoMore, and what interrupted writes left in the mirror.
func TestSweeper_RemovesWhatTheObjectStoreHasNoMore(t *testing.T) {
	c := newCloud(t)
	directory := t.TempDir()
	m := c.mirror(t, directory, 0)
	gone, stays := put(t, m, web(), "1"), put(t, m, web(), "2")
	if err := c.direct.Delete(t.Context(), gone.Ref); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Hour)
	temporary := filepath.Join(directory, "team-a", "web.v1", hexadecimal+".tar.gz.tmp")
	if err := os.WriteFile(temporary, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	var failed atomic.Int32
	sweep := func(until func() bool) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		sweeper := &storage.Sweeper{
			Mirror: m, Interval: time.Hour, MaxAge: -time.Hour, Logger: slog.New(slog.DiscardHandler),
			Failed: func() { failed.Add(1) },
		}
		done := make(chan struct{})
		go func() { defer close(done); sweeper.Run(ctx) }()
		for deadline := time.Now().Add(30 * time.Second); !until(); {
			if time.Now().After(deadline) {
				t.Error("the sweep does not come to its end")
				break
			}
			runtime.Gosched()
		}
		cancel()
		<-done
	}
	isThere := func(path string) bool { _, err := os.Stat(path); return err == nil }
	copyOf := func(stored storage.Stored) string { return filepath.Join(directory, filepath.FromSlash(stored.Path())) }
	c.refused.Store(true)
	sweep(func() bool { return failed.Load() > 0 })
	if !isThere(copyOf(gone)) {
		t.Error("a copy was removed while the store failed")
	}
	if err := os.WriteFile(temporary, []byte("half"), 0o600); err != nil { // the other one is gone
		t.Fatal(err)
	}
	c.heal()
	sweep(func() bool { return !isThere(temporary) })
	if isThere(copyOf(gone)) || !isThere(copyOf(stays)) {
		t.Errorf("the deleted one is there: %v, the other one is there: %v", isThere(copyOf(gone)), isThere(copyOf(stays)))
	}
}

// BenchmarkHandler is what an artifact of 100 KB takes over HTTP from each kind of store.
func BenchmarkHandler(b *testing.B) {
	content := randomText(200_000)
	local, err := storage.OpenLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer local.Close()
	c := newCloud(b)
	down := c.mirror(b, b.TempDir(), 0)
	put(b, down, web(), content)
	for name, store := range map[string]storage.Store{
		"local": local, "s3": c.direct, "mirror": c.mirror(b, b.TempDir(), 0),
	} {
		b.Run(name, func(b *testing.B) { benchmarkServing(b, store, put(b, store, web(), content)) })
	}
	stored := put(b, down, web(), content)
	b.Run("mirror, store down", func(b *testing.B) {
		c.refused.Store(true)
		c.pass(time.Hour)
		benchmarkServing(b, down, stored)
	})
}

func benchmarkServing(b *testing.B, store storage.Store, stored storage.Stored) {
	handler := storage.Handler(store, slog.New(slog.DiscardHandler))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	fetcher := artifact.NewFetcher(artifact.DefaultFetchOptions())
	url := "http://" + listener.Addr().String() + "/" + stored.Path()
	b.SetBytes(stored.Size)
	for b.Loop() {
		if _, err := fetcher.Fetch(b.Context(), url, stored.Digest.String()); err != nil {
			b.Fatal(err)
		}
	}
}
