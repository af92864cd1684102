package artifact_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stagewright/stagewright/internal/artifact"
)

// entry is one of a tarball made for a test.
type entry struct {
	name    string
	content string
	kind    byte // 0: a file
	link    string
}

func tarball(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var plain bytes.Buffer
	writer := tar.NewWriter(&plain)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		header := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.content)), Mode: 0o777}
		if e.kind == tar.TypeXGlobalHeader {
			header = &tar.Header{Typeflag: e.kind, PAXRecords: map[string]string{"comment": "0123456789abcdef"}}
		}
		if err := writer.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return compress(t, plain.Bytes())
}

func compress(t testing.TB, plain []byte) []byte {
	t.Helper()
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return compressed.Bytes()
}

// store is compress without compressing, which is quicker.
func store(t testing.TB, plain []byte) []byte {
	t.Helper()
	var stored bytes.Buffer
	writer, err := gzip.NewWriterLevel(&stored, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return stored.Bytes()
}

// rawHeader is a header that archive/tar would not write.
func rawHeader(name string, kind byte, size int) []byte {
	block := make([]byte, 512)
	copy(block, name)
	copy(block[100:], "0000644\x000000000\x000000000\x00")
	copy(block[124:], fmt.Sprintf("%011o\x0000000000000\x00", size))
	copy(block[148:], "        ")
	block[156] = kind
	copy(block[257:], "ustar\x0000")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return block
}

// sparse is a tarball with files that take a few bytes and say that they have many.
func sparse(t testing.TB, count, size int) []byte {
	var plain []byte
	for i := range count {
		records := ""
		for _, record := range []string{
			"GNU.sparse.major=1", "GNU.sparse.minor=0", fmt.Sprintf("GNU.sparse.name=sparse%d", i),
			fmt.Sprintf("GNU.sparse.realsize=%d", size),
		} {
			length := len(record) + 2
			for len(fmt.Sprint(length))+len(record)+2 != length {
				length++
			}
			records += fmt.Sprintf("%d %s\n", length, record)
		}
		plain = append(plain, rawHeader("pax", 'x', len(records))...)
		plain = append(plain, append([]byte(records), make([]byte, 512-len(records))...)...)
		plain = append(plain, rawHeader("sparse", '0', 512)...)
		plain = append(plain, append([]byte("0\n"), make([]byte, 510)...)...) // a map of no fragments
	}
	return compress(t, append(plain, make([]byte, 1024)...))
}

func smallLimits() artifact.Limits {
	return artifact.Limits{ArchiveBytes: 64 << 10, InflatedBytes: 1 << 20, EntryBytes: 256 << 10, Entries: 100, PathBytes: 100}
}

func TestUnpack_AcceptsWhatToolsWrite(t *testing.T) {
	tests := map[string]struct {
		archive []byte
		want    artifact.Files
	}{
		"nothing": {tarball(t), artifact.Files{}},
		"tar -C directory .": {
			tarball(t, entry{name: "./", kind: tar.TypeDir}, entry{name: "./a/", kind: tar.TypeDir}, entry{name: "./a/b", content: "1"}),
			artifact.Files{"a/b": []byte("1")},
		},
		"directories twice": {
			tarball(t, entry{name: "a/", kind: tar.TypeDir}, entry{name: "a", kind: tar.TypeDir}, entry{name: "a/b", content: "1"}),
			artifact.Files{"a/b": []byte("1")},
		},
		"git archive": {
			tarball(t, entry{kind: tar.TypeXGlobalHeader}, entry{name: "a", content: "1"}), artifact.Files{"a": []byte("1")},
		},
		"links inside are left out": {
			tarball(t, entry{name: "d/l", kind: tar.TypeSymlink, link: "../a"}, entry{name: "a", content: "1"}),
			artifact.Files{"a": []byte("1")},
		},
		"a file below the name of a link": {
			tarball(t, entry{name: "l", kind: tar.TypeSymlink, link: "a"}, entry{name: "l/f", content: "1"}),
			artifact.Files{"l/f": []byte("1")},
		},
		"dots in names":  {tarball(t, entry{name: "..a/b..", content: "1"}), artifact.Files{"..a/b..": []byte("1")}},
		"not UTF-8":      {tarball(t, entry{name: "a\xff", content: "1"}), artifact.Files{"a\xff": []byte("1")}},
		"a small sparse": {sparse(t, 1, 1000), artifact.Files{"sparse0": make([]byte, 1000)}},
		"several gzip members": {
			append(compress(t, gunzip(t, tarball(t, entry{name: "a", content: "1"}))[:512]),
				compress(t, gunzip(t, tarball(t, entry{name: "a", content: "1"}))[512:])...),
			artifact.Files{"a": []byte("1")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := smallLimits().Unpack(bytes.NewReader(test.archive))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, files, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("in memory (-want +got):\n%s", diff)
			}
			directory, err := unpackTo(t, test.archive)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, readAll(t, directory), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("in a directory (-want +got):\n%s", diff)
			}
		})
	}
}

