package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/artifact"
)

// faultyDisk fails at one of the steps of a writer. After a crash every further step fails too, because there is no
// process any more, and what was written but not synced is lost, as when the machine stops.
type faultyDisk struct {
	disk
	directory string
	failAt    int   // the step, counted from 1
	with      error // what the step fails with
	crash     bool
	steps     int
	unsynced  map[*faultyFile]bool
	log       []string
}

func (d *faultyDisk) step(name string) error {
	d.steps++
	d.log = append(d.log, name)
	if d.steps == d.failAt || d.crash && d.failAt > 0 && d.steps > d.failAt {
		return d.with
	}
	return nil
}

func (d *faultyDisk) MkdirAll(name string) error {
	if err := d.step("mkdir"); err != nil {
		return err
	}
	return d.disk.MkdirAll(name)
}

func (d *faultyDisk) Create(name string) (file, error) {
	if err := d.step("create"); err != nil {
		return nil, err
	}
	created, err := d.disk.Create(name)
	if err != nil {
		return nil, err
	}
	f := &faultyFile{file: created, disk: d, os: created.(*os.File)}
	d.unsynced[f] = true
	return f, nil
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.step("rename"); err != nil {
		return err
	}
	return d.disk.Rename(from, to)
}

func (d *faultyDisk) Remove(name string) error {
	if err := d.step("remove"); err != nil {
		return err
	}
	return d.disk.Remove(name)
}

func (d *faultyDisk) Chtimes(name string, t time.Time) error {
	if err := d.step("chtimes"); err != nil {
		return err
	}
	return d.disk.Chtimes(name, t)
}

func (d *faultyDisk) SyncDirectory(name string) error {
	if err := d.step("sync directory"); err != nil {
		return err
	}
	return d.disk.SyncDirectory(name)
}

