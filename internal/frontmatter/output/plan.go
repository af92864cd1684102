package output

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a file that should be there. Its path is relative to the folder, with slashes.
type File struct{ Path, Content string }

// Folder is where files are generated.
type Folder struct {
	Path    string
	Project string // what the manifest says of the project
	Header  string // first line of every generated file
	Force   bool   // replace and remove what is not known as generated
}

// Action is what happens to a file.
type Action uint8

// The actions.
const (
	Create Action = iota
	Replace
	Remove
)

// Change is a file that is not as it should be. Old and New are texts with LF.
type Change struct {
	Path     string
	Action   Action
	Old, New string
}

// Plan is the difference between a folder and what it should hold.
type Plan struct {
	Changes  []Change // by path
	folder   Folder
	manifest manifest // as it will be
	adopted  manifest // as it is, with what an interrupted run has placed
	stale    bool     // the manifest or a staging folder is not as it should be
}

// ForeignError tells that a file is in the way that was not generated, or that was changed by hand.
type ForeignError struct{ Messages []string }

func (e *ForeignError) Error() string { return strings.Join(e.Messages, "\n") }

// NewPlan compares a folder with the files that it should hold.
func NewPlan(folder Folder, files []File) (*Plan, error) {
	for _, name := range []string{ManifestName, stagingName} {
		if err := folder.unlinked(name); err != nil {
			return nil, err
		}
	}
	known, err := readManifest(filepath.Join(folder.Path, ManifestName))
	if err != nil {
		return nil, err
	}
	if known.Version != 0 && known.Project != folder.Project && !folder.Force {
		return nil, fmt.Errorf("writing to %s: it holds the files of another project (%s); choose another output", folder.Path, known.Project)
	}
	// Files of a run that was interrupted are ours as well.
	pending, err := readManifest(filepath.Join(folder.Path, stagingName, pendingName))
	if err != nil {
		pending = manifest{}
	}
	p := &Plan{folder: folder, manifest: manifest{Version: 1, Project: folder.Project, Files: map[string]string{}}}
	if p.adopted, err = folder.adopt(known, pending); err != nil {
		return nil, err
	}
	var foreign ForeignError
	for _, f := range files {
		content := lineFeeds(f.Content)
		p.manifest.Files[f.Path] = sum(content)
		old, exists, err := folder.read(f.Path)
		switch {
		case err != nil:
			return nil, err
		case !exists:
			p.Changes = append(p.Changes, Change{Path: f.Path, Action: Create, New: content})
		case old == content:
		case !folder.owns(f.Path, old, known, pending):
			foreign.Messages = append(foreign.Messages, folder.why(f.Path, old, known))
		default:
			p.Changes = append(p.Changes, Change{Path: f.Path, Action: Replace, Old: old, New: content})
		}
	}
	if err := p.removals(&foreign, known, pending); err != nil {
		return nil, err
	}
	if foreign.Messages != nil {
		slices.Sort(foreign.Messages)
		return nil, &foreign
	}
	slices.SortFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	_, staging := os.Lstat(filepath.Join(folder.Path, stagingName))
	p.stale = !maps.Equal(known.Files, p.manifest.Files) || known.Version != 1 || staging == nil
	return p, nil
}

// Written tells whether files have been generated into the folder before.
func (f Folder) Written() bool {
	_, err := os.Lstat(filepath.Join(f.Path, ManifestName))
	return err == nil
}

// State identifies what a folder holds of generated files; false when one of them is not as it was generated, or when
// there is something to repair.
func (f Folder) State() (string, bool) {
	path := filepath.Join(f.Path, ManifestName)
	if _, err := os.Lstat(filepath.Join(f.Path, stagingName)); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	known, err := readManifest(path)
	if err != nil || known.Version != 1 || known.Project != f.Project {
		return "", false
	}
	for path, hash := range known.Files {
		text, exists, err := f.read(path)
		if err != nil || !exists || sum(text) != hash {
			return "", false
		}
	}
	data, err := json.Marshal(known) // keys of maps are sorted
	if err != nil {
		return "", false
	}
	return sum(string(data)), true
}

// removals plans to remove what was generated and is not any more.
func (p *Plan) removals(foreign *ForeignError, known, pending manifest) error {
	for _, m := range []manifest{known, pending} {
		for path := range m.Files {
			_, wanted := p.manifest.Files[path]
			planned := slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Path == path })
			if wanted || planned {
				continue
			}
			old, exists, err := p.folder.read(path)
			switch {
			case err != nil:
				return err
			case !exists:
			case !p.folder.owns(path, old, known, pending):
				if message := p.folder.why(path, old, known); !slices.Contains(foreign.Messages, message) {
					foreign.Messages = append(foreign.Messages, message)
				}
			default:
				p.Changes = append(p.Changes, Change{Path: path, Action: Remove, Old: old})
			}
		}
	}
	return nil
}

// adopt returns the manifest with the files that an interrupted run has placed. Nothing is adopted without one.
func (f Folder) adopt(known, pending manifest) (manifest, error) {
	adopted := manifest{Version: 1, Project: f.Project, Files: maps.Clone(known.Files)}
	for path, hash := range pending.Files {
		text, exists, err := f.read(path)
		if err != nil {
			return adopted, err
		}
		if exists && sum(text) == hash {
			adopted.Files[path] = hash
		}
	}
	return adopted, nil
}

// owns tells whether a file was generated and not changed since: a manifest and the header agree.
func (f Folder) owns(path, text string, known, pending manifest) bool {
	if f.Force {
		return true
	}
	hash := sum(text)
	return strings.HasPrefix(text, f.Header) && (known.Files[path] == hash || pending.Files[path] == hash)
}

func (f Folder) why(path, text string, known manifest) string {
	shown := filepath.ToSlash(filepath.Join(f.Path, path))
	if _, ours := known.Files[path]; ours || strings.HasPrefix(text, f.Header) {
		return shown + " was generated and then changed by hand; move the change elsewhere, or lose it with --force"
	}
	return shown + " was not generated; move it, choose another output, or replace it with --force"
}

// unlinked refuses a path with a symbolic link below the folder: it may lead anywhere, and whoever wrote the statements
// may have put it there.
func (f Folder) unlinked(path string) error {
	at := f.Path
	for part := range strings.SplitSeq(path, "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("reading folder of generated files: %s is a symbolic link; remove it", filepath.ToSlash(at))
		}
	}
	return nil
}

// read returns a file with LF.
func (f Folder) read(path string) (text string, exists bool, err error) {
	if err := f.unlinked(path); err != nil {
		return "", false, err
	}
	full := filepath.Join(f.Path, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(full) //nolint:gosec // in the folder of generated files
	}
	if err != nil {
		return "", false, fmt.Errorf("reading generated file %s: %w", full, err)
	}
	return lineFeeds(string(data)), true, nil
}
