package load

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/artifact"
)

// fetcher serves archives by their digest.
type fetcher struct {
	archives map[string][]byte
	fetched  int
}

func (f *fetcher) Fetch(_ context.Context, _, digest string) ([]byte, error) {
	f.fetched++
	archive, ok := f.archives[digest]
	if !ok {
		return nil, artifact.ErrNotFound
	}
	return archive, nil
}

func (f *fetcher) add(t *testing.T, files map[string]string) Location {
	t.Helper()
	content := artifact.Files{}
	for name, text := range files {
		content[name] = []byte(text)
	}
	packed, err := artifact.DefaultLimits().Pack(content)
	if err != nil {
		t.Fatal(err)
	}
	f.archives[packed.Digest.String()] = packed.Archive
	return Location{URL: "http://sources.example.com/a.tar.gz", Digest: packed.Digest.String()}
}

func newFetcher() *fetcher { return &fetcher{archives: map[string][]byte{}} }

func TestLoad_FetchesWhatIsNotKept(t *testing.T) {
	f := newFetcher()
	at := f.add(t, map[string]string{"a/b": "1", "c": "2"})
	l := New(Options{Fetcher: f}, AsIs)
	for range 3 {
		hold := l.Hold("shop")
		files, err := hold.Load(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(artifact.Files{"a/b": []byte("1"), "c": []byte("2")}, files); d != "" {
			t.Error(d)
		}
		hold.Close()
	}
	if f.fetched != 1 {
		t.Errorf("fetched %d times", f.fetched)
	}
	// Who knows the digest alone gets what that URL gives.
	elsewhere := Location{URL: "http://elsewhere.example.com/", Digest: at.Digest}
	if _, err := l.Hold("other").Load(t.Context(), elsewhere); err != nil || f.fetched != 2 {
		t.Errorf("fetched %d times, %v; want another fetch for another URL", f.fetched, err)
	}
}

func TestLoad_WithoutCacheFetchesAgain(t *testing.T) {
	f := newFetcher()
	at := f.add(t, map[string]string{"a": "1"})
	l := New(Options{Fetcher: f, CacheBytes: -1}, AsIs)
	for range 2 {
		hold := l.Hold("shop")
		if _, err := hold.Load(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		hold.Close()
	}
	if f.fetched != 2 {
		t.Errorf("fetched %d times", f.fetched)
	}
}

func TestLoad_IsBoundedForOneAndForAll(t *testing.T) {
	f := newFetcher()
	limits := artifact.DefaultLimits()
	limits.InflatedBytes = 100_000
	l := New(Options{Fetcher: f, Limits: limits, HeldBytes: 200_000}, AsIs)
	large := f.add(t, map[string]string{"a": strings.Repeat("a", 80_000)})
	second := f.add(t, map[string]string{"a": strings.Repeat("b", 80_000)})
	small := f.add(t, map[string]string{"a": "1"})

	first := l.Hold("greedy")
	if _, err := first.Load(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	var refused *artifact.RefusedError
	if _, err := first.Load(t.Context(), second); !errors.As(err, &refused) {
		t.Errorf("all that one uses together: %v, want a refusal", err)
	}
	if _, err := l.Hold("greedy").Load(t.Context(), second); !errors.Is(err, ErrBusy) {
		t.Errorf("another large one of the tenant: %v, want ErrBusy", err)
	}
	if _, err := l.Hold("modest").Load(t.Context(), small); err != nil {
		t.Errorf("a small one of another tenant: %v", err)
	}
	first.Close()
	again := l.Hold("greedy")
	if _, err := again.Load(t.Context(), second); err != nil {
		t.Errorf("after the first one: %v", err)
	}
	again.Close()
}

func TestLoad_OfMoreThanEverFitsIsRefused(t *testing.T) {
	f := newFetcher()
	l := New(Options{Fetcher: f, HeldBytes: 100_000}, AsIs)
	hold := l.Hold("shop")
	defer hold.Close()
	var refused *artifact.RefusedError
	if _, err := hold.Load(t.Context(), f.add(t, map[string]string{"a": strings.Repeat("a", 80_000)})); !errors.As(err, &refused) {
		t.Errorf("%v, want a refusal, because waiting does not help", err)
	}
}

func TestBudget_KeepsNothingOfThoseWhoHoldNothing(t *testing.T) {
	b := newBudget(100)
	for _, bytes := range []int64{0, 10} {
		if !b.take("shop", bytes) {
			t.Fatalf("%d bytes are not given", bytes)
		}
		b.release("shop", bytes)
	}
	if len(b.held) != 0 || b.total != 0 {
		t.Errorf("%v and %d bytes are kept", b.held, b.total)
	}
}

func TestLoad_RefusesHostileArchives(t *testing.T) {
	f := newFetcher()
	f.archives["sha256:bad"] = []byte("no archive")
	l := New(Options{Fetcher: f}, AsIs)
	hold := l.Hold("shop")
	var refused *artifact.RefusedError
	if _, err := hold.Load(t.Context(), Location{Digest: "sha256:bad"}); !errors.As(err, &refused) {
		t.Errorf("%v, want a refusal", err)
	}
	hold.Close()
	if l.budget.total != 0 || len(l.budget.held) != 0 {
		t.Errorf("%d bytes are held by nobody", l.budget.total)
	}
}
