package storage_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"syscall"
	"testing"
)

// recompress gives the same tarball in other bytes.
func recompress(t *testing.T, archive []byte) []byte {
	t.Helper()
	inflater, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var other bytes.Buffer
	writer, err := gzip.NewWriterLevel(&other, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(writer, inflater); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return other.Bytes()
}

func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
