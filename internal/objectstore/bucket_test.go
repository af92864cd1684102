package objectstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/objectstore"
	"github.com/stagewright/stagewright/internal/objectstore/objectstoretest"
)

func open(t *testing.T, config objectstore.Config) *objectstore.Bucket {
	t.Helper()
	bucket, err := objectstore.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func TestBucket_KeepsObjects(t *testing.T) {
	config := objectstoretest.Start(t)
	config.Prefix = "/some/prefix/"
	bucket, content := open(t, config), bytes.Repeat([]byte("0123456789"), 100_000)
	ctx := t.Context()

	if err := bucket.Check(ctx); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a/one", "a/two", "ab/three"} {
		if err := bucket.Put(ctx, key, "application/gzip", content); err != nil {
			t.Fatal(err)
		}
	}
	info, err := bucket.Stat(ctx, "a/one")
	if err != nil || info.Key != "a/one" || info.Size != int64(len(content)) || info.ETag == "" || info.ModTime.IsZero() {
		t.Errorf("Stat = %+v, %v", info, err)
	}
	body, _, err := bucket.Get(ctx, "a/one", 999_995, info.ETag)
	if err != nil {
		t.Fatal(err)
	}
	tail, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || string(tail) != "56789" {
		t.Errorf("Get from an offset = %q, %v", tail, err)
	}
	if _, _, err := bucket.Get(ctx, "a/one", 0, "another"); err == nil {
		t.Error("Get returns an object that is not the one asked for")
	}
	listed, err := bucket.List(ctx, "a/")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, object := range listed {
		keys = append(keys, fmt.Sprint(object.Key, " ", object.Size))
	}
	if diff := cmp.Diff([]string{"a/one 1000000", "a/two 1000000"}, keys); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	for range 2 { // deleting what is gone is fine
		if err := bucket.Delete(ctx, "a/one"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	if _, err := bucket.Stat(ctx, "a/one"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of a deleted object: %v", err)
	}
	if _, _, err := bucket.Get(ctx, "a/one", 0, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of a deleted object: %v", err)
	}
}

func TestBucket_ListsMoreThanOnePage(t *testing.T) {
	config := objectstoretest.Start(t)
	bucket := open(t, config)
	const count = 1100 // a page has 1000
	for i := range count {
		if err := bucket.Put(t.Context(), fmt.Sprintf("n/%04d", i), "text/plain", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := bucket.List(t.Context(), "n/")
	if err != nil || len(listed) != count {
		t.Errorf("List returns %d objects, %v", len(listed), err)
	}
}

func TestBucket_NamesWhatFails(t *testing.T) {
	config := objectstoretest.Start(t)
	tests := map[string]struct {
		change func(*objectstore.Config)
		want   string
	}{
		"wrong secret":   {func(c *objectstore.Config) { c.SecretKey = "wrong" }, "SignatureDoesNotMatch"},
		"unknown key":    {func(c *objectstore.Config) { c.AccessKey = "unknown" }, "No user exists with the provided access key"},
		"unsigned":       {func(c *objectstore.Config) { c.AccessKey, c.SecretKey, c.Anonymous = "", "", true }, "AccessDenied"},
		"missing bucket": {func(c *objectstore.Config) { c.Bucket = "missing" }, "NoSuchBucket"},
		"nobody listens": {func(c *objectstore.Config) { c.Endpoint = "127.0.0.1:1" }, "connection refused"},
		"TLS to a server without": {
			func(c *objectstore.Config) { c.UseSSL = true }, "server gave HTTP response to HTTPS client",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := config
			test.change(&changed)
			err := open(t, changed).Put(t.Context(), "key", "text/plain", []byte("x"))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `writing object "key"`) {
				t.Errorf("Put: %v, want %s", err, test.want)
			}
			if errors.Is(err, fs.ErrNotExist) {
				t.Error("it counts as a missing object")
			}
			if name == "missing bucket" {
				if err := open(t, changed).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "no such bucket") {
					t.Errorf("Check: %v", err)
				}
			}
		})
	}
}

func TestBucket_TriesAgain(t *testing.T) {
	var failures atomic.Int32
	config := objectstoretest.Intercept(t, objectstoretest.Start(t), func(w http.ResponseWriter, _ *http.Request) bool {
		if failures.Add(-1) < 0 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	bucket := open(t, config)
	failures.Store(2)
	if err := bucket.Put(t.Context(), "key", "text/plain", []byte("content")); err != nil {
		t.Fatalf("after two failures: %v", err)
	}
	failures.Store(1000)
	if _, err := bucket.Stat(t.Context(), "key"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("while the store fails: %v", err)
	}
	failures.Store(0)
	if _, err := bucket.Stat(t.Context(), "key"); err != nil {
		t.Errorf("when the store is back: %v", err)
	}
}

func TestOpen_FindsCredentialsInTheEnvironment(t *testing.T) {
	config := objectstoretest.Start(t)
	container := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"AccessKeyId": %q, "SecretAccessKey": %q, "Token": "", "Expiration": %q}`,
			objectstoretest.AccessKey, objectstoretest.SecretKey, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	t.Cleanup(container.Close)
	shared := filepath.Join(t.TempDir(), "credentials")
	text := fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n",
		objectstoretest.AccessKey, objectstoretest.SecretKey)
	if err := os.WriteFile(shared, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nowhere.Close)
	tests := map[string]struct {
		environment map[string]string
		want        string
	}{
		"variables": {environment: map[string]string{
			"AWS_ACCESS_KEY_ID": objectstoretest.AccessKey, "AWS_SECRET_ACCESS_KEY": objectstoretest.SecretKey,
		}},
		"shared file": {environment: map[string]string{"AWS_SHARED_CREDENTIALS_FILE": shared}},
		"container":   {environment: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": container.URL}},
		"nothing": {
			environment: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": nowhere.URL}, want: "no credentials were found",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			withoutCredentials(t)
			for variable, value := range test.environment {
				t.Setenv(variable, value)
			}
			ambient := config
			ambient.AccessKey, ambient.SecretKey = "", ""
			err := open(t, ambient).Put(t.Context(), "key", "text/plain", []byte("x"))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("Put: %v, want %q", err, test.want)
			}
		})
	}
}

// withoutCredentials clears what a developer's machine may have.
func withoutCredentials(t *testing.T) {
	t.Helper()
	for _, variable := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN",
		"MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD", "MINIO_ACCESS_KEY", "MINIO_SECRET_KEY",
	} {
		t.Setenv(variable, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
}

func TestValidate_RefusesContradictions(t *testing.T) {
	valid := objectstore.Config{Endpoint: "s3.example.org:443", Bucket: "artifacts"}
	tests := map[string]struct {
		change func(*objectstore.Config)
		want   string
	}{
		"as it is":             {func(*objectstore.Config) {}, ""},
		"keys":                 {func(c *objectstore.Config) { c.AccessKey, c.SecretKey, c.SessionToken = "a", "s", "t" }, ""},
		"no endpoint":          {func(c *objectstore.Config) { c.Endpoint = "" }, "endpoint is missing"},
		"endpoint with scheme": {func(c *objectstore.Config) { c.Endpoint = "https://s3.example.org" }, "without a scheme"},
		"no bucket":            {func(c *objectstore.Config) { c.Bucket = "" }, "bucket is missing"},
		"secret alone":         {func(c *objectstore.Config) { c.SecretKey = "s" }, "without an access key"},
		"access key alone":     {func(c *objectstore.Config) { c.AccessKey = "a" }, "without a secret key"},
		"token alone":          {func(c *objectstore.Config) { c.SessionToken = "t" }, "without an access key"},
		"anonymous with keys":  {func(c *objectstore.Config) { c.AccessKey, c.SecretKey, c.Anonymous = "a", "s", true }, "exclude"},
		"prefix that climbs":   {func(c *objectstore.Config) { c.Prefix = "a/../b" }, "prefix"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config := valid
			test.change(&config)
			_, err := objectstore.Open(config)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("Open: %v, want %q", err, test.want)
			}
		})
	}
}
