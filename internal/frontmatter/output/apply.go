package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Empty tells whether nothing has to change, the manifest included.
func (p *Plan) Empty() bool { return len(p.Changes) == 0 && !p.stale }

// Apply makes the changes: all new texts are staged beside their targets first, with what the folder is about to hold;
// then they take their places, and the manifest comes last. An interrupted run leaves every file with its old or its
// new text, and the next one knows both as its own.
func (p *Plan) Apply() error {
	if p.Empty() {
		return nil
	}
	staging := filepath.Join(p.folder.Path, stagingName)
	if _, err := os.Lstat(filepath.Join(staging, pendingName)); err == nil {
		// What the interrupted run has placed must not be forgotten when its note is replaced.
		if err := p.adopted.write(filepath.Join(p.folder.Path, ManifestName)); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(staging, "files")); err != nil {
		return fmt.Errorf("removing staged files: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(staging, "files"), 0o750); err != nil {
		return fmt.Errorf("staging files: %w", err)
	}
	if err := p.stage(staging); err != nil {
		return err
	}
	for i, c := range p.Changes {
		if err := p.place(i, c); err != nil {
			return err
		}
	}
	if err := p.manifest.write(filepath.Join(p.folder.Path, ManifestName)); err != nil {
		return err
	}
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("removing staged files: %w", err)
	}
	return nil
}

// stage writes the new texts beside their targets, and the note of what will be.
func (p *Plan) stage(staging string) error {
	for i, c := range p.Changes {
		if c.Action == Remove {
			continue
		}
		if err := replace(p.staged(i), c.New); err != nil {
			return err
		}
	}
	return p.manifest.write(filepath.Join(staging, pendingName))
}

func (p *Plan) staged(i int) string {
	return filepath.Join(p.folder.Path, stagingName, "files", strconv.Itoa(i))
}

// place makes one change.
func (p *Plan) place(i int, c Change) error {
	target := filepath.Join(p.folder.Path, filepath.FromSlash(c.Path))
	if c.Action == Remove {
		if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing %s: %w", target, err)
		}
		p.prune(filepath.Dir(target))
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // folders of sources are for everybody
		return fmt.Errorf("creating folder: %w", err)
	}
	if err := os.Rename(p.staged(i), target); err != nil {
		return fmt.Errorf("writing %s: %w", target, err)
	}
	return nil
}

// prune removes folders that are empty now.
func (p *Plan) prune(dir string) {
	for dir != p.folder.Path && len(dir) > len(p.folder.Path) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}
