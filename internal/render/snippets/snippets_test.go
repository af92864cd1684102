package snippets

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet/files"
)

// TestFind_PathsMeanWhatTheyMeanToTheSystem: behind a symbolic link to a directory, ".." is the parent of that directory, and
// not the one that the link is in.
func TestFind_PathsMeanWhatTheyMeanToTheSystem(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"releases/app.jsonnet": "'meant'", "app.jsonnet": "'not meant'",
		"releases/hello/main.jsonnet": "'meant'", "hello/main.jsonnet": "'not meant'",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(top, "releases", "1"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("releases/1", filepath.Join(top, "current")); err != nil {
		t.Fatal(err)
	}
	beside := top + "/current/.." // which Join would clean
	catalog, err := NewCatalog(files.NewStore(1<<20), Config{
		Files: []string{beside + "/app.jsonnet", top + "/app.jsonnet", top + "/hello/"}, Directories: []string{beside},
	})
	if err != nil {
		t.Fatal(err)
	}
	var none *NotFoundError
	if _, err := catalog.Find(top + "/hello/"); !errors.As(err, &none) {
		t.Errorf("a directory given as a file: %v, want a NotFoundError", err)
	}
	ids := map[string]bool{} // results are kept by them
	for name, want := range map[string]string{
		beside + "/app.jsonnet": "'meant'", top + "/app.jsonnet": "'not meant'", "hello": "'meant'",
	} {
		program, err := catalog.Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if ids[program.ID()] {
			t.Errorf("%s has the ID of another program", name)
		}
		ids[program.ID()] = true
		session, err := program.Open()
		if err != nil {
			t.Fatal(err)
		}
		source, err := session.Entry(t.Context())
		if err != nil || source.Content != want {
			t.Errorf("%s is %+v, %v, want %s, which the system finds there", name, source, err, want)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}