// lose takes away what never reached the disk, also from files that were renamed since.
func (d *faultyDisk) lose(t *testing.T) {
	t.Helper()
	for f := range d.unsynced {
		_ = f.os.Close()
		err := filepath.WalkDir(d.directory, func(path string, _ os.DirEntry, err error) error {
			if info, statErr := os.Stat(path); err == nil && statErr == nil && os.SameFile(info, f.info) {
				return os.Truncate(path, 0)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

type faultyFile struct {
	file
	disk *faultyDisk
	os   *os.File
	info os.FileInfo
}

// Write writes half before it fails, as a disk does that becomes full.
func (f *faultyFile) Write(content []byte) (int, error) {
	f.info, _ = f.os.Stat()
	if err := f.disk.step("write"); err != nil {
		n, _ := f.file.Write(content[:len(content)/2])
		return n, err
	}
	return f.file.Write(content)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.step("sync"); err != nil {
		return err
	}
	delete(f.disk.unsynced, f)
	return f.file.Sync()
}

func (f *faultyFile) Close() error {
	if err := f.disk.step("close"); err != nil {
		_ = f.file.Close()
		return err
	}
	return f.file.Close()
}

func faulty(t *testing.T, directory string, failAt int, with error, crash bool) (*Local, *faultyDisk) {
	t.Helper()
	store, err := OpenLocal(directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	disk := &faultyDisk{
		disk: store.disk, directory: directory, failAt: failAt, with: with, crash: crash, unsynced: map[*faultyFile]bool{},
	}
	store.disk = disk
	return store, disk
}

// whole fails the test unless everything that can be listed can be read and is what its name says. It returns how many
// there are.
func whole(t *testing.T, store Store, of Snippet) int {
	t.Helper()
	found, err := store.List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range found {
		blob, err := store.Open(t.Context(), stored.Ref)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(blob)
		_ = blob.Close()
		files, unpackErr := artifact.DefaultLimits().Unpack(bytes.NewReader(content))
		if err != nil || unpackErr != nil || files.Revision() != stored.Revision {
			t.Fatalf("half an artifact is visible: %d bytes, %v, %v", len(content), err, unpackErr)
		}
	}
	return len(found)
}

func archiveOf(t testing.TB, content string) artifact.Packed {
	t.Helper()
	packed, err := artifact.DefaultLimits().Pack(artifact.Files{"rendered.json": bytes.Repeat([]byte(content), 10_000)})
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// TestPut_InterruptedAnywhere ends or fails a writer at each of its steps, of a first artifact, of a second one, of one
// that is there already and of one that is damaged. Never is half an artifact visible or an older one lost, and another
// process can always finish; what stays behind is swept.
func TestPut_InterruptedAnywhere(t *testing.T) {
	of := Snippet{"team-a", "web"}
	errCrash := errors.New("the process is gone")
	prepare := map[string]func(t *testing.T, store *Local, directory string) int{
		"first": func(*testing.T, *Local, string) int { return 0 },
		"second": func(t *testing.T, store *Local, _ string) int {
			mustPut(t, store, of, "old")
			return 1
		},
		"already there": func(t *testing.T, store *Local, _ string) int {
			mustPut(t, store, of, "new")
			return 1
		},
		"damaged": func(t *testing.T, store *Local, directory string) int {
			mustPut(t, store, of, "old")
			stored := mustPut(t, store, of, "new")
			if err := os.Truncate(filepath.Join(directory, stored.Path()), 10); err != nil {
				t.Fatal(err)
			}
			return -1 // it counts only when it has been repaired
		},
	}
	for situation, prepare := range prepare {
		for fault, with := range map[string]error{"crash": errCrash, "disk full": syscall.ENOSPC, "disk broken": syscall.EIO} {
			t.Run(situation+"/"+fault, func(t *testing.T) {
				for failAt := 1; ; failAt++ {
					directory := t.TempDir()
					clean, _ := faulty(t, directory, 0, nil, false)
					before := prepare(t, clean, directory)
					store, disk := faulty(t, directory, failAt, with, errors.Is(with, errCrash))
					_, err := store.Put(t.Context(), of, archiveOf(t, "new"))
					if disk.steps < failAt { // it was not disturbed
						if err != nil || failAt < 2 {
							t.Fatalf("undisturbed: %v, steps %v", err, disk.log)
						}
						return
					}
					if errors.Is(with, errCrash) {
						disk.lose(t)
					}
					check(t, clean, directory, before, fmt.Sprintf("failing at step %d, %s: %v", failAt, disk.log[failAt-1], err))
				}
			})
		}
	}
}

func check(t *testing.T, clean *Local, directory string, before int, what string) {
	t.Helper()
	of := Snippet{"team-a", "web"}
	t.Log(what)
	if before >= 0 {
		if count := whole(t, clean, of); count < before {
			t.Errorf("there are %d artifacts, and were %d", count, before)
		}
	}
	mustPut(t, clean, of, "new") // another process finishes
	if count := whole(t, clean, of); count < 1 {
		t.Error("it is not there")
	}
	if _, err := clean.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(directory, "*/*/*.tmp")); len(left) != 0 {
		t.Errorf("after the sweep there are %v", left)
	}
}

func mustPut(t *testing.T, store *Local, of Snippet, content string) Stored {
	t.Helper()
	stored, err := store.Put(t.Context(), of, archiveOf(t, content))
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func TestPut_CleansUpAfterAFullDisk(t *testing.T) {
	directory := t.TempDir()
	store, disk := faulty(t, directory, 3, syscall.ENOSPC, false) // mkdir, create, write
	if _, err := store.Put(t.Context(), Snippet{"team-a", "web"}, archiveOf(t, "new")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v; steps %v", err, disk.log)
	}
	if left, _ := filepath.Glob(filepath.Join(directory, "*/*/*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestPut_MakesItsDirectoryAgain when a sweep or a deletion takes the empty one away before there is a file in it.
func TestPut_MakesItsDirectoryAgain(t *testing.T) {
	directory := t.TempDir()
	store, disk := faulty(t, directory, 0, nil, false)
	store.disk = &sweptDisk{disk: disk, directory: filepath.Join(directory, "team-a"), times: 3}
	mustPut(t, store, Snippet{"team-a", "web"}, "new")
	store.disk = &sweptDisk{disk: disk, directory: filepath.Join(directory, "team-b"), times: 1000}
	if _, err := store.Put(t.Context(), Snippet{"team-b", "web"}, archiveOf(t, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("when it is taken away each time: %v", err)
	}
}

type sweptDisk struct {
	disk
	directory string
	times     int
}

func (d *sweptDisk) Create(name string) (file, error) {
	if d.times--; d.times >= 0 {
		_ = os.RemoveAll(d.directory)
	}
	return d.disk.Create(name)
}

// TestObjectReader_NoticesAShortObject: a server that ends early must not look like the end of the artifact.
func TestObjectReader_NoticesAShortObject(t *testing.T) {
	reader := &objectReader{size: 10, get: func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(make([]byte, 9-offset))), nil
	}}
	for _, offset := range []int64{0, 5} {
		if _, err := reader.Seek(offset, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if content, err := io.ReadAll(reader); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes, %v", len(content), err)
		}
	}
	if _, err := reader.Seek(-1, io.SeekStart); err == nil {
		t.Error("it seeks to before the start")
	}
}

// TestPut_SyncsBeforeItRenames: the order that the crash tests rely on.
func TestPut_SyncsBeforeItRenames(t *testing.T) {
	store, disk := faulty(t, t.TempDir(), 0, nil, false)
	mustPut(t, store, Snippet{"team-a", "web"}, "new")
	want := "[mkdir create write sync close rename sync directory sync directory sync directory]"
	if got := fmt.Sprint(disk.log); got != want {
		t.Errorf("steps: %s", got)
	}
}

func BenchmarkPut(b *testing.B) {
	store, err := OpenLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	for i := 0; b.Loop(); i++ {
		if _, err := store.Put(b.Context(), Snippet{"team-a", "web"}, archiveOf(b, fmt.Sprint("content ", i))); err != nil {
			b.Fatal(err)
		}
	}
}
