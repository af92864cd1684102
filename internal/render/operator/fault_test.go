package operator

import (
	"context"
	"errors"
	"fmt"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// noWatches is for controllers without a manager.
type noWatches struct{}

func (noWatches) Set(types.NamespacedName, []objectwatch.Need) bool { return true }

// process is a controller that has just been started, without a manager: the test says when it runs.
func (r *rig) process(t testing.TB) *snippets {
	t.Helper()
	options, err := r.options.complete()
	if err != nil {
		t.Fatal(err)
	}
	options.Evaluator = newEngine(r.engineLimits())
	c, err := client.New(r.calls.config(r.Config), client.Options{Scheme: r.Scheme, Mapper: r.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return &snippets{
		options: options, client: c, memory: &memory{}, watches: noWatches{},
		exit: reconcile.NewExit(reconcile.Options{
			Client: c, Live: c, Reasons: reconcile.Reasons{Success: renderv1.ReasonSynced, Failure: renderv1.ReasonProgressing},
		}),
	}
}

var errKilled = errors.New("the process was killed")

// killAfter lets a number of calls through and none after them. With lost, the last one is made and its answer is lost.
// It returns whether the process lived to make more.
func (c *calls) killAfter(n int, lost bool) (killed func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, dead := 0, false
	c.stop = func(string) error {
		if made++; dead || made > n && !lost {
			dead = true
			return errKilled
		}
		return nil
	}
	c.lose = func(string) error {
		if lost && made > n {
			dead = true
			return errKilled
		}
		return nil
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stop, c.lose = nil, nil
		return dead
	}
}

// checkConsistent: what is announced, and what is Ready, can be fetched with its digest.
func (r *rig) checkConsistent(ctx context.Context, key types.NamespacedName) error {
	announced := &sourcev1.ExternalArtifact{}
	if err := r.Client.Get(ctx, key, announced); client.IgnoreNotFound(err) != nil {
		return err
	}
	if announced.Status.Artifact != nil {
		if _, err := fetchArtifact(ctx, announced.Status.Artifact); err != nil {
			return fmt.Errorf("what is announced cannot be fetched: %w", err)
		}
	}
	s := &renderv1.JsonnetSnippet{}
	if err := r.Client.Get(ctx, key, s); err != nil {
		return client.IgnoreNotFound(err)
	}
	if meta.IsStatusConditionTrue(s.Status.Conditions, "Ready") {
		if _, err := artifact.NewFetcher(kubetest.FastFetches()).Fetch(ctx, s.Status.ArtifactURL, s.Status.History[0].Digest); err != nil {
			return fmt.Errorf("what is Ready cannot be fetched: %w", err)
		}
	}
	return nil
}

// finish reconciles with a new process until the check is content.
func (r *rig) finish(t *testing.T, key types.NamespacedName, done func() error) {
	t.Helper()
	c := r.process(t)
	var last error
	for range 10 {
		_, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if last = errors.Join(err, done()); last == nil {
			return
		}
	}
	t.Fatalf("the next process did not finish: %v", last)
}

func TestKill_BetweenAnyTwoCallsAnotherProcessFinishes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, r *rig, s *renderv1.JsonnetSnippet) // what the killed process was to do
		want   string                                                 // rendered then; "" for nothing at all
	}{
		"first publication": {nil, "1"},
		"another revision": {func(t *testing.T, r *rig, s *renderv1.JsonnetSnippet) {
			edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Files = main("2") })
		}, "2"},
		"a deletion": {func(t *testing.T, r *rig, s *renderv1.JsonnetSnippet) {
			if err := r.Client.Delete(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, answer lost %v", name, lost), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(o *Options) { o.Publish.GCGrace = 0 })
				for n := 0; ; n++ {
					if n > 100 {
						t.Fatal("the run has no end")
					}
					s := snippet(fmt.Sprintf("app-%d", n), main("1"))
					r.Create(t, s)
					key := clientKey(s)
					if c.change != nil {
						r.finish(t, key, func() error { return r.isRendered(t.Context(), key, "1") })
						c.change(t, r, s)
					}
					doomed := r.process(t)
					killed := r.calls.killAfter(n, lost)
					_, err := doomed.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
					dead := killed()
					if err := r.checkConsistent(t.Context(), key); err != nil {
						t.Errorf("killed after %d calls: %v", n, err)
					}
					r.finish(t, key, func() error { return errors.Join(r.isRendered(t.Context(), key, c.want), r.leaves(t, s, c.want)) })
					if err := r.checkConsistent(t.Context(), key); err != nil {
						t.Errorf("finished after a kill after %d calls: %v", n, err)
					}
					if !dead {
						if n < 2 || err != nil {
							t.Errorf("a run of %d calls ended with %v", n, err)
						}
						return
					}
				}
			})
		}
	}
}

// leaves says whether the storage has what is published and nothing else.
func (r *rig) leaves(t *testing.T, s *renderv1.JsonnetSnippet, published string) error {
	t.Helper()
	if n, want := r.stored(t, s), min(len(published), 1); n != want {
		return fmt.Errorf("%d files are stored, want %d", n, want)
	}
	return nil
}

// isRendered says whether a snippet is Ready with a result, or everything of it is gone.
func (r *rig) isRendered(ctx context.Context, key types.NamespacedName, want string) error {
	s := &renderv1.JsonnetSnippet{}
	err := r.Client.Get(ctx, key, s)
	announced := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
	found := r.Client.Get(ctx, key, announced)
	if want == "" {
		if apierrors.IsNotFound(err) && apierrors.IsNotFound(found) {
			return nil
		}
		return fmt.Errorf("something is left: snippet %w, artifact %w", err, found)
	}
	if err = errors.Join(err, found); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(s.Status.Conditions, "Ready") || s.Status.ObservedGeneration != s.Generation {
		return fmt.Errorf("conditions are %+v", s.Status.Conditions)
	}
	files, err := fetchArtifact(ctx, announced.Status.Artifact)
	if err == nil && string(files["rendered.json"]) != want+"\n" {
		err = fmt.Errorf("rendered %q", files["rendered.json"])
	}
	return err
}

func TestStorage_FailsAndComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	s := r.publishedSnippet(t)
	r.calls.setStop(func(what string) error {
		if what == "store put" || what == "store stat" {
			return errors.New("the bucket does not answer")
		}
		return nil
	})
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Files = main(`"next"`) })
	r.awaitReason(t, s, renderv1.ReasonStorageFailed)
	r.awaitRendered(t, s, "{ }") // the last good one
	r.calls.setStop(nil)
	r.awaitRendered(t, s, "next")
	r.awaitReason(t, s, renderv1.ReasonSynced)
}
