package artifact

import (
	"fmt"
	"strings"
)

// Files are the regular files of an artifact: content by path. Paths are relative, with slashes, and have no "." or "..".
type Files map[string][]byte

// Limits bound what is unpacked and packed.
type Limits struct {
	ArchiveBytes  int64 // of the compressed archive
	InflatedBytes int64 // of everything inside it, headers and padding included
	EntryBytes    int64 // of one file
	Entries       int   // files and directories, also those that are only named as the parent of another
	PathBytes     int   // of a path; an element of it may have 255
}

// DefaultLimits hold every artifact that people publish on purpose.
func DefaultLimits() Limits {
	return Limits{
		ArchiveBytes:  64 << 20,
		InflatedBytes: 512 << 20,
		EntryBytes:    16 << 20,
		Entries:       100_000,
		PathBytes:     1024,
	}
}

// maxElementBytes is what common file systems allow for one element of a path.
const maxElementBytes = 255

// RefusedError says why an archive, or the files for one, are not accepted. Trying again does not help.
type RefusedError struct {
	Entry string // the path as the archive has it; empty when it is about the whole
	Why   string
}

func (e *RefusedError) Error() string {
	if e.Entry == "" {
		return e.Why
	}
	return fmt.Sprintf("entry %s: %s", quoteName(e.Entry), e.Why)
}

func refuse(entry, format string, args ...any) error {
	return &RefusedError{Entry: entry, Why: fmt.Sprintf(format, args...)}
}

// quoteName makes a hostile name fit for a log line.
func quoteName(name string) string {
	const shown = 200
	if len(name) > shown {
		return fmt.Sprintf("%q…", name[:shown])
	}
	return fmt.Sprintf("%q", name)
}

// checkPath says whether a clean relative path may be a file or directory of an artifact.
func (l Limits) checkPath(path string) error {
	switch {
	case path == "":
		return refuse("", "a file has an empty path")
	case len(path) > l.PathBytes:
		return refuse(path, "the path has %d bytes, more than %d", len(path), l.PathBytes)
	case strings.HasPrefix(path, "/"):
		return refuse(path, "the path is absolute")
	case strings.Contains(path, `\`):
		return refuse(path, "the path has a backslash, which is a separator on some systems")
	case strings.ContainsFunc(path, isControl):
		return refuse(path, "the path has a control character")
	}
	for element := range strings.SplitSeq(path, "/") {
		switch {
		case element == "..":
			return refuse(path, `the path has a ".."`)
		case element == "" || element == ".":
			return refuse(path, "the path is not clean")
		case len(element) > maxElementBytes:
			return refuse(path, "an element of the path has %d bytes, more than %d", len(element), maxElementBytes)
		}
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || (0x7f <= r && r < 0xa0) }

// tree records which paths are files and which are directories, so that no path is both or a file twice.
type tree struct {
	limit int
	files map[string]bool // true: a file, false: a directory
}

func newTree(l Limits) *tree { return &tree{limit: l.Entries, files: map[string]bool{}} }

func (t *tree) addFile(path string) error {
	if isFile, taken := t.files[path]; taken && isFile {
		return refuse(path, "the file is there twice")
	} else if taken {
		return refuse(path, "it is a file and a directory")
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		if err := t.addDirectory(path[:i]); err != nil {
			return err
		}
	}
	return t.add(path, true)
}

// addDirectory also adds the parents. They count: an archive of few deep paths could otherwise hold many directories.
func (t *tree) addDirectory(path string) error {
	for path != "" {
		isFile, known := t.files[path]
		if isFile {
			return refuse(path, "it is a file and a directory")
		}
		if known { // and so are its parents
			return nil
		}
		if err := t.add(path, false); err != nil {
			return err
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return nil
}

func (t *tree) add(path string, isFile bool) error {
	if len(t.files) >= t.limit {
		return refuse("", "there are more than %d files and directories", t.limit)
	}
	t.files[path] = isFile
	return nil
}
