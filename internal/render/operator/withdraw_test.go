package operator

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// clock is a time that tests set.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) skip(d time.Duration) { c.ahead.Add(int64(d)) }

func (r *rig) stored(t testing.TB, s *renderv1.JsonnetSnippet) int {
	t.Helper()
	found, err := r.local.List(t.Context(), (&scope{snippet: s}).ref())
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// publishedSnippet is one that is Synced.
func (r *rig) publishedSnippet(t *testing.T, changes ...func(*renderv1.JsonnetSnippet)) *renderv1.JsonnetSnippet {
	t.Helper()
	s := snippet("app", main("{}"), changes...)
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonSynced)
	return s
}

func TestDelete_WithdrawsArtifactAndFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	s := r.publishedSnippet(t)
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Suspend = true }) // which does not keep it
	r.awaitReason(t, s, renderv1.ReasonSuspended)
	if err := r.Client.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, s)
	r.AwaitGone(t, &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace}})
	if n := r.stored(t, s); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

func TestDelete_LeavesWhatBelongsToSomebodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	s := r.publishedSnippet(t)
	announced := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace}}
	taken := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace}}
	// Somebody takes the name between two looks of the operator.
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Suspend = true })
	r.awaitReason(t, s, renderv1.ReasonSuspended)
	if err := r.Client.Delete(t.Context(), announced); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, announced)
	r.Create(t, taken)
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Suspend = false })
	r.awaitReason(t, s, renderv1.ReasonArtifactConflict)
	uid, version := taken.UID, taken.ResourceVersion
	if err := r.Client.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, s)
	if err := r.Client.Get(t.Context(), clientKey(taken), taken); err != nil || taken.UID != uid || taken.ResourceVersion != version {
		t.Errorf("the other one's is %s %s, %v; want it untouched", taken.UID, taken.ResourceVersion, err)
	}
}

func TestDelete_WithoutItsAccountEndsAfterTheWait(t *testing.T) {
	t.Parallel()
	c := &clock{}
	r := newRig(t, func(o *Options) { o.Now = c.now; o.Publish.MaxWithdrawWait = time.Hour })
	r.start(t)
	s := r.publishedSnippet(t, r.tenantNamed(t, "gone"))
	if err := r.Client.Delete(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "gone", Namespace: r.Namespace}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Client.Delete(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "gone", Namespace: r.Namespace}}); err != nil {
		t.Fatal(err)
	}
	// What the API server remembers of the account and its role passes in seconds.
	kubetest.Eventually(t, func(ctx context.Context) error {
		c, err := r.options.Tenants.For(r.accountNamed("gone"))
		if err != nil {
			return err
		}
		if err := c.Get(ctx, clientKey(s), &sourcev1.ExternalArtifact{}); err == nil {
			return fmt.Errorf("the account can still read")
		}
		return nil
	})
	if err := r.Client.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r.Await(t, s, func() error {
		for _, ready := range s.Status.Conditions {
			if ready.Type == "Ready" && (ready.Reason == renderv1.ReasonServiceAccountMissing || ready.Reason == renderv1.ReasonAccessDenied) {
				return nil
			}
		}
		return fmt.Errorf("conditions are %+v", s.Status.Conditions)
	})
	c.skip(time.Hour + time.Minute)
	r.AwaitGone(t, s)
	r.awaitEvent(t, s, "Warning", renderv1.ReasonWithdrawForced)
	if n := r.stored(t, s); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

func TestDelete_OfTheNamespaceLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	s := r.publishedSnippet(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}}
	if err := r.Client.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, s)
	if n := r.stored(t, s); n != 0 {
		t.Errorf("%d files are left", n)
	}
	r.AwaitGone(t, namespace)
}

func TestRetention_SupersededRevisionsGoWhenTheirTimeIsUp(t *testing.T) {
	t.Parallel()
	c := &clock{}
	r := newRig(t, func(o *Options) { o.Now = c.now; o.Publish.GCGrace = time.Hour })
	r.start(t)
	s := r.publishedSnippet(t, func(s *renderv1.JsonnetSnippet) { s.Spec.History = 2 })
	for _, text := range []string{"1", "2", "3"} {
		edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Files = main(text) })
		r.awaitRendered(t, s, text)
		r.awaitReason(t, s, renderv1.ReasonSynced)
	}
	r.settle(t)
	if n := r.stored(t, s); n != 4 {
		t.Fatalf("%d revisions are stored within the grace, want 4", n)
	}
	if n := len(s.Status.History); n != 2 || s.Status.History[0].Revision != s.Status.Revision {
		t.Errorf("the history is %+v", s.Status.History)
	}
	c.skip(2 * time.Hour)
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Annotations = texts{"reconcile.fluxcd.io/requestedAt": "later"} })
	kubetest.Eventually(t, func(context.Context) error {
		if n := r.stored(t, s); n != 2 {
			return fmt.Errorf("%d revisions are stored, want those of the history", n)
		}
		return nil
	})
	r.awaitRendered(t, s, "3")
}

func TestRetention_WithoutGraceIsEager(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Publish.GCGrace = 0 })
	r.start(t)
	s := r.publishedSnippet(t)
	edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Files = main("2") })
	r.awaitRendered(t, s, "2")
	kubetest.Eventually(t, func(context.Context) error {
		if n := r.stored(t, s); n != 1 {
			return fmt.Errorf("%d revisions are stored, want 1", n)
		}
		return nil
	})
}
