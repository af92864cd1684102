package artifact

import (
	"archive/tar"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Unpack returns the files of a gzipped tarball. Errors about the archive itself are a RefusedError.
//
// Links to places inside the archive are left out, as every Flux consumer does; a link that leads out of it, a hard link,
// a device and a path that leaves the archive or is there twice are refused.
func (l Limits) Unpack(archive io.Reader) (Files, error) {
	files := Files{}
	if err := l.unpack(archive, files); err != nil {
		return nil, fmt.Errorf("unpacking artifact: %w", err)
	}
	return files, nil
}

// UnpackTo writes the files of a gzipped tarball into a directory, which should be empty: a file that exists already is an
// error. What was written before an error is left to the caller.
func (l Limits) UnpackTo(archive io.Reader, directory *os.Root) error {
	if err := l.unpack(archive, rootSink{directory}); err != nil {
		return fmt.Errorf("unpacking artifact: %w", err)
	}
	return nil
}

// sink takes what an archive holds. Paths were checked.
type sink interface {
	addDirectory(path string) error
	addFile(path string, size int64, content io.Reader) error
}

func (l Limits) unpack(archive io.Reader, to sink) error {
	compressed := &bounded{reader: archive, left: l.ArchiveBytes, what: "the archive has more than %d bytes"}
	compressed.limit = compressed.left
	inflater, err := gzip.NewReader(compressed)
	if err != nil {
		return archiveError(err)
	}
	inflated := &bounded{reader: inflater, left: l.InflatedBytes, what: "the archive has more than %d bytes when inflated"}
	inflated.limit = inflated.left
	u := unpacking{limits: l, tree: newTree(l), to: to}
	for reader := tar.NewReader(inflated); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = u.entry(header, reader)
		}
		if err != nil {
			return archiveError(err)
		}
	}
	// What follows the end of the tarball is padding. It is read because the checksum is behind it.
	if _, err := io.Copy(io.Discard, inflated); err != nil {
		return archiveError(err)
	}
	return nil
}

type unpacking struct {
	limits  Limits
	tree    *tree
	to      sink
	entries int
	bytes   int64 // of the files; a sparse one has more than the stream shows
}

func (u *unpacking) entry(header *tar.Header, content io.Reader) error {
	if u.entries++; u.entries > u.limits.Entries {
		return refuse("", "there are more than %d entries", u.limits.Entries)
	}
	if header.Typeflag == tar.TypeXGlobalHeader { // a comment, as git archive writes it
		return nil
	}
	name, err := u.path(header.Name)
	if err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.file(header, name, content)
	case tar.TypeDir:
		if name == "." {
			return nil
		}
		if err := u.tree.addDirectory(name); err != nil {
			return err
		}
		return u.to.addDirectory(name)
	case tar.TypeSymlink:
		if leavesArchive(name, header.Linkname) {
			return refuse(header.Name, "it is a link to %s, which is outside the archive", quoteName(header.Linkname))
		}
		return nil
	case tar.TypeLink:
		return refuse(header.Name, "it is a hard link, and only files and directories are accepted")
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return refuse(header.Name, "it is a device or a pipe, and only files and directories are accepted")
	default:
		return refuse(header.Name, "it is of type %q, and only files and directories are accepted", header.Typeflag)
	}
}

func (u *unpacking) file(header *tar.Header, name string, content io.Reader) error {
	if header.Size > u.limits.EntryBytes {
		return refuse(header.Name, "it has %d bytes, more than %d", header.Size, u.limits.EntryBytes)
	}
	if u.bytes += header.Size; u.bytes > u.limits.InflatedBytes {
		return refuse("", "the files have more than %d bytes", u.limits.InflatedBytes)
	}
	if name == "." {
		return refuse(header.Name, "a file has the name of the directory it is in")
	}
	if err := u.tree.addFile(name); err != nil {
		return err
	}
	return u.to.addFile(name, header.Size, content)
}

// path turns the name of an entry into a clean path. Names such as "./a" and "a/" are common, and harmless.
func (u *unpacking) path(name string) (string, error) {
	if name == "" {
		return "", refuse("", "an entry has no name")
	}
	if len(name) > u.limits.PathBytes+len("./")+len("/") {
		return "", refuse(name, "the path has more than %d bytes", u.limits.PathBytes)
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." { // before cleaning would hide it
			return "", refuse(name, `the path has a ".."`)
		}
	}
	clean := path.Clean(name)
	if clean == "." {
		return clean, nil
	}
	return clean, u.limits.checkPath(clean)
}

// leavesArchive says whether a link points to a place outside the archive.
func leavesArchive(name, target string) bool {
	if target == "" || strings.HasPrefix(target, "/") || strings.ContainsAny(target, "\\\x00") {
		return true
	}
	clean := path.Join(path.Dir(name), target)
	return clean == ".." || strings.HasPrefix(clean, "../")
}

// archiveError tells what is wrong with an archive from what went wrong while reading or writing.
func archiveError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return refuse("", "it is not a gzip archive, or has something behind it")
	case errors.Is(err, gzip.ErrChecksum):
		return refuse("", "the checksum of the gzip archive is wrong")
	case errors.Is(err, tar.ErrHeader):
		return refuse("", "it has an entry that is not of the tar format")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return refuse("", "the archive ends too early")
	case errors.As(err, &corrupt):
		return refuse("", "the compressed data is damaged")
	default:
		return err
	}
}

// bounded is a reader that refuses to go on behind a limit.
type bounded struct {
	reader      io.Reader
	left, limit int64
	what        string // a format with the limit
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 { // one more than allowed, to see whether there is more
		p = p[:b.left+1]
	}
	n, err := b.reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, refuse("", b.what, b.limit)
	}
	return n, err
}

func (f Files) addDirectory(string) error { return nil }

func (f Files) addFile(path string, size int64, content io.Reader) error {
	data := make([]byte, size)
	if _, err := io.ReadFull(content, data); err != nil {
		return err
	}
	f[path] = data
	return nil
}

// rootSink writes below a directory. The modes of the archive are not kept: nothing in it is run, and it may hold secrets.
type rootSink struct{ root *os.Root }

const (
	directoryMode fs.FileMode = 0o700
	fileMode      fs.FileMode = 0o600
)

func (s rootSink) addDirectory(name string) error { return s.root.MkdirAll(name, directoryMode) }

func (s rootSink) addFile(name string, _ int64, content io.Reader) error {
	if parent := path.Dir(name); parent != "." {
		if err := s.root.MkdirAll(parent, directoryMode); err != nil {
			return err
		}
	}
	file, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// Size is what unpacking an archive takes.
type Size struct {
	Files int
	Bytes int64 // of the contents
}

// Measure checks an archive as Unpack does and says what it holds, keeping nothing of it.
func (l Limits) Measure(archive io.Reader) (Size, error) {
	var size Size
	if err := l.unpack(archive, &size); err != nil {
		return Size{}, fmt.Errorf("unpacking artifact: %w", err)
	}
	return size, nil
}

func (s *Size) addDirectory(string) error { return nil }

func (s *Size) addFile(_ string, size int64, content io.Reader) error {
	s.Files++
	s.Bytes += size
	_, err := io.Copy(io.Discard, content)
	return err
}
