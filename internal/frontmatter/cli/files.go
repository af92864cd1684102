package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

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
