package objectstore_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/objectstore"
	"github.com/stagewright/stagewright/internal/objectstore/objectstoretest"
)

// TestBucket_TellsAMissingObjectFromEverythingElse: only the store itself can say that an object is not there. An answer of
// 404 can come from a bucket that is gone or from a server in front, and the answer to HEAD has no text.
func TestBucket_TellsAMissingObjectFromEverythingElse(t *testing.T) {
	config := objectstoretest.Start(t)
	if err := open(t, config).Put(t.Context(), "there", "text/plain", []byte("x")); err != nil {
		t.Fatal(err)
	}
	noBucket := config
	noBucket.Bucket = "missing"
	page := func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<html>no such site</html>")
		return true
	}
	liar := func(w http.ResponseWriter, r *http.Request) bool { // for the object, not for the bucket
		return strings.HasSuffix(r.URL.Path, "/there") && page(w, r)
	}
	tests := map[string]struct {
		config  objectstore.Config
		key     string
		missing bool
	}{
		"missing object":                    {config, "not-there", true},
		"prefix of another key":             {config, "the", true},
		"missing bucket":                    {noBucket, "not-there", false},
		"page of a proxy":                   {objectstoretest.Intercept(t, config, page), "not-there", false},
		"page for an object that is listed": {objectstoretest.Intercept(t, config, liar), "there", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bucket := open(t, test.config)
			if _, err := bucket.Stat(t.Context(), test.key); err == nil || errors.Is(err, fs.ErrNotExist) != test.missing {
				t.Errorf("Stat: %v, missing should be %v", err, test.missing)
			}
			if _, _, err := bucket.Get(t.Context(), test.key, 0, ""); err == nil || errors.Is(err, fs.ErrNotExist) != test.missing {
				t.Errorf("Get: %v, missing should be %v", err, test.missing)
			}
		})
	}
}

// TestList_EndsWhenTheStoreDoesNot: a store that always has another page.
func TestList_EndsWhenTheStoreDoesNot(t *testing.T) {
	pages := 0
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pages++
		var text strings.Builder
		text.WriteString(`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>next</NextContinuationToken>`)
		for i := range 1000 {
			fmt.Fprintf(&text, "<Contents><Key>n/%d</Key><Size>1</Size></Contents>", i)
		}
		text.WriteString("</ListBucketResult>")
		_, _ = io.WriteString(w, text.String())
	}))
	defer endless.Close()
	bucket := open(t, objectstore.Config{
		Endpoint: endless.Listener.Addr().String(), Bucket: "artifacts", Region: "r", AccessKey: "a", SecretKey: "s",
	})
	listed, err := bucket.List(t.Context(), "n/")
	if err == nil || len(listed) > 0 || pages > 200 {
		t.Errorf("List returns %d objects, %v, after %d pages", len(listed), err, pages)
	}
}

// TestOpen_SearchesCredentialsOnceForMany: where no service gives any, requests do not wait for each other's search.
func TestOpen_SearchesCredentialsOnceForMany(t *testing.T) {
	withoutCredentials(t)
	asked := make(chan struct{}, 1000)
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		http.Error(w, "role shop is not allowed to", http.StatusForbidden)
	}))
	defer silent.Close()
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", silent.URL)
	bucket := open(t, objectstore.Config{Endpoint: "127.0.0.1:1", Bucket: "artifacts", Region: "r"})
	for range 20 {
		_, err := bucket.Stat(t.Context(), "key")
		if err == nil || !strings.Contains(err.Error(), "no credentials were found") || !strings.Contains(err.Error(), "403") {
			t.Fatalf("Stat: %v, want one that says what the service answered", err)
		}
	}
	if n := len(asked); n != 1 {
		t.Errorf("the service was asked %d times", n)
	}
}
