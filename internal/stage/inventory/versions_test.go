package inventory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// asking notes which resource version each list has to have at least, and may refuse one of these. Lists may say as of which
// version they are, as those of an API server do.
type asking struct {
	asked  []string
	refuse error
	as     string
}

func (a *asking) store(t *testing.T, inner client.Client) *inventory.Store {
	t.Helper()
	watching, ok := inner.(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot watch")
	}
	reader := interceptor.NewClient(watching, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			var options client.ListOptions
			options.ApplyOptions(opts)
			version := ""
			if options.Raw != nil && options.Raw.ResourceVersion != "" {
				version = options.Raw.ResourceVersion
				if options.Raw.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan {
					t.Errorf("version %s is asked for with %q", version, options.Raw.ResourceVersionMatch)
				}
			}
			a.asked = append(a.asked, version)
			if version != "" && a.refuse != nil {
				return a.refuse
			}
			err := c.List(ctx, list, opts...)
			list.SetResourceVersion(a.as)
			return err
		},
	})
	return inventory.NewStore(inventory.StoreOptions{Client: inner, Reader: reader, ShardCap: 5})
}

func (a *asking) take() []string {
	asked := a.asked
	a.asked = nil
	return asked
}

func TestLoad_AsksForNothingOlderThanWhatItWrote(t *testing.T) {
	m := newMemory(t)
	a := &asking{}
	s := a.store(t, m.client)
	current := []string{""}
	load(t, s, shop)
	if diff := cmp.Diff(current, a.take()); diff != "" {
		t.Errorf("a store that has written nothing (-want +got):\n%s", diff)
	}
	stage := inventory.Stage{Name: "web", Entries: entriesOf(7), Shards: 2}
	save(t, s, shop, stage)
	a.take()
	if diff := cmp.Diff([]inventory.Stage{stage}, load(t, s, shop)); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{shards(t, m.client)[1].ResourceVersion}, a.take()); diff != "" {
		t.Errorf("after writing (-want +got):\n%s", diff)
	}
	other := inventory.Owner{Namespace: shop.Namespace, Name: shop.Name, UID: "another"}
	load(t, s, other)
	if diff := cmp.Diff(current, a.take()); diff != "" {
		t.Errorf("a StageSet of the same name (-want +got):\n%s", diff)
	}
	save(t, s, shop, inventory.Stage{Name: "web"})
	a.take()
	load(t, s, shop)
	if diff := cmp.Diff(current, a.take()); diff != "" {
		t.Errorf("after deleting (-want +got):\n%s", diff)
	}
}

func TestLoad_AsksForNothingOlderThanWhatItRead(t *testing.T) {
	m := newMemory(t)
	a := &asking{as: "100"}
	s := a.store(t, m.client)
	load(t, s, shop)
	a.as = "90" // of an API server that is behind
	load(t, s, shop)
	load(t, s, shop)
	if diff := cmp.Diff([]string{"", "100", "100"}, a.take()); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	a.as = "110"
	load(t, s, shop)
	save(t, s, shop, inventory.Stage{Name: "web", Entries: entriesOf(3)})
	a.take()
	save(t, s, shop, inventory.Stage{Name: "web"})
	a.take()
	load(t, s, shop)
	if diff := cmp.Diff([]string{""}, a.take()); diff != "" {
		t.Errorf("after deleting (-want +got):\n%s", diff)
	}
}

func TestLoad_VersionThatTheAPIServerDoesNotHave(t *testing.T) {
	m := newMemory(t)
	a := &asking{refuse: apierrors.NewTimeoutError("Too large resource version", 1)}
	s := a.store(t, m.client)
	stage := inventory.Stage{Name: "web", Entries: entriesOf(3), Shards: 1}
	save(t, s, shop, stage)
	a.take()
	for range 2 {
		if diff := cmp.Diff([]inventory.Stage{stage}, load(t, s, shop)); diff != "" {
			t.Errorf("inventory (-want +got):\n%s", diff)
		}
	}
	asked := a.take()
	if len(asked) != 3 || asked[0] == "" || asked[1] != "" || asked[2] != "" {
		t.Errorf("asked for %q, want a version once and then what is current", asked)
	}
}

// TestSave_OfOneThatLeadsNoMore: another controller has written since it has read.
func TestSave_OfOneThatLeadsNoMore(t *testing.T) {
	for name, test := range map[string]struct{ before, after, late []inventory.Entry }{
		"an entry more":     {before: entriesOf(3), after: entriesOf(4), late: entriesOf(2)},
		"a shard more":      {before: entriesOf(5), after: entriesOf(8), late: entriesOf(4)},
		"the first entries": {after: entriesOf(3), late: entriesOf(2)},
		"nothing to delete": {before: entriesOf(3), after: entriesOf(4), late: nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			old, young := m.store(5), m.store(5)
			save(t, old, shop, inventory.Stage{Name: "web", Entries: test.before})
			load(t, old, shop)
			load(t, young, shop)
			save(t, young, shop, inventory.Stage{Name: "web", Entries: test.after})
			if _, err := old.Save(t.Context(), shop, inventory.Stage{Name: "web", Entries: test.late}); !apierrors.IsConflict(err) {
				t.Errorf("error %v, want a conflict", err)
			}
			if diff := cmp.Diff(test.after, load(t, old, shop)[0].Entries); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			save(t, old, shop, inventory.Stage{Name: "web", Entries: test.late}) // it knows of them by now
		})
	}
}

func TestSave_AfterAnErrorNothingIsKnown(t *testing.T) {
	m := newMemory(t)
	a := &asking{}
	s := a.store(t, m.client)
	save(t, s, shop, inventory.Stage{Name: "web", Entries: entriesOf(3)})
	m.refuse = errors.New("the answer is lost")
	if _, err := s.Save(t.Context(), shop, inventory.Stage{Name: "web", Entries: entriesOf(5)}); err == nil {
		t.Fatal("the error is lost")
	}
	a.take()
	load(t, s, shop)
	if asked := a.take(); len(asked) != 1 || asked[0] != "" {
		t.Errorf("asked for %q, want what is current", asked)
	}
}
