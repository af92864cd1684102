package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/stagewright/stagewright/internal/frontmatter/check"
	"github.com/stagewright/stagewright/internal/frontmatter/javasource"
	"github.com/stagewright/stagewright/internal/frontmatter/output"
	"github.com/stagewright/stagewright/internal/frontmatter/source"
	"github.com/stagewright/stagewright/internal/frontmatter/statement"
	"github.com/stagewright/stagewright/internal/version"
)

// maxMemory bounds what is read as a memory.
const maxMemory = 16 << 20

// memory is what the last run for a folder is remembered by, in the user's cache: when neither what it read nor what it
// wrote has changed since, there is nothing to generate. It is never needed: without it, everything is generated and
// compared again.
type memory struct {
	Inputs string            `json:"inputs"` // hash of the program and of all that it read but the Java sources
	Looked map[string]string `json:"looked"` // paths at which Java sources were looked for, with their hashes
	State  string            `json:"state"`  // of the folder
	Files  int               `json:"files"`  // that were generated
	Notes  int               `json:"notes"`  // statements of the DDL that were not read
}

// memoryPath is where a folder is remembered; empty when there is no place for it.
func memoryPath(folder output.Folder) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(folder.Path))
	return filepath.Join(cache, "stagewright-frontmatter", hex.EncodeToString(sum[:16])+".json")
}

// remembered returns the memory of a folder; an empty one when there is none.
func remembered(folder output.Folder) memory {
	var m memory
	path := memoryPath(folder)
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxMemory {
		return m
	}
	data, err := os.ReadFile(path) //nolint:gosec // in the cache of the user
	if err != nil || json.Unmarshal(data, &m) != nil {
		return memory{}
	}
	return m
}

// remember writes the memory of a folder. Where that cannot be done, the next run takes longer.
func remember(folder output.Folder, m memory) {
	path := memoryPath(folder)
	data, err := json.Marshal(m)
	if path == "" || err != nil || len(data) > maxMemory || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	if closed := f.Close(); err == nil && closed == nil {
		_ = os.Rename(f.Name(), path)
	}
}

// inputs identifies all that generated code comes from, but for the Java sources; empty when the program does not know itself.
func inputs(p *check.Project, folder output.Folder, files []*statement.File, tables []*source.File) string {
	sum := sha256.New()
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(program)
	if err != nil {
		return ""
	}
	part(sum, version.String("frontmatter"), program, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
	part(sum, p.Root, p.SQLRoot, p.Dialect.Name, p.BasePackage, folder.Path, folder.Project)
	if p.File != nil {
		part(sum, p.File.Text)
	}
	part(sum, fmt.Sprint(len(files), len(tables)))
	for _, f := range files {
		part(sum, f.Relative, f.Text)
	}
	for _, f := range tables {
		part(sum, f.Path, f.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// part adds texts to a hash so that no two lists of texts are the same to it.
func part(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(sum, "%d\n", len(text)) // a hash never fails
		_, _ = io.WriteString(sum, text)
	}
}

// same tells whether a run would find and make what the last one did.
func (m memory) same(inputs string, folder output.Folder) bool {
	if inputs == "" || inputs != m.Inputs || folder.Force {
		return false
	}
	for path, sum := range m.Looked {
		if javasource.Sum(path) != sum {
			return false
		}
	}
	state, ok := folder.State()
	return ok && state == m.State
}
