package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// tree writes files by their paths under a new directory.
func tree(t *testing.T, contents map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	for path, content := range contents {
		write(t, filepath.Join(directory, path), content)
	}
	return directory
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func root(t *testing.T, directory string) *Root {
	t.Helper()
	r, err := NewRoot(directory)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open begins an evaluation of main.jsonnet in directory.
func open(t *testing.T, store *Store, directory string, libraries ...string) (jsonnet.Session, *jsonnet.Source) {
	t.Helper()
	var roots []*Root
	for _, library := range libraries {
		roots = append(roots, root(t, library))
	}
	session, err := store.Program(Location{root(t, directory), "main.jsonnet"}, roots).Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	entry, err := session.Entry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return session, entry
}

func TestImport_SearchOrder(t *testing.T) {
	own := tree(t, map[string]string{
		"main.jsonnet": "", "both": "own", "sub/inner": "own/sub", "sub/both": "own/sub",
	})
	first := tree(t, map[string]string{"both": "first", "lib": "first", "only-first": "first", "deep/a": "first/deep", "deep/b": "first/deep"})
	last := tree(t, map[string]string{"both": "last", "lib": "last", "deep/b": "last/deep"})
	relative, err := filepath.Rel(own, filepath.Join(first, "only-first"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		from []string // the imports that lead to the importing file
		path string
		want string
		why  string
	}{
		"next to the importer":      {nil, "both", "own", "before any library"},
		"rightmost library":         {nil, "lib", "last", ""},
		"only in the first library": {nil, "only-first", "first", "the search goes on"},
		"from a subdirectory":       {[]string{"sub/inner"}, "both", "own/sub", "relative to the importing file"},
		"up inside the root":        {[]string{"sub/inner"}, "../both", "own", ""},
		"library's own neighbour":   {[]string{"deep/a"}, "b", "first/deep", "relative to the library file, not to the search path"},
		"dots inside":               {nil, "./sub/../both", "own", ""},
		"into a library by dots":    {nil, relative, "first", "where a file is decides, not how the path is spelled"},
		"into a library, absolute":  {nil, filepath.Join(last, "lib"), "last", "the same"},
		"into the own, absolute":    {[]string{"deep/a"}, filepath.Join(own, "both"), "own", "the same"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			session, from := open(t, NewStore(1<<20), own, first, last)
			for _, step := range c.from {
				if from, err = session.Import(t.Context(), from, step); err != nil {
					t.Fatal(err)
				}
			}
			got, err := session.Import(t.Context(), from, c.path)
			if err != nil {
				t.Fatal(err)
			}
			if got.Content != c.want {
				t.Errorf("import %q = %q, want %q: %s", c.path, got.Content, c.want, c.why)
			}
			if again, _ := session.Import(t.Context(), from, c.path); again != got {
				t.Error("a second import gave another source")
			}
		})
	}
}

func TestImport_IsConfined(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "secret", "dir/secret": "secret"})
	own := tree(t, map[string]string{"main.jsonnet": "", "sub/x": ""})
	link(t, filepath.Join(outside, "secret"), filepath.Join(own, "absolute-link"))
	link(t, "../"+filepath.Base(outside)+"/secret", filepath.Join(own, "relative-link"))
	link(t, filepath.Join(outside, "dir"), filepath.Join(own, "directory-link"))
	link(t, "loop", filepath.Join(own, "loop"))
	link(t, "/dev/zero", filepath.Join(own, "device"))
	if err := syscall.Mkfifo(filepath.Join(own, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(own, "large"), "")
	if err := os.Truncate(filepath.Join(own, "large"), MaxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	escape, err := filepath.Rel(own, filepath.Join(outside, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ path, want string }{
		"absolute":           {"/etc/passwd", "--library-path"},
		"absolute, missing":  {"/no/such/file", "outside the snippet's directory"}, // says nothing about what is there
		"dots":               {escape, "outside the snippet's directory"},
		"dots to the top":    {strings.Repeat("../", 40) + "etc/passwd", "outside the snippet's directory"},
		"absolute link":      {"absolute-link", "symbolic link"},
		"relative link":      {"relative-link", "symbolic link"},
		"link to directory":  {"directory-link/secret", "symbolic link"},
		"loop of links":      {"loop", "too many levels"},
		"device":             {"device", "symbolic link"},
		"FIFO":               {"fifo", "not a regular file"},
		"directory":          {"sub", "not a regular file"},
		"too large":          {"large", "larger than 64 MiB"},
		"missing":            {"missing", "no match locally or in the Jsonnet library paths"},
		"below a file":       {"main.jsonnet/x", "no match"},
		"empty":              {"", "not a regular file"},
		"NUL":                {"a\x00b", "no match"},
		"very long":          {strings.Repeat("a", 5000), "no match"},
		"invalid UTF-8":      {"\xff\xfe", "no match"},
		"library for import": {"../" + filepath.Base(outside) + "-not/secret", "outside"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			session, entry := open(t, NewStore(1<<20), own)
			source, err := session.Import(t.Context(), entry, c.path)
			if err == nil {
				t.Fatalf("import %q gave %.40q", c.path, source.Content)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
			if strings.Contains(strings.ReplaceAll(err.Error(), c.path, ""), own) {
				t.Errorf("error %q shows the absolute path of the root", err)
			}
		})
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestSource_NamesAreRelativeAndUnique(t *testing.T) {
	own := tree(t, map[string]string{"main.jsonnet": "", "x": "own"})
	libraries := []string{filepath.Join(t.TempDir(), "lib"), filepath.Join(t.TempDir(), "lib")}
	for _, library := range libraries {
		write(t, filepath.Join(library, "x"), library)
	}
	session, entry := open(t, NewStore(1<<20), own, libraries...)
	var names []string
	for _, path := range []string{"x", filepath.Join(libraries[0], "x"), filepath.Join(libraries[1], "x")} {
		source, err := session.Import(t.Context(), entry, path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, source.Name)
	}
	if got := strings.Join(names, " "); got != "x lib/x lib(2)/x" {
		t.Errorf("names = %s", got)
	}
}

func TestLookups_NoticeChanges(t *testing.T) {
	type place struct{ own, library string }
	cases := map[string]struct {
		change func(t *testing.T, at place)
		want   bool // unchanged
		why    string
	}{
		"nothing":            {func(*testing.T, place) {}, true, ""},
		"rewritten the same": {func(t *testing.T, at place) { write(t, filepath.Join(at.own, "x"), "x1") }, true, "content counts, not stamps"},
		"edited":             {func(t *testing.T, at place) { write(t, filepath.Join(at.own, "x"), "x2") }, false, ""},
		"edited, stamps kept": {func(t *testing.T, at place) {
			path := filepath.Join(at.own, "x")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, "x2")
			if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, false, "the time of the status change cannot be set back"},
		"removed": {func(t *testing.T, at place) { remove(t, filepath.Join(at.own, "x")) }, false, ""},
		"unreadable": {func(t *testing.T, at place) {
			remove(t, filepath.Join(at.own, "x"))
			mkdir(t, filepath.Join(at.own, "x"))
		}, false, ""},
		"appears earlier in the search path": {func(t *testing.T, at place) {
			write(t, filepath.Join(at.own, "lib"), "local")
		}, false, "the miss was recorded"},
		"appears later in the search path": {func(t *testing.T, at place) {
			write(t, filepath.Join(at.library, "x"), "later")
		}, true, "it was never looked for there"},
		"missing file appears": {func(t *testing.T, at place) { write(t, filepath.Join(at.library, "missing"), "") }, false, ""},
		"directory swapped": {func(t *testing.T, at place) {
			replaceDirectory(t, at.library, map[string]string{"lib": "lib2"})
		}, false, "the path is what counts, not the directory that was there"},
		"directory swapped for an equal one": {func(t *testing.T, at place) {
			replaceDirectory(t, at.library, map[string]string{"lib": "lib1"})
		}, true, "content counts"},
		"directory removed": {func(t *testing.T, at place) {
			if err := os.RemoveAll(at.library); err != nil {
				t.Fatal(err)
			}
		}, false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			at := place{
				own:     tree(t, map[string]string{"main.jsonnet": "", "x": "x1"}),
				library: tree(t, map[string]string{"lib": "lib1"}),
			}
			store := NewStore(1 << 20)
			session, entry := open(t, store, at.own, at.library)
			for _, path := range []string{"x", "lib", "missing"} {
				_, _ = session.Import(t.Context(), entry, path)
			}
			lookups := session.Lookups()
			if !lookups.Unchanged(t.Context()) {
				t.Fatal("changed before anything was")
			}
			c.change(t, at)
			if got := lookups.Unchanged(t.Context()); got != c.want {
				t.Errorf("unchanged = %v, want %v: %s", got, c.want, c.why)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func replaceDirectory(t *testing.T, path string, contents map[string]string) {
	t.Helper()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tree(t, contents), path); err != nil {
		t.Fatal(err)
	}
}

// TestLookups_NoticeAnEditWithinOneTick: on a file system with a coarse clock, an edit can leave the stamp as it was.
func TestLookups_NoticeAnEditWithinOneTick(t *testing.T) {
	directory := tree(t, map[string]string{"main.jsonnet": "1"})
	store := NewStore(1 << 20)
	store.stampOf = func(info fs.FileInfo) stamp {
		s := stampOf(info)
		s.modified = s.modified.Truncate(24 * time.Hour)
		s.changed = s.modified.Add(48 * time.Hour) // as young as can be, and the same for each edit
		return s
	}
	session, _ := open(t, store, directory)
	write(t, filepath.Join(directory, "main.jsonnet"), "2")
	if session.Lookups().Unchanged(t.Context()) {
		t.Error("an edit that leaves the stamp as it was is not noticed")
	}
	if _, entry := open(t, store, directory); entry.Content != "2" {
		t.Errorf("content = %q, want the edited one", entry.Content)
	}
}

// TestStore_TrustsStampsOnlyWhenTheyAreOldEnough: content is read again while the file is as young as its clock is coarse.
func TestStore_TrustsStampsOnlyWhenTheyAreOldEnough(t *testing.T) {
	directory := tree(t, map[string]string{"x": "1"})
	at := Location{root(t, directory), "x"}
	for _, c := range []struct {
		age   time.Duration
		trust bool
	}{{0, false}, {raceWindow / 2, false}, {2 * raceWindow, true}, {-time.Hour, false}} {
		store := NewStore(1 << 20)
		store.now = func() time.Time { return time.Now().Add(c.age) }
		v := newView()
		if _, err := store.read(v, at); err != nil {
			t.Fatal(err)
		}
		_, trusted, err := store.unchanged(v, at)
		if err != nil || trusted != c.trust {
			t.Errorf("read %s after the last change: trusted = %v, %v, want %v", c.age, trusted, err, c.trust)
		}
		v.close()
	}
}

// TestStore_MountedVolume: a ConfigMap volume is a set of links into a directory that is swapped by renaming a link.
func TestStore_MountedVolume(t *testing.T) {
	directory := tree(t, map[string]string{"..1/main.jsonnet": "1", "..2/main.jsonnet": "2"})
	link(t, "..1", filepath.Join(directory, "..data"))
	link(t, "..data/main.jsonnet", filepath.Join(directory, "main.jsonnet"))
	store := NewStore(1 << 20)
	session, entry := open(t, store, directory)
	if entry.Content != "1" {
		t.Fatalf("content = %q", entry.Content)
	}
	link(t, "..2", filepath.Join(directory, "..data_tmp"))
	if err := os.Rename(filepath.Join(directory, "..data_tmp"), filepath.Join(directory, "..data")); err != nil {
		t.Fatal(err)
	}
	if session.Lookups().Unchanged(t.Context()) {
		t.Error("the swap was not noticed")
	}
	if _, entry := open(t, store, directory); entry.Content != "2" {
		t.Errorf("content after the swap = %q", entry.Content)
	}
}

// TestSession_SeesOneDirectory: what began before a directory was swapped goes on in the old one.
func TestSession_SeesOneDirectory(t *testing.T) {
	directory := tree(t, map[string]string{"main.jsonnet": "old", "x": "old"})
	store := NewStore(1 << 20)
	program := store.Program(Location{root(t, directory), "main.jsonnet"}, nil)
	session, err := program.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	entry, err := session.Entry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	replaceDirectory(t, directory, map[string]string{"main.jsonnet": "new", "x": "new"})
	if err := program.Exists(); err != nil { // another view opens the new directory meanwhile
		t.Fatal(err)
	}
	imported, err := session.Import(t.Context(), entry, "x")
	if err != nil || imported.Content != "old" {
		t.Errorf("import = %v, %v, want the old content", imported, err)
	}
	if session.Lookups().Unchanged(t.Context()) {
		t.Error("the swap was not noticed afterwards")
	}
}

func TestRoot_ClosesDirectoriesThatWereSwapped(t *testing.T) {
	directory := tree(t, map[string]string{"main.jsonnet": ""})
	r := root(t, directory)
	store := NewStore(1 << 20)
	before := openFiles(t)
	for range 20 {
		replaceDirectory(t, directory, map[string]string{"main.jsonnet": ""})
		if err := os.RemoveAll(directory + ".old"); err != nil {
			t.Fatal(err)
		}
		if err := store.Program(Location{r, "main.jsonnet"}, nil).Exists(); err != nil {
			t.Fatal(err)
		}
	}
	if after := openFiles(t); after > before+1 {
		t.Errorf("%d files are open, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not list open files")
	}
	return len(entries)
}

func TestExists_DirectoryThatIsAFile(t *testing.T) {
	directory := tree(t, map[string]string{"file": ""})
	program := NewStore(1<<20).Program(Location{root(t, filepath.Join(directory, "file")), "main.jsonnet"}, nil)
	if err := program.Exists(); !IsMissing(err) {
		t.Errorf("error = %v, want that nothing is there", err)
	}
}

func FuzzImport_NeverLeavesTheRoots(f *testing.F) {
	for _, seed := range []string{"x", "../x", "/etc/passwd", "a/../../x", "./././x", "..", "\x00", "a//b"} {
		f.Add(seed)
	}
	parent := f.TempDir()
	for path, content := range map[string]string{"secret": "secret", "own/main.jsonnet": "own", "own/x": "own", "lib/y": "lib"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(parent, path)), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(parent, path), []byte(content), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	store := NewStore(1 << 20)
	f.Fuzz(func(t *testing.T, path string) {
		session, entry := open(t, store, filepath.Join(parent, "own"), filepath.Join(parent, "lib"))
		source, err := session.Import(t.Context(), entry, path)
		if err == nil && source.Content != "own" && source.Content != "lib" {
			t.Fatalf("import %q read %q", path, source.Content)
		}
	})
}
