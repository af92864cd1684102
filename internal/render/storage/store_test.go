package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/objectstore"
	"github.com/stagewright/stagewright/internal/objectstore/objectstoretest"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// fixture is a store, and a way to what is under it.
type fixture struct {
	storage.Store
	damage func(t *testing.T, path string, content []byte) // writes past the store
}

// eachStore runs a test with each implementation.
func eachStore(t *testing.T, test func(t *testing.T, store fixture)) {
	t.Run("local", func(t *testing.T) {
		store, directory := openLocal(t)
		test(t, fixture{store, func(t *testing.T, path string, content []byte) {
			if err := os.WriteFile(filepath.Join(directory, path), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}})
	})
	t.Run("s3", func(t *testing.T) {
		config := objectstoretest.Start(t)
		config.Prefix = "a/prefix"
		bucket, err := objectstore.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		damage := func(t *testing.T, path string, content []byte) {
			if err := bucket.Put(t.Context(), path, "text/plain", content); err != nil {
				t.Fatal(err)
			}
		}
		test(t, fixture{storage.NewS3(bucket), damage})
	})
	t.Run("mirror", func(t *testing.T) {
		c := newCloud(t)
		bucket, err := objectstore.Open(c.config)
		if err != nil {
			t.Fatal(err)
		}
		test(t, fixture{c.mirror(t, t.TempDir(), 0), func(t *testing.T, path string, content []byte) {
			if err := bucket.Put(t.Context(), path, "text/plain", content); err != nil {
				t.Fatal(err)
			}
			c.pass(time.Minute)
		}})
	})
}

func openLocal(t *testing.T) (*storage.Local, string) {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "made", "when", "missing")
	store, err := storage.OpenLocal(directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, directory
}

func packed(t testing.TB, content string) artifact.Packed {
	t.Helper()
	p, err := artifact.DefaultLimits().Pack(artifact.Files{"rendered.json": []byte(content)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func web() storage.Snippet { return storage.Snippet{Namespace: "team-a", Name: "web.v1"} }

func put(t testing.TB, store storage.Store, of storage.Snippet, content string) storage.Stored {
	t.Helper()
	p := packed(t, content)
	stored, err := store.Put(t.Context(), of, p)
	if err != nil {
		t.Fatal(err)
	}
	if stored.Snippet != of || stored.Revision != p.Revision || stored.Time.IsZero() {
		t.Errorf("Put = %+v", stored)
	}
	return stored
}

func read(t *testing.T, store storage.Store, ref storage.Ref) []byte {
	t.Helper()
	blob, err := store.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(blob)
	if err := errors.Join(err, blob.Close()); err != nil {
		t.Fatal(err)
	}
	if blob.Tag == "" || blob.Size != int64(len(content)) || blob.Ref != ref {
		t.Errorf("blob = %+v", blob.Stored)
	}
	return content
}

func revisions(t *testing.T, store storage.Store, of storage.Snippet) []string {
	t.Helper()
	found, err := store.List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, stored := range found {
		list = append(list, stored.Revision)
	}
	slices.Sort(list)
	return list
}

func TestStore_KeepsArtifacts(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		if got := revisions(t, store, web()); len(got) != 0 {
			t.Errorf("an empty store lists %v", got)
		}
		neighbour := storage.Snippet{Namespace: "team-a", Name: "web.v1.1"} // its keys have a common prefix
		one, two, other := put(t, store, web(), "1"), put(t, store, web(), "2"), put(t, store, neighbour, "1")

		if got := read(t, store, one.Ref); !bytes.Equal(got, packed(t, "1").Archive) {
			t.Error("another artifact is read")
		}
		if one.Digest != packed(t, "1").Digest || one.Size != packed(t, "1").Size() {
			t.Errorf("Put = %+v", one)
		}
		stat, err := store.Stat(t.Context(), two.Ref)
		if err != nil || stat.Size != two.Size || stat.Ref != two.Ref || stat.Time.IsZero() {
			t.Errorf("Stat = %+v, %v", stat, err)
		}
		want := []string{one.Revision, two.Revision}
		slices.Sort(want)
		if diff := cmp.Diff(want, revisions(t, store, web())); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
		for range 2 { // deleting what is gone is fine
			if err := store.Delete(t.Context(), one.Ref); err != nil {
				t.Error(err)
			}
		}
		_, statErr := store.Stat(t.Context(), one.Ref)
		_, openErr := store.Open(t.Context(), one.Ref)
		for _, err := range []error{statErr, openErr, storage.Verify(t.Context(), store, one.Ref, one.Digest.String())} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("of a deleted artifact: %v", err)
			}
		}
		for range 2 {
			if err := store.DeleteAll(t.Context(), web()); err != nil {
				t.Error(err)
			}
		}
		if got := revisions(t, store, web()); len(got) != 0 {
			t.Errorf("after DeleteAll there are %v", got)
		}
		if got := read(t, store, other.Ref); !bytes.Equal(got, packed(t, "1").Archive) {
			t.Error("the neighbour is gone")
		}
	})
}

func TestVerify_ComparesWhatIsStored(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		stored := put(t, store, web(), "1")
		if err := storage.Verify(t.Context(), store, stored.Ref, stored.Digest.String()); err != nil {
			t.Error(err)
		}
		store.damage(t, stored.Path(), []byte("damaged"))
		if err := storage.Verify(t.Context(), store, stored.Ref, stored.Digest.String()); !errors.Is(err, artifact.ErrDigestMismatch) {
			t.Errorf("of a damaged artifact: %v", err)
		}
	})
}

