package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
)

// confine refuses to write a file outside of what the command line names. A project file may put the root of the
// statements anywhere; that of somebody else is no reason to change files there.
func (a *app) confine(o check.Options, path, shown string) error {
	path = a.resolved(path)
	for _, named := range append([]string{o.Overrides.Source}, o.Paths...) {
		if named == "" {
			continue
		}
		relative, err := filepath.Rel(a.resolved(named), path)
		if err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
			return nil
		}
	}
	return fmt.Errorf("writing %s: it lies outside of what was named; name its folder to change it", shown)
}

// resolved is an absolute path without symlinks. What is not there yet is where its folder is.
func (a *app) resolved(path string) string {
	path = filepath.Clean(absolute(a.dir, path))
	missing := ""
	for at := path; ; at = filepath.Dir(at) {
		if target, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(target, missing)
		}
		if at == filepath.Dir(at) {
			return path
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

// replaceFile writes a file through a temporary one beside it, so that an interruption leaves the old or the new text.
// The permissions stay, and a file that its owner made read-only is refused: renaming would replace it all the same. shown is the path for messages.
func replaceFile(path, shown, text string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", shown, err)
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("writing %s: the file is read-only", shown)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".frontmatter-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", shown, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text)
	if chmod := f.Chmod(info.Mode().Perm()); err == nil {
		err = chmod
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", shown, err)
	}
	return nil
}
