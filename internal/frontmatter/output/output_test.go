package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const header = "// made"

func folder(t *testing.T) Folder {
	t.Helper()
	return Folder{Path: filepath.Join(t.TempDir(), "gen"), Project: "..", Header: header}
}

func wanted(texts map[string]string) []File {
	var files []File
	for path, text := range texts {
		files = append(files, File{Path: path, Content: header + "\n" + text + "\n"})
	}
	return files
}

func plan(t *testing.T, f Folder, texts map[string]string) *Plan {
	t.Helper()
	p, err := NewPlan(f, wanted(texts))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func apply(t *testing.T, f Folder, texts map[string]string) {
	t.Helper()
	if err := plan(t, f, texts).Apply(); err != nil {
		t.Fatal(err)
	}
}

// found returns the second lines of the files in a folder, without those that keep its state.
func found(t *testing.T, f Folder) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(f.Path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, _ := filepath.Rel(f.Path, path)
		if strings.HasPrefix(relative, ".frontmatter") {
			return nil
		}
		data, err := os.ReadFile(path)
		_, text, _ := strings.Cut(string(data), "\n")
		texts[filepath.ToSlash(relative)] = strings.TrimSpace(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestApply_CreatesReplacesAndRemoves(t *testing.T) {
	f := folder(t)
	apply(t, f, map[string]string{"a/b/A.java": "1", "B.java": "1"})
	apply(t, f, map[string]string{"B.java": "2", "C.java": "1"})
	if diff := cmp.Diff(map[string]string{"B.java": "2", "C.java": "1"}, found(t, f)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(f.Path, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the empty folder is still there")
	}
	if p := plan(t, f, map[string]string{"B.java": "2", "C.java": "1"}); !p.Empty() {
		t.Errorf("not empty: %v", p.Changes)
	}
}

func TestApply_NothingToDoWritesNothing(t *testing.T) {
	f := folder(t)
	apply(t, f, map[string]string{"A.java": "1"})
	before, err := os.Stat(filepath.Join(f.Path, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, f, map[string]string{"A.java": "1"})
	after, err := os.Stat(filepath.Join(f.Path, ManifestName))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the manifest was written again: %v", err)
	}
}

// TestApply_AfterAnInterruption: whatever a run had done when it was stopped, the next one makes the folder what it
// should be, also when the statements have changed since and when it is stopped itself.
func TestApply_AfterAnInterruption(t *testing.T) {
	first := map[string]string{"A.java": "1", "B.java": "1", "Gone.java": "1"}
	second := map[string]string{"A.java": "2", "B.java": "2", "New.java": "2"}
	third := map[string]string{"A.java": "3", "B.java": "1"}
	for steps := range 5 {
		f := folder(t)
		apply(t, f, first)
		for _, texts := range []map[string]string{second, third, second} {
			interrupted(t, plan(t, f, texts), steps)
		}
		for path, text := range found(t, f) {
			if text != "1" && text != "2" && text != "3" {
				t.Errorf("after %d steps: %s is neither old nor new: %q", steps, path, text)
			}
		}
		apply(t, f, third)
		if diff := cmp.Diff(third, found(t, f)); diff != "" {
			t.Errorf("after %d steps (-want +got):\n%s", steps, diff)
		}
		if _, err := os.Stat(filepath.Join(f.Path, stagingName)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %d steps: the staging folder is still there", steps)
		}
	}
}

// interrupted does what Apply does, up to a number of files that take their places.
func interrupted(t *testing.T, p *Plan, steps int) {
	t.Helper()
	staging := filepath.Join(p.folder.Path, stagingName)
	if _, err := os.Lstat(filepath.Join(staging, pendingName)); err == nil {
		if err := p.adopted.write(filepath.Join(p.folder.Path, ManifestName)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(staging, "files"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := p.stage(staging); err != nil {
		t.Fatal(err)
	}
	for i, c := range p.Changes[:min(steps, len(p.Changes))] {
		if err := p.place(i, c); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNewPlan_ForeignFiles(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, f Folder)
		want   string
	}{
		"a file that was not generated": {func(t *testing.T, f Folder) { write(t, f, "C.java", "class C {}") }, "C.java was not generated"},
		"a generated file changed by hand": {
			func(t *testing.T, f Folder) { write(t, f, "A.java", header+"\n1 and more\n") }, "A.java was generated and then changed by hand",
		},
		"a generated file without its header": {
			func(t *testing.T, f Folder) { write(t, f, "A.java", "1\n") }, "A.java was generated and then changed by hand",
		},
		"a file to remove that was changed by hand": {
			func(t *testing.T, f Folder) { write(t, f, "B.java", header+"\nmine\n") }, "B.java was generated and then changed by hand",
		},
		"a file that another one generated": {
			func(t *testing.T, f Folder) { write(t, f, "C.java", header+"\nother\n") }, "C.java was generated and then changed by hand",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			apply(t, f, map[string]string{"A.java": "1", "B.java": "1"})
			tt.change(t, f)
			before := found(t, f)
			_, err := NewPlan(f, wanted(map[string]string{"A.java": "2", "C.java": "2"}))
			var foreign *ForeignError
			if !errors.As(err, &foreign) || len(foreign.Messages) != 1 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if diff := cmp.Diff(before, found(t, f)); diff != "" {
				t.Errorf("files changed:\n%s", diff)
			}
			f.Force = true
			apply(t, f, map[string]string{"A.java": "2", "C.java": "2"})
			if diff := cmp.Diff(map[string]string{"A.java": "2", "C.java": "2"}, found(t, f)); diff != "" {
				t.Errorf("with --force (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewPlan_Manifests(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":           "{",
		"of a newer release": `{"version": 2}`,
		"of another project": `{"version": 1, "project": "elsewhere"}`,
		"leads out":          `{"version": 1, "project": "..", "files": {"../x": "1"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			write(t, f, ManifestName, text)
			if _, err := NewPlan(f, nil); err == nil {
				t.Error("the manifest was accepted")
			}
		})
	}
}

func TestNewPlan_LineEndsDoNotCount(t *testing.T) {
	f := folder(t)
	apply(t, f, map[string]string{"A.java": "1"})
	write(t, f, "A.java", header+"\r\n1\r\n")
	if p := plan(t, f, map[string]string{"A.java": "1"}); !p.Empty() {
		t.Errorf("not empty: %v", p.Changes)
	}
	apply(t, f, map[string]string{"A.java": "2"})
}

func TestNewPlan_SymlinkInTheWay(t *testing.T) {
	f := folder(t)
	apply(t, f, map[string]string{"A.java": "1"})
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, filepath.Join(f.Path, "B.java")); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(f, wanted(map[string]string{"A.java": "1", "B.java": "1"})); err == nil {
		t.Error("a symlink was accepted")
	}
}

func write(t *testing.T, f Folder, path, text string) {
	t.Helper()
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Path, path), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
