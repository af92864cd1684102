package artifact_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fluxtar "github.com/fluxcd/pkg/tar"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/opencontainers/go-digest"

	"github.com/stagewright/stagewright/internal/artifact"
)

func pack(t *testing.T, files artifact.Files) artifact.Packed {
	t.Helper()
	packed, err := artifact.DefaultLimits().Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func sample() artifact.Files {
	return artifact.Files{
		"rendered.json":       []byte("{\n  \"a\": 1\n}\n"),
		"lib/b.libsonnet":     []byte("{ b: 2 }\n"),
		"lib-a":               []byte("sorts before lib/ in bytes\n"),
		"empty":               {},
		"a/b c/ä.txt":         []byte("umlaut"),
		longPath(200, "deep"): []byte("a path that USTAR splits"),
		longPath(900, "pax"):  []byte("a path that only PAX holds"),
	}
}

func longPath(length int, last string) string {
	return strings.Repeat("directory/", length/10) + last
}

// TestPack_GivesTheSameBytesEverywhere fails when the format changes, or when Go compresses differently. Then the digests
// of unchanged snippets change, while their revisions stay; see docs/decisions/0010-artifacts.md before adjusting it.
func TestPack_GivesTheSameBytesEverywhere(t *testing.T) {
	packed := pack(t, sample())
	const (
		wantRevision = "sha256:c9c689e273b56a93241bb8b06dea2b4d10f633f0de5d7854aac98e4093616c13"
		wantDigest   = "sha256:6ca6eb69d4b34e724e7cd5e931ff9acfef75b74b46df327ef7c58411275bbbdc"
	)
	if packed.Revision != wantRevision {
		t.Errorf("revision = %s, want %s", packed.Revision, wantRevision)
	}
	if packed.Digest != wantDigest {
		t.Errorf("digest = %s, want %s", packed.Digest, wantDigest)
	}
	if packed.Digest != digest.FromBytes(packed.Archive) || packed.Size() != int64(len(packed.Archive)) {
		t.Error("digest or size are not those of the archive")
	}
	for range 20 { // maps have another order each time
		if again := pack(t, sample()); !bytes.Equal(again.Archive, packed.Archive) || again.Revision != packed.Revision {
			t.Fatal("the same files give different bytes")
		}
	}
}

// The expected value is that of: printf … > a; (sha256sum a b/c) | sha256sum
func TestRevision_IsThatOfSha256sum(t *testing.T) {
	files := artifact.Files{"b/c": []byte("two\n"), "a": []byte("one\n")}
	const want = "sha256:9607e0d3a8f1d3333f304d720b9057c8c9b0c5f66715f0808abc1676cd81e311"
	if got := files.Revision(); got != want {
		t.Errorf("revision = %s, want %s", got, want)
	}
	changes := map[string]artifact.Files{
		"content": {"b/c": []byte("two\n"), "a": []byte("one")},
		"path":    {"b/d": []byte("two\n"), "a": []byte("one\n")},
		"moved":   {"b/c": []byte("one\n"), "a": []byte("two\n")},
		"less":    {"a": []byte("one\n")},
		"none":    {},
	}
	for name, changed := range changes {
		if changed.Revision() == want {
			t.Errorf("%s: the revision does not change", name)
		}
	}
}

func TestPack_WritesNothingOfTheMachine(t *testing.T) {
	inflater, err := gzip.NewReader(bytes.NewReader(pack(t, sample()).Archive))
	if err != nil {
		t.Fatal(err)
	}
	if inflater.Name != "" || !inflater.ModTime.IsZero() || inflater.OS != 255 {
		t.Errorf("gzip header: %+v", inflater.Header)
	}
	last := ""
	for reader := tar.NewReader(inflater); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name <= last {
			t.Errorf("%q comes after %q", header.Name, last)
		}
		last = header.Name
		if header.ModTime.Unix() != 0 || header.Mode != 0o644 || header.Typeflag != tar.TypeReg ||
			header.Uid+header.Gid != 0 || header.Uname+header.Gname != "" || !header.AccessTime.IsZero() {
			t.Errorf("header of %q: %+v", header.Name, header)
		}
	}
}

func TestPack_IsUndoneByUnpack(t *testing.T) {
	packed := pack(t, sample())
	files, err := artifact.DefaultLimits().Unpack(bytes.NewReader(packed.Archive))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), files, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("in memory (-want +got):\n%s", diff)
	}
	if files.Revision() != packed.Revision {
		t.Error("the revision is another one")
	}
	directory := t.TempDir()
	root, err := os.OpenRoot(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := artifact.DefaultLimits().UnpackTo(bytes.NewReader(packed.Archive), root); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), readAll(t, directory), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("in a directory (-want +got):\n%s", diff)
	}
}

func TestPack_IsReadByFlux(t *testing.T) {
	directory := t.TempDir()
	if err := fluxtar.Untar(bytes.NewReader(pack(t, sample()).Archive), directory); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), readAll(t, directory), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPack_RefusesWhatUnpackWould(t *testing.T) {
	limits := artifact.Limits{ArchiveBytes: 4096, InflatedBytes: 1 << 20, EntryBytes: 1 << 19, Entries: 10, PathBytes: 50}
	many := artifact.Files{}
	for i := range 11 {
		many[fmt.Sprint(i)] = nil
	}
	tests := map[string]struct {
		files artifact.Files
		want  string
	}{
		"no path":            {artifact.Files{"": nil}, "empty path"},
		"absolute":           {artifact.Files{"/etc/passwd": nil}, `entry "/etc/passwd": the path is absolute`},
		"climbing":           {artifact.Files{"a/../../b": nil}, `entry "a/../../b": the path has a ".."`},
		"not clean":          {artifact.Files{"a//b": nil}, "not clean"},
		"dot":                {artifact.Files{"./a": nil}, "not clean"},
		"directory":          {artifact.Files{"a/": nil}, "not clean"},
		"backslash":          {artifact.Files{`a\b`: nil}, "backslash"},
		"newline":            {artifact.Files{"a\nb": nil}, `entry "a\nb": the path has a control character`},
		"long":               {artifact.Files{strings.Repeat("a", 51): nil}, "51 bytes, more than 50"},
		"file and directory": {artifact.Files{"a": nil, "a/b": nil}, "a file and a directory"},
		"too many":           {many, "more than 10 files and directories"},
		"large file":         {artifact.Files{"a": make([]byte, 1<<19+1)}, `entry "a": it has 524289 bytes, more than 524288`},
		"large files":        {artifact.Files{"a": make([]byte, 1<<19), "b": make([]byte, 1<<19)}, "more than 1048576 bytes"},
		"large archive":      {artifact.Files{"a": noise(8192)}, "more than 4096"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := limits.Pack(test.files)
			var refused *artifact.RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}

// noise does not compress.
func noise(length int) []byte {
	content, state := make([]byte, length), uint32(1)
	for i := range content {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		content[i] = byte(state)
	}
	return content
}

func readAll(t *testing.T, directory string) artifact.Files {
	t.Helper()
	files := artifact.Files{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		relative, _ := filepath.Rel(directory, path)
		files[filepath.ToSlash(relative)] = content
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
