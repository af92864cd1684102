package output

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names in the folder of generated files. Staging holds the files of a run that has not ended.
const (
	ManifestName = ".frontmatter-manifest.json"
	stagingName  = ".frontmatter-staging"
	pendingName  = "pending.json"
)

// maxManifest bounds what is read as a manifest.
const maxManifest = 64 << 20

// manifest says which files were generated.
type manifest struct {
	Version int               `json:"version"`
	Project string            `json:"project"` // folder of the project, relative to the output
	Files   map[string]string `json:"files"`   // SHA-256 of the text with LF, by path
}

// sum is the hash of a text. Line ends do not count: a checkout may change them.
func sum(text string) string {
	hash := sha256.Sum256([]byte(lineFeeds(text)))
	return hex.EncodeToString(hash[:])
}

func lineFeeds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// readManifest reads a manifest; an empty one when there is none.
func readManifest(path string) (manifest, error) {
	m := manifest{Files: map[string]string{}}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxManifest) {
		return m, fmt.Errorf("reading manifest %s: it is not one", path)
	}
	data, err := os.ReadFile(path) //nolint:gosec // in the folder of generated files
	if err != nil {
		return m, fmt.Errorf("reading manifest: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("reading manifest %s: %w; restore it, or remove it and generate with --force", path, err)
	}
	if m.Version != 1 {
		return m, fmt.Errorf("reading manifest %s: version %d is not known; it was written by a newer release", path, m.Version)
	}
	for name := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return m, fmt.Errorf("reading manifest %s: %q leads out of the folder", path, name)
		}
	}
	return m, nil
}

func (m manifest) write(path string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing manifest: %w", err)
	}
	return replace(path, string(data)+"\n")
}

// replace writes a file through one beside it, so that an interruption leaves the old or the new text.
func replace(path, text string) error {
	staged := path + ".new"
	// What an interrupted run has left there goes first; a symbolic link is never followed.
	if err := os.Remove(staged); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	f, err := os.OpenFile(staged, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // in the folder of generated files
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Chmod(staged, 0o644); err != nil { //nolint:gosec // sources are for everybody who may read the project
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(staged, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