func TestPut_RepairsADamagedArtifact(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		stored := put(t, store, web(), "1")
		wrong := packed(t, "2").Archive // whole, but not what its name says
		for _, damage := range [][]byte{nil, []byte("damaged"), wrong, make([]byte, 65<<20)} {
			store.damage(t, stored.Path(), damage)
			if again := put(t, store, web(), "1"); again.Digest != stored.Digest {
				t.Errorf("digest = %s", again.Digest)
			}
			if got := read(t, store, stored.Ref); !bytes.Equal(got, packed(t, "1").Archive) {
				t.Error("it is still damaged")
			}
		}
	})
}

// TestPut_KeepsTheBytesOfTheSameContent: another release may compress differently, while consumers still fetch by the
// digest that was published.
func TestPut_KeepsTheBytesOfTheSameContent(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		first := put(t, store, web(), "1")
		other := packed(t, "1")
		other.Archive = recompress(t, other.Archive)
		other.Digest = digest.FromBytes(other.Archive)
		if other.Digest == first.Digest {
			t.Fatal("it compresses to the same bytes")
		}
		again, err := store.Put(t.Context(), web(), other)
		if err != nil || again.Digest != first.Digest || again.Time.Before(first.Time) {
			t.Errorf("Put = %+v, %v; it was %+v", again, err, first)
		}
		if err := storage.Verify(t.Context(), store, first.Ref, first.Digest.String()); err != nil {
			t.Error(err)
		}
	})
}

func TestPut_MakesAnOldArtifactNew(t *testing.T) {
	store, directory := openLocal(t)
	stored := put(t, store, web(), "1")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(directory, stored.Path()), old, old); err != nil {
		t.Fatal(err)
	}
	if again := put(t, store, web(), "1"); time.Since(again.Time) > 10*time.Minute {
		t.Errorf("its time is %s", again.Time)
	}
}

func TestPut_MayRunConcurrently(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		var writers sync.WaitGroup
		for i := range 20 {
			writers.Go(func() {
				// Of the same artifact, and of others in directories that come and go.
				_, err := store.Put(t.Context(), web(), packed(t, "same"))
				gone := storage.Snippet{Namespace: "gone", Name: fmt.Sprint("s", i)}
				_, errGone := store.Put(t.Context(), gone, packed(t, "1"))
				if err := errors.Join(err, errGone, store.DeleteAll(t.Context(), gone)); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if diff := cmp.Diff([]string{packed(t, "same").Revision}, revisions(t, store, web())); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
	})
}

func TestStore_RefusesNamesThatLeaveIt(t *testing.T) {
	eachStore(t, func(t *testing.T, store fixture) {
		revision := packed(t, "1").Revision
		for _, ref := range []storage.Ref{
			{Snippet: storage.Snippet{Namespace: "..", Name: "a"}, Revision: revision},
			{Snippet: storage.Snippet{Namespace: "a", Name: ".."}, Revision: revision},
			{Snippet: storage.Snippet{Namespace: "a/b", Name: "c"}, Revision: revision},
			{Snippet: storage.Snippet{Namespace: "", Name: "a"}, Revision: revision},
			{Snippet: storage.Snippet{Namespace: "a", Name: ""}, Revision: revision},
			{Snippet: storage.Snippet{Namespace: "a", Name: "b"}, Revision: "sha256:../../../etc/passwd"},
		} {
			bad := packed(t, "1")
			bad.Revision = ref.Revision
			_, putErr := store.Put(t.Context(), ref.Snippet, bad)
			_, openErr := store.Open(t.Context(), ref)
			_, statErr := store.Stat(t.Context(), ref)
			for _, err := range []error{putErr, openErr, statErr, store.Delete(t.Context(), ref)} {
				if err == nil || !strings.Contains(err.Error(), "naming artifact") {
					t.Errorf("%+v: %v", ref, err)
				}
			}
			if ref.Revision == revision {
				_, listErr := store.List(t.Context(), ref.Snippet)
				if err := store.DeleteAll(t.Context(), ref.Snippet); err == nil || listErr == nil {
					t.Errorf("%+v: %v, %v", ref.Snippet, err, listErr)
				}
			}
		}
	})
}

func TestDeleteAll_LeavesNothingOfItsOwn(t *testing.T) {
	store, directory := openLocal(t)
	put(t, store, web(), "1")
	put(t, store, web(), "2")
	temporary := filepath.Join(directory, "team-a", "web.v1", "x.tar.gz.tmp")
	if err := os.WriteFile(temporary, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.DeleteAll(t.Context(), web()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestLocal_FollowsNoLinkOut and opens nothing but files.
func TestLocal_FollowsNoLinkOut(t *testing.T) {
	store, directory := openLocal(t)
	stored := put(t, store, web(), "1")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory, stored.Path())
	places := map[string]func() error{
		"link":      func() error { return os.Symlink(outside, path) },
		"directory": func() error { return os.Mkdir(path, 0o700) },
		"pipe":      func() error { return makePipe(path) },
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(path), place()); err != nil {
				t.Skipf("cannot be made here: %v", err)
			}
			if _, err := store.Open(t.Context(), stored.Ref); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Open: %v", err)
			}
			if got := revisions(t, store, web()); len(got) != 0 {
				t.Errorf("List: %v", got)
			}
		})
	}
}
