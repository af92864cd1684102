package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// Bucket is one bucket, below one prefix. Keys are given and returned without the prefix. An object that is not there is
// an error that wraps fs.ErrNotExist. A Bucket may be used concurrently.
type Bucket struct {
	core   *minio.Core
	name   string
	prefix string // empty, or with a slash at its end
}

// Object describes what is stored under a key.
type Object struct {
	Key     string
	Size    int64
	ETag    string // without quotes; another content has another one
	ModTime time.Time
}

// Check fails when the bucket cannot be reached or is not there.
func (b *Bucket) Check(ctx context.Context) error {
	exists, err := b.core.BucketExists(ctx, b.name)
	if err == nil && !exists {
		err = errors.New("there is no such bucket")
	}
	if err != nil {
		return fmt.Errorf("checking bucket %q: %w", b.name, err)
	}
	return nil
}

// Put stores an object whole, or not at all.
func (b *Bucket) Put(ctx context.Context, key, contentType string, content []byte) error {
	sum := sha256.Sum256(content)
	_, err := b.core.PutObject(ctx, b.name, b.prefix+key, bytes.NewReader(content), int64(len(content)),
		"", hex.EncodeToString(sum[:]), minio.PutObjectOptions{
			ContentType: contentType,
			// The sum is known, so the request is signed with it in one piece. Without this the client would sign chunks.
			DisableContentSha256: true,
		})
	return b.wrap("writing", key, err)
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, key string) (Object, error) {
	var object Object
	err := b.find(ctx, key, func() error {
		info, err := b.core.StatObject(ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
		object = b.object(info)
		return err
	})
	return object, b.wrap("finding", key, err)
}

// Get reads an object from an offset. With an ETag it fails when the object has become another one.
func (b *Bucket) Get(ctx context.Context, key string, offset int64, etag string) (io.ReadCloser, Object, error) {
	var options minio.GetObjectOptions
	if offset > 0 {
		if err := options.SetRange(offset, 0); err != nil {
			return nil, Object{}, b.wrap("reading", key, err)
		}
	}
	if etag != "" {
		if err := options.SetMatchETag(etag); err != nil {
			return nil, Object{}, b.wrap("reading", key, err)
		}
	}
	var body io.ReadCloser
	var object Object
	err := b.find(ctx, key, func() error {
		got, info, _, err := b.core.GetObject(ctx, b.name, b.prefix+key, options)
		body, object = got, b.object(info)
		return err
	})
	if err != nil {
		return nil, Object{}, b.wrap("reading", key, err)
	}
	return body, object, nil
}

// find asks for an object, and once more when it has been put meanwhile.
func (b *Bucket) find(ctx context.Context, key string, ask func() error) error {
	err := b.confirm(ctx, key, ask())
	if errors.Is(err, errListed) {
		err = b.confirm(ctx, key, ask())
	}
	return err
}

var errListed = errors.New("the store lists the object and does not find it")

// confirm asks the store for its list where an answer says that an object is not there. An answer of 404 may come from a
// server in front of the store, and that to HEAD is the same when the whole bucket is gone: whoever deletes what is gone
// must be able to rely on it.
func (b *Bucket) confirm(ctx context.Context, key string, err error) error {
	if !isNoSuchKey(err) {
		return err
	}
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	options := minio.ListObjectsOptions{Prefix: b.prefix + key, Recursive: true, MaxKeys: 1}
	seen := 0
	for info := range b.core.ListObjectsIter(ctx, b.name, options) {
		if info.Err != nil {
			return info.Err
		}
		if info.Key == b.prefix+key {
			return errListed
		}
		const enough = 10 // others only begin with the key; the object itself would come first
		if seen++; seen == enough {
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func isNoSuchKey(err error) bool {
	var response minio.ErrorResponse
	return errors.As(err, &response) && response.Code == minio.NoSuchKey
}

// maxListed bounds a listing, against a store that always has another page. Nobody keeps as much below one prefix.
const maxListed = 100_000

// List returns the objects whose keys start with a prefix, in the order of their keys.
func (b *Bucket) List(ctx context.Context, prefix string) ([]Object, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing when an error does
	defer cancel()
	var objects []Object
	options := minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}
	for info := range b.core.ListObjectsIter(ctx, b.name, options) {
		if info.Err != nil {
			return nil, b.wrap("listing", prefix, info.Err)
		}
		if len(objects) == maxListed {
			return nil, b.wrap("listing", prefix, fmt.Errorf("there are more than %d objects", maxListed))
		}
		objects = append(objects, b.object(info))
	}
	return objects, b.wrap("listing", prefix, ctx.Err())
}

// Delete removes an object. One that is not there is no error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.wrap("deleting", key, b.core.RemoveObject(ctx, b.name, b.prefix+key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (b *Bucket) object(info minio.ObjectInfo) Object {
	return Object{
		Key: strings.TrimPrefix(info.Key, b.prefix), Size: info.Size, ETag: strings.Trim(info.ETag, `"`), ModTime: info.LastModified,
	}
}

// wrap says what was being done, and makes a missing object recognizable. A missing bucket is not one.
func (b *Bucket) wrap(doing, key string, err error) error {
	if err == nil {
		return nil
	}
	var response minio.ErrorResponse
	if isNoSuchKey(err) {
		err = fs.ErrNotExist
	} else if errors.As(err, &response) && response.Code != "" {
		err = fmt.Errorf("%s: %w", response.Code, err) // messages of stores do not always say what kind they are of
	}
	return fmt.Errorf("%s object %q of bucket %q: %w", doing, b.prefix+key, b.name, err)
}
