package kubetest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"github.com/opencontainers/go-digest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stagewright/stagewright/internal/artifact"
)

// Archives serves archives of sources until the test ends.
type Archives struct {
	*httptest.Server
	Fetched atomic.Int64 // requests that were answered

	mu   sync.Mutex
	kept map[string][]byte
}

// NewArchives starts a server.
func NewArchives(t testing.TB) *Archives {
	t.Helper()
	a := &Archives{kept: map[string][]byte{}}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		a.mu.Lock()
		archive, ok := a.kept[request.URL.Path]
		a.mu.Unlock()
		a.Fetched.Add(1)
		if !ok {
			http.NotFound(w, request)
			return
		}
		_, _ = w.Write(archive)
	}))
	t.Cleanup(a.Close)
	return a
}

// Add serves an archive and returns what a source announces it with.
func (a *Archives) Add(archive []byte) *fluxmeta.Artifact {
	sum := digest.FromBytes(archive)
	path := "/" + sum.Encoded() + ".tar.gz"
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept[path] = archive
	return &fluxmeta.Artifact{
		Path: path[1:], URL: a.URL + path, Digest: sum.String(), Revision: "main@" + sum.String(), LastUpdateTime: metav1.Now(),
	}
}

// AddFiles serves files by their paths.
func (a *Archives) AddFiles(t testing.TB, files map[string]string) *fluxmeta.Artifact {
	t.Helper()
	content := artifact.Files{}
	for name, text := range files {
		content[name] = []byte(text)
	}
	packed, err := artifact.DefaultLimits().Pack(content)
	if err != nil {
		t.Fatal(err)
	}
	return a.Add(packed.Archive)
}

// Drop stops serving an archive, as producers do with old ones.
func (a *Archives) Drop(at *fluxmeta.Artifact) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.kept, "/"+at.Path)
}

// FastFetches are options with which nothing that fails takes long.
func FastFetches() artifact.FetchOptions {
	o := artifact.DefaultFetchOptions()
	o.Attempts, o.Delay = 2, time.Millisecond
	return o
}
