package storage_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/render/storage"
)

func aged(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("half of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, directory string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(directory, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i], _ = filepath.Rel(directory, found[i])
	}
	return found
}

func TestSweep_RemovesOldTemporaryFilesOnly(t *testing.T) {
	store, directory := openLocal(t)
	stored := put(t, store, web(), "1")
	now := time.Now()
	old, young := now.Add(-31*time.Minute), now.Add(-29*time.Minute)
	for path, at := range map[string]time.Time{
		"team-a/web.v1/" + hexadecimal + ".tar.gz.tmp":   old,
		"team-a/web.v1/X." + hexadecimal + ".tar.gz.tmp": old,
		"team-a/web.v1/Y." + hexadecimal + ".tar.gz.tmp": young,
		"team-a/web.v1/notes.tmp":                        old,
		"team-b/api/Z." + hexadecimal + ".tar.gz.tmp":    old,
		stored.Path(): old,
	} {
		aged(t, filepath.Join(directory, path), at)
	}
	empty := filepath.Join(directory, "team-c", "none")
	if err := os.MkdirAll(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(empty, old, old); err != nil {
		t.Fatal(err)
	}
	removed, err := store.Sweep(t.Context(), now.Add(-30*time.Minute))
	if err != nil || removed != 3 {
		t.Errorf("removed %d, %v", removed, err)
	}
	want := []string{stored.Path(), "team-a/web.v1/Y." + hexadecimal + ".tar.gz.tmp", "team-a/web.v1/notes.tmp"}
	if diff := cmp.Diff(want, names(t, directory)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(empty); !os.IsNotExist(err) {
		t.Errorf("the empty directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(directory, "team-b", "api")); err != nil {
		t.Errorf("a directory that has just become empty may be about to get a file: %v", err)
	}
}

func TestSweeper_SweepsAtEachInterval(t *testing.T) {
	store, directory := openLocal(t)
	path := filepath.Join(directory, "team-a/web", hexadecimal+".tar.gz.tmp")
	synctest.Test(t, func(t *testing.T) {
		sweeper := storage.Sweeper{Local: store, Interval: 10 * time.Minute, MaxAge: 30 * time.Minute, Logger: slog.New(slog.DiscardHandler)}
		aged(t, path, time.Now())
		go sweeper.Run(t.Context())
		time.Sleep(30*time.Minute + time.Second) // of the bubble's clock; the age has to exceed the limit
		synctest.Wait()
		if got := names(t, directory); len(got) != 1 {
			t.Errorf("too early: %v", got)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := names(t, directory); len(got) != 0 {
			t.Errorf("too late: %v", got)
		}
	})
}

func TestSweeper_CountsFailures(t *testing.T) {
	store, err := storage.OpenLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	failures := 0
	synctest.Test(t, func(t *testing.T) {
		sweeper := storage.Sweeper{
			Local: store, Interval: time.Minute, MaxAge: time.Minute,
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Failed: func() { failures++ },
		}
		go sweeper.Run(t.Context())
		time.Sleep(90 * time.Second)
		synctest.Wait()
	})
	if failures != 2 || !strings.Contains(log.String(), "sweeping storage") {
		t.Errorf("%d failures, log: %s", failures, log.String())
	}
}

// TestSweeper_IsDisabledByAnIntervalOfZero: it returns, instead of running until its context ends.
func TestSweeper_IsDisabledByAnIntervalOfZero(t *testing.T) {
	store, directory := openLocal(t)
	path := filepath.Join(directory, "team-a/web", hexadecimal+".tar.gz.tmp")
	aged(t, path, time.Now().Add(-time.Hour))
	(&storage.Sweeper{Local: store, Logger: slog.New(slog.DiscardHandler)}).Run(t.Context())
	if got := names(t, directory); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}
