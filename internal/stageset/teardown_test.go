package stageset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// held is a ConfigMap that stays while it is deleted until somebody takes its finalizer.
func held(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, finalizers: [example.com/held]}", name)
}

func (r *rig) letGo(t testing.TB, name string) {
	t.Helper()
	edit(t, r, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.Namespace}}, func(c *corev1.ConfigMap) {
		c.Finalizers = nil
	})
}

// awaitDeleting waits until a ConfigMap is being deleted.
func (r *rig) awaitDeleting(t testing.TB, name string) {
	t.Helper()
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.Namespace}}
	r.Await(t, c, func() error {
		if c.DeletionTimestamp == nil {
			return fmt.Errorf("%s is not deleted", name)
		}
		return nil
	})
}

func TestTeardown_EachStageIsGoneBeforeTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	for name, foreground := range map[string]bool{"in the background": false, "in the foreground": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.publish(t, "one", configMap("one", "1"), configMap("one-b", "1"))
			r.publish(t, "two", held("two"), configMap("two-b", "1"))
			r.publish(t, "three", held("three"), configMap("three-b", "1"))
			r.start(t)
			set := stageSet("shop", "one", "two", "three")
			before := r.settle(t, set)
			policy := client.PropagationPolicy(metav1.DeletePropagationBackground)
			if foreground {
				policy = client.PropagationPolicy(metav1.DeletePropagationForeground)
			}
			if err := r.Client.Delete(t.Context(), set, policy); err != nil {
				t.Fatal(err)
			}
			r.awaitDeleting(t, "three")
			r.wire.quiet(t)
			r.wantGone(t, before, "three-b")
			r.letGo(t, "three")
			r.awaitDeleting(t, "two")
			r.wire.quiet(t)
			r.wantGone(t, before, "three", "three-b", "two-b")
			r.letGo(t, "two")
			r.AwaitGone(t, set)
			r.wantGone(t, before, "three", "three-b", "two", "two-b", "one", "one-b")
			if left := r.shards(t); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
		})
	}
}

// short makes a teardown give up soon.
func short(o *Options) { o.MaxTeardownWait = 3 * time.Second }

func TestTeardown_IsForcedWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, short)
	r.publish(t, "one", configMap("one", "1"))
	r.publish(t, "two", held("two"), configMap("two-b", "1"))
	r.start(t)
	set := stageSet("shop", "one", "two")
	before := r.settle(t, set)
	r.remove(t, set)
	note := r.awaitEvent(t, set, corev1.EventTypeWarning, stagesv1.EventTeardownForced)
	for _, orphan := range []string{"/one", "/two"} {
		if !strings.Contains(note, orphan) {
			t.Errorf("note %q, want %s in it", note, orphan)
		}
	}
	if strings.Contains(note, "two-b") {
		t.Errorf("note %q names what is gone", note)
	}
	r.wantGone(t, before, "two-b")
	if left := r.shards(t); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	r.letGo(t, "two")
}

func TestTeardown_WithoutAWayToActEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *rig, *stagesv1.StageSet){
		"the ServiceAccount is missing": func(t *testing.T, r *rig, _ *stagesv1.StageSet) {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "tenant", Namespace: r.Namespace}}
			if err := r.Client.Delete(t.Context(), account); err != nil {
				t.Fatal(err)
			}
			kubetest.Eventually(t, r.refused(t)) // tokens are cached
		},
		"the rights are gone": func(t *testing.T, r *rig, _ *stagesv1.StageSet) {
			binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "tenant", Namespace: r.Namespace}}
			if err := r.Client.Delete(t.Context(), binding); err != nil {
				t.Fatal(err)
			}
			kubetest.Eventually(t, r.refused(t)) // roles are cached
		},
		"the kubeconfig is missing": func(t *testing.T, r *rig, set *stagesv1.StageSet) {
			edit(t, r, set, func(set *stagesv1.StageSet) {
				set.Spec.KubeConfig = &fluxmeta.KubeConfigReference{SecretRef: &fluxmeta.SecretKeyReference{Name: "missing"}}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, short)
			r.NewTenant(t, "tenant", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"*"}})
			r.publish(t, "one", configMap("one", "1"))
			r.start(t)
			set := stageSet("shop", "one")
			set.Spec.ServiceAccountName = "tenant"
			before := r.settle(t, set)
			change(t, r, set)
			r.remove(t, set)
			if note := r.awaitEvent(t, set, corev1.EventTypeWarning, stagesv1.EventTeardownForced); !strings.Contains(note, "/one") {
				t.Errorf("note %q names no orphan", note)
			}
			r.wantGone(t, before)
			if left := r.shards(t); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
		})
	}
}

