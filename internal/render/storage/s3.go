package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/objectstore"
)

// MediaType is that of artifacts.
const MediaType = "application/gzip"

// operationTimeout bounds what is done for a caller who waits. It is enough to write the largest artifact and to read it
// back at 2 MB/s.
const operationTimeout = 2 * time.Minute

// S3 is a Store in a bucket of an object store, which shows an object only when all of it is there.
type S3 struct{ bucket *objectstore.Bucket }

// NewS3 returns the store in a bucket. Its keys are the paths of the artifacts below the bucket's prefix.
func NewS3(bucket *objectstore.Bucket) *S3 { return &S3{bucket} }

// Put implements Store.
func (s *S3) Put(ctx context.Context, of Snippet, packed artifact.Packed) (Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	return put(ctx, s, of, packed)
}

// Open implements Store. The object is read when the first byte is asked for, with the same context.
func (s *S3) Open(ctx context.Context, ref Ref) (*Blob, error) {
	if err := ref.Validate(); err != nil {
		return nil, err
	}
	object, err := s.bucket.Stat(ctx, ref.Path())
	if err != nil {
		return nil, err
	}
	get := func(offset int64) (io.ReadCloser, error) {
		body, _, err := s.bucket.Get(ctx, object.Key, offset, object.ETag)
		return body, err
	}
	return &Blob{
		ReadSeekCloser: &objectReader{get: get, size: object.Size}, Stored: stored(ref, object), Tag: object.ETag,
	}, nil
}

// Stat implements Store.
func (s *S3) Stat(ctx context.Context, ref Ref) (Stored, error) {
	if err := ref.Validate(); err != nil {
		return Stored{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	object, err := s.bucket.Stat(ctx, ref.Path())
	return stored(ref, object), err
}

// List implements Store.
func (s *S3) List(ctx context.Context, of Snippet) ([]Stored, error) {
	if err := of.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	objects, err := s.bucket.List(ctx, of.directory()+"/")
	if err != nil {
		return nil, fmt.Errorf("listing artifacts: %w", err)
	}
	var found []Stored
	for _, object := range objects {
		if ref, ok := of.ref(strings.TrimPrefix(object.Key, of.directory()+"/")); ok {
			found = append(found, stored(ref, object))
		}
	}
	return found, nil
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, ref Ref) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	return s.bucket.Delete(ctx, ref.Path())
}

// DeleteAll implements Store. Objects that are not the store's stay.
func (s *S3) DeleteAll(ctx context.Context, of Snippet) error {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	found, err := s.List(ctx, of)
	if err != nil {
		return err
	}
	for _, each := range found {
		if err := s.bucket.Delete(ctx, each.Path()); err != nil {
			return err
		}
	}
	return nil
}

func stored(ref Ref, object objectstore.Object) Stored {
	return Stored{Ref: ref, Size: object.Size, Time: object.ModTime}
}

func (s *S3) read(ctx context.Context, ref Ref) ([]byte, error) {
	body, _, err := s.bucket.Get(ctx, ref.Path(), 0, "")
	if err != nil {
		return nil, err
	}
	archive, err := readArchive(body, ref)
	return archive, errors.Join(err, body.Close())
}

func (s *S3) write(ctx context.Context, ref Ref, archive []byte) error {
	return s.bucket.Put(ctx, ref.Path(), MediaType, archive)
}

// touch writes the same bytes again: an object store has no other way to change the time.
func (s *S3) touch(ctx context.Context, ref Ref, archive []byte) error {
	return s.write(ctx, ref, archive)
}

// objectReader reads an object from wherever it was sought to.
type objectReader struct {
	get    func(offset int64) (io.ReadCloser, error)
	size   int64
	offset int64
	body   io.ReadCloser // open at offset, or nil
}

func (o *objectReader) Read(p []byte) (int, error) {
	if o.offset >= o.size {
		return 0, io.EOF
	}
	if o.body == nil {
		body, err := o.get(o.offset)
		if err != nil {
			return 0, err
		}
		o.body = body
	}
	n, err := o.body.Read(p)
	o.offset += int64(n)
	if errors.Is(err, io.EOF) && o.offset < o.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (o *objectReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seeking in object: the place is before its start")
	}
	if offset != o.offset {
		_ = o.Close() // of a body that is not read on
	}
	o.offset = offset
	return offset, nil
}

func (o *objectReader) Close() error {
	if o.body == nil {
		return nil
	}
	body := o.body
	o.body = nil
	return body.Close()
}