func gunzip(t testing.TB, archive []byte) []byte {
	t.Helper()
	inflater, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(inflater)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// unpackTo unpacks into an empty directory whose parent must stay empty otherwise.
func unpackTo(t testing.TB, archive []byte) (string, error) {
	t.Helper()
	parent := t.TempDir()
	directory := filepath.Join(parent, "into")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	err = smallLimits().UnpackTo(bytes.NewReader(archive), root)
	if entries, readErr := os.ReadDir(parent); readErr != nil || len(entries) != 1 {
		t.Errorf("beside the directory: %v, %v", entries, readErr)
	}
	return directory, err
}

func TestUnpack_RefusesAndSaysWhy(t *testing.T) {
	file := entry{name: "a", content: "1"}
	good := tarball(t, file)
	damaged := bytes.Clone(good)
	damaged[len(damaged)-5] ^= 1 // in the checksum
	many := make([]entry, 101)
	links := make([]entry, 101)
	deep := make([]entry, 10)
	for i := range many {
		many[i] = entry{name: fmt.Sprintf("f%d", i)}
		links[i] = entry{name: fmt.Sprintf("f%d", i), kind: tar.TypeSymlink, link: "x"}
	}
	for i := range deep {
		deep[i] = entry{name: fmt.Sprintf("%d/%sf", i, strings.Repeat("a/", 20))}
	}
	tests := map[string]struct {
		archive []byte
		want    string
	}{
		"climbing":             {tarball(t, entry{name: "../a"}), `entry "../a": the path has a ".."`},
		"climbing inside":      {tarball(t, entry{name: "a/../b"}), `entry "a/../b": the path has a ".."`},
		"climbing at the end":  {tarball(t, entry{name: "a/..", kind: tar.TypeDir}), `entry "a/..`},
		"absolute":             {tarball(t, entry{name: "/a"}), `entry "/a": the path is absolute`},
		"backslash":            {tarball(t, entry{name: `..\a`}), "backslash"},
		"control character":    {tarball(t, entry{name: "a\x1b[2J"}), `entry "a\x1b[2J": the path has a control character`},
		"long":                 {tarball(t, entry{name: strings.Repeat("a", 104)}), "more than 100 bytes"},
		"long element":         {tarball(t, entry{name: strings.Repeat("a", 101)}), "101 bytes, more than 100"},
		"no name":              {compress(t, append(rawHeader("", '0', 0), make([]byte, 1024)...)), "an entry has no name"},
		"file named dot":       {tarball(t, entry{name: "."}), "the directory it is in"},
		"link out":             {tarball(t, entry{name: "d/l", kind: tar.TypeSymlink, link: "../../x"}), `entry "d/l": it is a link to "../../x", which is outside`},
		"absolute link":        {tarball(t, entry{name: "l", kind: tar.TypeSymlink, link: "/etc/passwd"}), `link to "/etc/passwd"`},
		"link to nothing":      {tarball(t, entry{name: "l", kind: tar.TypeSymlink}), "outside"},
		"hard link":            {tarball(t, file, entry{name: "l", kind: tar.TypeLink, link: "a"}), `entry "l": it is a hard link`},
		"hard link out":        {tarball(t, entry{name: "l", kind: tar.TypeLink, link: "/etc/passwd"}), "hard link"},
		"character device":     {tarball(t, entry{name: "n", kind: tar.TypeChar}), `entry "n": it is a device or a pipe`},
		"block device":         {tarball(t, entry{name: "n", kind: tar.TypeBlock}), "device"},
		"pipe":                 {tarball(t, entry{name: "n", kind: tar.TypeFifo}), "device or a pipe"},
		"unknown kind":         {tarball(t, entry{name: "n", kind: 'Z'}), `it is of type 'Z'`},
		"twice":                {tarball(t, file, file), `entry "a": the file is there twice`},
		"twice, written twice": {tarball(t, file, entry{name: "./a"}), "twice"},
		"file over directory":  {tarball(t, entry{name: "a/b"}, entry{name: "a"}), "a file and a directory"},
		"directory over file":  {tarball(t, file, entry{name: "a/b/c"}), "a file and a directory"},
		"too many files":       {tarball(t, many...), "more than 100"},
		"too many links":       {tarball(t, links...), "more than 100 entries"},
		"too many parents":     {tarball(t, deep...), "more than 100 files and directories"},
		"large file":           {tarball(t, entry{name: "a", content: strings.Repeat("x", 256<<10+1)}), `entry "a": it has 262145 bytes, more than 262144`},
		"large sparse file":    {sparse(t, 1, 1<<40), "more than 262144"},
		"many sparse files":    {sparse(t, 5, 250<<10), "the files have more than 1048576 bytes"},
		"bomb of padding":      {compress(t, append(gunzip(t, good), make([]byte, 1<<20)...)), "more than 1048576 bytes when inflated"},
		"bomb of headers":      {compress(t, append(rawHeader("pax", 'x', 1<<30), make([]byte, 2<<20)...)), ""},
		"large archive":        {tarball(t, entry{name: "a", content: string(noise(100 << 10))}), "the archive has more than 65536 bytes"},
		"several large files": {tarball(t,
			entry{name: "a", content: strings.Repeat("x", 250<<10)}, entry{name: "b", content: strings.Repeat("x", 250<<10)},
			entry{name: "c", content: strings.Repeat("x", 250<<10)}, entry{name: "d", content: strings.Repeat("x", 250<<10)},
			entry{name: "e", content: strings.Repeat("x", 250<<10)}), "more than 1048576 bytes"},
		"nothing at all":  {nil, "ends too early"},
		"not gzip":        {[]byte("hello, this is not an archive"), "not a gzip archive"},
		"not tar":         {compress(t, bytes.Repeat([]byte("not a tarball "), 100)), "not of the tar format"},
		"cut off":         {good[:len(good)-20], "ends too early"},
		"cut off in tar":  {compress(t, rawHeader("a", '0', 1000)), "ends too early"},
		"wrong checksum":  {damaged, "checksum"},
		"more behind it":  {append(bytes.Clone(good), "trailing garbage"...), "something behind it"},
		"damaged deflate": {append(bytes.Clone(good[:10]), bytes.Repeat([]byte{0xff}, 100)...), "damaged"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := smallLimits().Unpack(bytes.NewReader(test.archive))
			_, errTo := unpackTo(t, test.archive)
			for _, err := range []error{err, errTo} {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error = %v, want %q", err, test.want)
				}
				var refused *artifact.RefusedError
				if test.want != "" && !errors.As(err, &refused) {
					t.Errorf("%v is not a RefusedError", err)
				}
			}
		})
	}
}

