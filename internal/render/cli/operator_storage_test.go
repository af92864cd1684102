package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/objectstore/objectstoretest"
)

// TestBelowBase_ServesWhatIsPublished: a URL is the base URL with the path of an artifact behind it, however the base URL is
// written; a proxy may take the base's path away.
func TestBelowBase_ServesWhatIsPublished(t *testing.T) {
	t.Parallel()
	artifact := "/shop/hello/" + strings.Repeat("0123456789abcdef", 4) + ".tar.gz"
	for _, base := range []string{
		"http://x", "http://x/", "http://x/a", "http://x/a/", "http://x//a/b//", "http://x/a%20b", "http://x/%7Ea", "http://x/a%2Fb", "http://x/ü",
		"http://x/shop", // as a namespace is called, too
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			parsed, err := url.Parse(base)
			if err != nil {
				t.Fatal(err)
			}
			asked := ""
			handler := belowBase(parsed, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = r.URL.Path }))
			for _, published := range []string{strings.TrimRight(base, "/") + artifact, "http://x" + artifact} {
				asked = ""
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, published, http.NoBody))
				if asked != artifact {
					t.Errorf("%s asks the store for %q, want %q", published, asked, artifact)
				}
			}
		})
	}
}

// TestOperator_OutlivesTheObjectStore: a snippet that cannot be stored says so, what was published is served on, and when
// the store is back the work goes on in the same process.
func TestOperator_OutlivesTheObjectStore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var down atomic.Bool
	store := objectstoretest.Intercept(t, objectstoretest.Start(t), func(w http.ResponseWriter, _ *http.Request) bool {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return down.Load()
	})
	o := p.start(t, "--storage-backend=s3", "--s3-use-ssl=false", "--s3-endpoint="+store.Endpoint, "--s3-bucket="+store.Bucket,
		"--s3-region="+store.Region, "--s3-access-key="+store.AccessKey, "--s3-secret-key="+store.SecretKey)
	s := snippet("hello", "1")
	p.Create(t, s)
	p.published(t, s)
	first := s.Status.ArtifactURL

	down.Store(true)
	p.edit(t, s, "2")
	p.Await(t, s, func() error {
		ready := meta.FindStatusCondition(s.Status.Conditions, renderv1.ReadyCondition)
		if ready == nil || ready.Reason != renderv1.ReasonStorageFailed {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
	if code, _, err := kubetest.Get(t.Context(), first); err != nil || code != http.StatusOK || s.Status.ArtifactURL != first {
		t.Errorf("the last good artifact: %d %v, and the status names %s", code, err, s.Status.ArtifactURL)
	}

	down.Store(false)
	p.published(t, s)
	if s.Status.ArtifactURL == first {
		t.Errorf("nothing new is published: %+v", s.Status)
	}
	kubetest.Eventually(t, func(ctx context.Context) error {
		if code, _, err := kubetest.Get(ctx, s.Status.ArtifactURL); err != nil || code != http.StatusOK {
			return fmt.Errorf("the new artifact: %d %w", code, err)
		}
		return nil
	})
	o.Stop(t)
}
