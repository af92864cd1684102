package crdwatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

var (
	shop = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}
	cart = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cart"}
)

// diary notes what a watcher tells, and may refuse it.
type diary struct {
	mu      sync.Mutex
	entries []string
	refuse  int
}

func (d *diary) note(_ context.Context, change Change) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse > 0 {
		d.refuse--
		return errors.New("not now")
	}
	d.entries = append(d.entries, fmt.Sprintf("%s %v", change.Kind.Kind, change.Available))
	return nil
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.entries...)
}

func TestTell_EachChangeOnce(t *testing.T) {
	type state = map[schema.GroupVersionKind]types.UID
	for name, c := range map[string]struct {
		states []state
		want   []string
	}{
		"never there":        {[]state{{}, {}}, nil},
		"there, and stays":   {[]state{{shop: "1"}, {shop: "1"}}, []string{"Shop true"}},
		"comes and goes":     {[]state{{}, {shop: "1"}, {}, {}}, []string{"Shop true", "Shop false"}},
		"made anew unseen":   {[]state{{shop: "1"}, {shop: "2"}}, []string{"Shop true", "Shop false", "Shop true"}},
		"two kinds":          {[]state{{shop: "1", cart: "2"}, {cart: "2"}}, []string{"Shop true", "Cart true", "Shop false"}},
		"nobody asked for":   {[]state{{shop.GroupKind().WithVersion("v2"): "1"}}, nil},
		"goes before anyone": {[]state{{shop: "1"}, {}, {shop: "1"}}, []string{"Shop true", "Shop false", "Shop true"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			w := New(nil, d.note, shop, cart)
			for _, s := range c.states {
				if err := w.tell(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, d.read()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFollow_TellsAgainWhatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{refuse: 2}
		w := New(nil, d.note, shop)
		var group sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		group.Go(func() {
			w.follow(ctx, make(chan struct{}), func() map[schema.GroupVersionKind]types.UID {
				return map[schema.GroupVersionKind]types.UID{shop: "1"}
			})
		})
		time.Sleep(firstRetry + 2*firstRetry) // of the test's own clock
		synctest.Wait()
		if diff := cmp.Diff([]string{"Shop true"}, d.read()); diff != "" {
			t.Error(diff)
		}
		cancel()
		group.Wait()
	})
}

func TestAvailable(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*definition)
		want bool
	}{
		"established":     {func(*definition) {}, true},
		"not established": {func(d *definition) { d.Status.Conditions[0].Status = metav1.ConditionFalse }, false},
		"too new":         {func(d *definition) { d.Status.Conditions = nil }, false},
		"not served":      {func(d *definition) { d.Spec.Versions[0].Served = false }, false},
		"terminating":     {func(d *definition) { d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false},
	} {
		d, err := parse(crd("example.com"))
		if err != nil {
			t.Fatal(err)
		}
		d.UID = "1"
		d.Status.Conditions = []metav1.Condition{{Type: "Established", Status: metav1.ConditionTrue}}
		c.edit(d)
		if got := d.available()[shop] == "1"; got != c.want {
			t.Errorf("%s: available %v, want %v", name, got, c.want)
		}
	}
}

func TestWithoutSchema_KeepsWhatIsLookedAt(t *testing.T) {
	object := crd("example.com")
	slim, err := withoutSchema(object)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{map[string]any{"name": "v1", "served": true, "storage": true}}
	got, _, _ := unstructured.NestedSlice(slim.(*unstructured.Unstructured).Object, "spec", "versions")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStart_FollowsADefinition(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	group := e.Namespace + ".example.com" // definitions are of the cluster, which tests share
	c, err := dynamic.NewForConfig(e.Config)
	if err != nil {
		t.Fatal(err)
	}
	d := &diary{}
	w := New(c, d.note, schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Shop"})
	var running sync.WaitGroup
	running.Go(func() { _ = w.Start(t.Context()) })
	t.Cleanup(running.Wait) // after the test's context

	awaitDiary := func(want ...string) {
		t.Helper()
		kubetest.Eventually(t, func(context.Context) error {
			if diff := cmp.Diff(want, d.read()); diff != "" {
				return errors.New(diff)
			}
			return nil
		})
	}
	object := crd(group)
	e.Create(t, object)
	t.Cleanup(func() { _ = client.IgnoreNotFound(e.Client.Delete(context.Background(), object)) })
	awaitDiary("Shop true")
	if err := e.Client.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	awaitDiary("Shop true", "Shop false")
	e.AwaitGone(t, object)
	object = crd(group)
	e.Create(t, object)
	awaitDiary("Shop true", "Shop false", "Shop true")
}

// crd returns a definition of Shop in a group.
func crd(group string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "shops." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"kind": "Shop", "listKind": "ShopList", "plural": "shops", "singular": "shop"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}}
}