// TestUnpackTo_StaysInsideADirectoryWithLinks: even when something else has put a link into the directory.
func TestUnpackTo_StaysInsideADirectoryWithLinks(t *testing.T) {
	for name, archive := range map[string][]byte{
		"below a link":   tarball(t, entry{name: "link/a", content: "1"}),
		"through a link": tarball(t, entry{name: "file", content: "1"}),
	} {
		t.Run(name, func(t *testing.T) {
			outside, directory := t.TempDir(), t.TempDir()
			for link, target := range map[string]string{"link": outside, "file": filepath.Join(outside, "a")} {
				if err := os.Symlink(target, filepath.Join(directory, link)); err != nil {
					t.Fatal(err)
				}
			}
			root, err := os.OpenRoot(directory)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if err := artifact.DefaultLimits().UnpackTo(bytes.NewReader(archive), root); err == nil {
				t.Error("it is unpacked")
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 0 {
				t.Errorf("outside there is now %v", entries)
			}
		})
	}
}

func TestUnpackTo_OverwritesNothing(t *testing.T) {
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "a"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	err = artifact.DefaultLimits().UnpackTo(bytes.NewReader(tarball(t, entry{name: "a", content: "1"})), root)
	if content, _ := os.ReadFile(filepath.Join(directory, "a")); !errors.Is(err, os.ErrExist) || string(content) != "mine" {
		t.Errorf("error = %v, content %q", err, content)
	}
}

func TestUnpackTo_ReportsThatTheDiskFails(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	err = artifact.DefaultLimits().UnpackTo(bytes.NewReader(tarball(t, entry{name: "a"})), root)
	var refused *artifact.RefusedError
	if !errors.Is(err, os.ErrClosed) || errors.As(err, &refused) {
		t.Errorf("error = %v", err)
	}
}

// TestUnpack_StopsABombEarly: 30 MB of zeros in 30 KB are not inflated further than the limit.
func TestUnpack_StopsABombEarly(t *testing.T) {
	limits := smallLimits()
	limits.ArchiveBytes = 64 << 20
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := io.CopyN(writer, zeros{}, 30<<20); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	archive := &counting{reader: &compressed}
	if _, err := limits.Unpack(archive); err == nil {
		t.Error("it is unpacked")
	}
	if archive.read > 16<<10 {
		t.Errorf("%d bytes of the archive were read", archive.read)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type counting struct {
	reader io.Reader
	read   int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.read += n
	return n, err
}

func FuzzUnpack_KeepsItsLimits(f *testing.F) {
	f.Add(gunzip(f, tarball(f, entry{name: "a/b", content: "1"}, entry{name: "l", kind: tar.TypeSymlink, link: "a"})), true)
	f.Add(gunzip(f, tarball(f, entry{name: "../a"}, entry{name: "n", kind: tar.TypeChar})), true)
	f.Add(gunzip(f, sparse(f, 2, 1000)), true)
	f.Add(gunzip(f, tarball(f, entry{kind: tar.TypeXGlobalHeader}, entry{name: longPath(80, "x"), content: "1"})), true)
	f.Add(tarball(f, entry{name: "a"}), false)
	f.Fuzz(func(t *testing.T, archive []byte, plain bool) {
		if plain {
			archive = store(t, archive)
		}
		limits := smallLimits()
		files, err := limits.Unpack(bytes.NewReader(archive))
		directory, errTo := unpackTo(t, archive)
		if (err == nil) != (errTo == nil) {
			t.Fatalf("in memory: %v; in a directory: %v", err, errTo)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(files, readAll(t, directory), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("memory and directory differ:\n%s", diff)
		}
		total := 0
		for path, content := range files {
			total += len(content)
			if len(path) > limits.PathBytes || !filepath.IsLocal(path) || int64(len(content)) > limits.EntryBytes {
				t.Fatalf("%q with %d bytes", path, len(content))
			}
		}
		if int64(total) > limits.InflatedBytes || len(files) > limits.Entries {
			t.Fatalf("%d files, %d bytes", len(files), total)
		}
		packed, err := artifact.DefaultLimits().Pack(files)
		if err != nil {
			t.Fatalf("what was unpacked cannot be packed: %v", err)
		}
		again, err := artifact.DefaultLimits().Unpack(bytes.NewReader(packed.Archive))
		if err != nil || again.Revision() != files.Revision() || packed.Revision != files.Revision() {
			t.Fatalf("packed and unpacked: %v", err)
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	files := artifact.Files{}
	for i := range 1000 {
		files[fmt.Sprintf("directory%d/file%d.json", i%50, i)] = bytes.Repeat([]byte(fmt.Sprintf(`{"name": "n%d"}`, i)), 500)
	}
	packed, err := artifact.DefaultLimits().Pack(files)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			if _, err := artifact.DefaultLimits().Unpack(bytes.NewReader(packed.Archive)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			if _, err := artifact.DefaultLimits().Pack(files); err != nil {
				b.Fatal(err)
			}
		}
	})
}