// refused returns a check that the tenant may not read ConfigMaps any more.
func (r *rig) refused(t *testing.T) func(context.Context) error {
	t.Helper()
	config := r.options.Tenants.Config(tenantAccount(r.Namespace))
	c, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) error {
		_, err := c.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(r.Namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			return fmt.Errorf("the tenant may still list ConfigMaps")
		}
		return nil
	}
}

// TestTeardown_NamespaceIsDeleted: what acts in it goes in any order, and there are no new tokens.
func TestTeardown_NamespaceIsDeleted(t *testing.T) {
	t.Parallel()
	for name, account := range map[string]string{"as the controller": "", "as a ServiceAccount that went before": "tenant"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.NewTenant(t, "tenant", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}})
			r.publish(t, "one", configMap("one", "1"), configMap("one-b", "1"))
			r.publish(t, "two", configMap("two", "1"))
			r.start(t)
			set := stageSet("shop", "one", "two")
			set.Spec.ServiceAccountName = account
			r.settle(t, set)
			for _, object := range []client.Object{
				&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}},
				&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "tenant", Namespace: r.Namespace}},
			} {
				if err := client.IgnoreNotFound(r.Client.Delete(t.Context(), object)); err != nil {
					t.Fatal(err)
				}
			}
			kubetest.Eventually(t, r.refused(t)) // tokens are cached
			if err := client.IgnoreNotFound(r.Client.Delete(t.Context(), set)); err != nil {
				t.Fatal(err)
			}
			r.AwaitGone(t, set)
			kubetest.Eventually(t, func(context.Context) error {
				if left := r.shards(t); len(left) > 0 {
					return fmt.Errorf("inventories are left: %v", left)
				}
				return nil
			})
		})
	}
}

func TestTeardown_SuspendedLeavesObjects(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "one", configMap("one", "1"), configMap("one-b", "1"))
	r.start(t)
	set := stageSet("shop", "one")
	before := r.settle(t, set)
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Suspend = true })
	r.remove(t, set)
	r.awaitEvent(t, set, corev1.EventTypeNormal, stagesv1.EventObjectsLeft)
	r.wantGone(t, before)
	if left := r.shards(t); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestTeardown_CutAfterEveryWriteAnotherProcessFinishes: nothing stays but what is somebody else's.
func TestTeardown_CutAfterEveryWriteAnotherProcessFinishes(t *testing.T) {
	t.Parallel()
	const most = 40 // writes of the whole teardown
	eachCut(t, most, func(t *testing.T, writes int64) bool {
		r := newRig(t)
		r.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bystander"}})
		r.publish(t, "one", configMap("one", "1"), configMap("one-b", "1"))
		r.publish(t, "two", configMap("two", "1"))
		stop := r.start(t)
		set := stageSet("shop", "one", "two")
		before := r.settle(t, set)
		r.wire.quiet(t)
		cut := r.wire.cutAfter(writes)
		if err := r.Client.Delete(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		kubetest.Eventually(t, func(ctx context.Context) error {
			if err := r.Client.Get(ctx, client.ObjectKeyFromObject(set), set); err != nil || cut.Load() {
				return client.IgnoreNotFound(err)
			}
			return fmt.Errorf("neither cut off nor gone")
		})
		stop()
		r.wire.setStop(nil)
		r.start(t)
		r.AwaitGone(t, set)
		r.wantGone(t, before, "one", "one-b", "two")
		if left := r.shards(t); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
		return cut.Load()
	})
}

func TestTeardown_OrderOfRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var stages []string
	for _, name := range []string{"s0", "s1", "s2"} {
		r.publish(t, name, numbered(name, 3)...)
		stages = append(stages, name)
	}
	r.start(t)
	set := stageSet("shop", stages...)
	r.settle(t, set)
	r.remove(t, set)
	var order []string
	for _, name := range deletions(r.wire.take()) {
		stage, _, _ := strings.Cut(name, "-")
		order = append(order, stage)
	}
	want := slices.Concat(slices.Repeat([]string{"s2"}, 3), slices.Repeat([]string{"s1"}, 3), slices.Repeat([]string{"s0"}, 3))
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
}

func tenantAccount(namespace string) tenant.Account {
	return tenant.Account{Namespace: namespace, Name: "tenant"}
}
