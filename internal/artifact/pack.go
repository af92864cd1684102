package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
)

// Packed is a tarball and what identifies it.
type Packed struct {
	Revision string        // of the content: see Files.Revision
	Digest   digest.Digest // of Archive: sha256:<hex>
	Archive  []byte
}

// Size is that of the tarball, in bytes.
func (p Packed) Size() int64 { return int64(len(p.Archive)) }

// Revision is "sha256:" and the hexadecimal SHA-256 of a list that has, for each file in the order of its path's bytes,
// the line
//
//	<hexadecimal SHA-256 of the content> <space> <space> <path> <newline>
//
// which is what sha256sum prints. It depends on paths and contents and on nothing else, in particular not on how an
// archive of the files is compressed.
func (f Files) Revision() string {
	list := sha256.New()
	for _, path := range f.paths() {
		fmt.Fprintf(list, "%x  %s\n", sha256.Sum256(f[path]), path)
	}
	return digest.NewDigest(digest.SHA256, list).String()
}

func (f Files) paths() []string { return slices.Sorted(maps.Keys(f)) }

// Pack makes a tarball that Unpack accepts under the same limits. The same files give the same bytes on every machine.
func (l Limits) Pack(files Files) (Packed, error) {
	if err := l.Check(files); err != nil {
		return Packed{}, fmt.Errorf("packing artifact: %w", err)
	}
	archive, err := pack(files)
	if err != nil {
		return Packed{}, fmt.Errorf("packing artifact: %w", err)
	}
	if int64(len(archive)) > l.ArchiveBytes {
		return Packed{}, fmt.Errorf("packing artifact: %w",
			refuse("", "the archive has %d bytes, more than %d", len(archive), l.ArchiveBytes))
	}
	return Packed{Revision: files.Revision(), Digest: digest.FromBytes(archive), Archive: archive}, nil
}

// blockBytes is the unit of tarballs. A header takes one, or four when its path is long.
const blockBytes = 512

// Check says whether an artifact can hold the files. The error is a RefusedError.
func (l Limits) Check(files Files) error {
	t := newTree(l)
	inflated := int64(2 * blockBytes) // the end
	for _, path := range files.paths() {
		size := int64(len(files[path]))
		if err := l.checkPath(path); err != nil {
			return err
		}
		if err := t.addFile(path); err != nil {
			return err
		}
		if size > l.EntryBytes {
			return refuse(path, "it has %d bytes, more than %d", size, l.EntryBytes)
		}
		inflated += size + blockBytes + 4*blockBytes + int64(len(path))
	}
	if inflated > l.InflatedBytes {
		return refuse("", "the files have more than %d bytes", l.InflatedBytes)
	}
	return nil
}

// pack writes only what has one form: no owners, no times, one mode, no directories, files in the order of their paths.
// The compression is that of the standard library, which is the same on every architecture; another release of Go may
// compress differently, so what is stored is found by its revision and not by its digest.
func pack(files Files) ([]byte, error) {
	var archive bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&archive, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	compressor.OS = 255 // unknown
	writer := tar.NewWriter(compressor)
	for _, path := range files.paths() {
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: path, Size: int64(len(files[path])), Mode: 0o644, ModTime: time.Unix(0, 0),
		} // the writer takes USTAR where the path fits, and PAX otherwise
		if err := writer.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(files[path]); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	if err := compressor.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}
