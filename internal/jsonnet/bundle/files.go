package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// File is a file in memory.
type File struct {
	Content string
	Sum     [sha256.Size]byte // SHA-256 of Content
}

// NewFile returns a file with its sum.
func NewFile(content string) File {
	return File{Content: content, Sum: sha256.Sum256([]byte(content))}
}

// Files are files by their slash-separated relative paths, which have no "." and no "..". They are shared: nobody changes
// them.
type Files map[string]File

// Of moves contents by path into files: the map is empty afterwards, so that no more than one file is there twice.
func Of[M ~map[string][]byte](contents M) Files {
	files := make(Files, len(contents))
	for path, content := range contents {
		files[path] = File{Content: string(content), Sum: sha256.Sum256(content)}
		delete(contents, path)
	}
	return files
}

// FileOverhead is about what a file takes besides its content: its path, its sum and its entry.
const FileOverhead = 256

// Bytes is about what the files take in memory.
func (f Files) Bytes() int64 {
	total := int64(0)
	for _, file := range f {
		total += int64(len(file.Content)) + FileOverhead
	}
	return total
}

// Below returns the files of a directory by their paths in it. "" and "." are all files.
func (f Files) Below(directory string) Files {
	directory = strings.Trim(directory, "/")
	for strings.HasPrefix(directory, "./") {
		directory = strings.TrimLeft(directory[2:], "/")
	}
	if directory == "" || directory == "." {
		return f
	}
	below := Files{}
	for path, file := range f {
		if inside, ok := strings.CutPrefix(path, directory+"/"); ok {
			below[inside] = file
		}
	}
	return below
}

// Sum identifies the files by their paths and contents.
func (f Files) Sum() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(f)) {
		sum := f[path].Sum
		fmt.Fprintf(h, "%d %s %x\n", len(path), path, sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}
