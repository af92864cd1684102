package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// decisions are what would be pruned if the stage rendered nothing.
func (s *site) decisions(t testing.TB) []inventory.Decision {
	t.Helper()
	var recorded []inventory.Entry
	for _, e := range s.recorded {
		recorded = append(recorded, e)
	}
	live := s.survey(t, nil)
	return inventory.Decide(inventory.PruneInput{Owner: s.owner, Stage: s.stage, Recorded: recorded, Live: live, Prune: true})
}

func (s *site) remove(t testing.TB, decisions []inventory.Decision) apply.Removed {
	t.Helper()
	removed, err := s.applier.Remove(t.Context(), apply.Removal{Cluster: s.cluster, Decisions: decisions})
	if err != nil {
		t.Fatal(err)
	}
	return removed
}

// names are those that are gone, are leaving and have failed, with a sign of which.
func names(removed apply.Removed) []string {
	var all []string
	for _, id := range removed.Gone {
		all = append(all, id.Name+" gone")
	}
	for _, e := range removed.Leaving {
		all = append(all, e.ID.Name+" leaving")
	}
	for id := range removed.Failed {
		all = append(all, id.Name+" failed")
	}
	slices.Sort(all)
	return all
}

func wantRemoved(t *testing.T, removed apply.Removed, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, names(removed), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("removed (-want +got):\n%s%v", diff, removed.Failed)
	}
}

func TestRemove_DeletesAndSeesItGone(t *testing.T) {
	s := newSite(t)
	held := s.object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/hold]}}")
	s.apply(t, s.configMap(t, "one", "1"), s.configMap(t, "two", "1"), held)
	theirs := s.configMap(t, "theirs", "1")
	s.Create(t, theirs)
	wantRemoved(t, s.remove(t, s.decisions(t)), "held leaving", "one gone", "two gone")
	s.read(t, theirs)

	t.Log("what is leaving is waited for, and not deleted again")
	s.requests.take()
	wantRemoved(t, s.remove(t, s.decisions(t)), "held leaving")
	if sent := s.requests.take(); sent["DELETE"] != 0 {
		t.Errorf("it was deleted again: %v", sent)
	}
	free := s.read(t, held)
	free.SetFinalizers(nil)
	if err := s.Client.Update(t.Context(), free); err != nil {
		t.Fatal(err)
	}
	for _, d := range s.decisions(t) {
		if d.Verdict != inventory.Gone {
			t.Errorf("%s is to be %s", d.Entry.ID.Name, d.Verdict)
		}
	}
}

func TestRemove_ObjectThatChangesMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, s *site, now *unstructured.Unstructured)
		want   string
		stays  bool
	}{
		"in a field that does not matter": {
			change: func(t *testing.T, s *site, now *unstructured.Unstructured) {
				now.SetAnnotations(map[string]string{"theirs": "x"})
				update(t, s, now)
			},
			want: "one gone",
		},
		"in a field of ours, by somebody else": {
			change: func(t *testing.T, s *site, now *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(now.Object, "theirs", "data", "a")
				update(t, s, now)
			},
			want: "one gone",
		},
		"by a controller that leads now": {
			change: func(t *testing.T, s *site, now *unstructured.Unstructured) { s.applyLate(t, now) },
			want:   "one failed", stays: true,
		},
		"to another owner": {
			change: func(t *testing.T, s *site, now *unstructured.Unstructured) {
				labels := now.GetLabels()
				labels[stagesv1.NameLabel] = "rival"
				now.SetLabels(labels)
				update(t, s, now)
			},
			want: "one failed", stays: true,
		},
		"to be kept": {
			change: func(t *testing.T, s *site, now *unstructured.Unstructured) {
				now.SetAnnotations(map[string]string{stagesv1.PruneAnnotation: stagesv1.Disabled})
				update(t, s, now)
			},
			want: "one failed", stays: true,
		},
		"for another object": {
			change: func(t *testing.T, s *site, now *unstructured.Unstructured) {
				if err := s.Client.Delete(t.Context(), now); err != nil {
					t.Fatal(err)
				}
				again := s.configMap(t, "one", "theirs")
				again.SetLabels(now.GetLabels())
				s.Create(t, again)
			},
			want: "one gone", stays: true,
		},
		"to nothing": {
			change: func(t *testing.T, s *site, now *unstructured.Unstructured) {
				if err := s.Client.Delete(t.Context(), now); err != nil {
					t.Fatal(err)
				}
			},
			want: "one gone",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			object := s.configMap(t, "one", "1")
			s.apply(t, object)
			decisions := s.decisions(t)
			test.change(t, s, s.read(t, object))
			wantRemoved(t, s.remove(t, decisions), test.want)
			err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(object), s.configMap(t, "one", ""))
			if (err == nil) != test.stays {
				t.Errorf("reading it: %v; want that it stays: %v", err, test.stays)
			}
		})
	}
}

func update(t *testing.T, s *site, object *unstructured.Unstructured) {
	t.Helper()
	if err := s.Client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func TestRemove_WithoutTheRight(t *testing.T) {
	s := newSite(t)
	s.apply(t, s.configMap(t, "one", "1"))
	decisions := s.decisions(t)
	s.act(t, s.NewTenant(t, "deployer", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"},
	}).Config, "ServiceAccount shop/deployer")
	removed := s.remove(t, decisions)
	wantRemoved(t, removed, "one failed")
	denied := wantError[*cluster.DeniedError](t, removed.Failed[decisions[0].Entry.ID])
	if !strings.Contains(denied.Error(), "ServiceAccount shop/deployer may not delete configmaps in namespace "+s.Namespace) {
		t.Errorf("error %q", denied)
	}
}

func TestRemove_ObjectsOfAKindThatIsGone(t *testing.T) {
	s := newSite(t)
	crd, group := definition(t, s, "a: {type: string}")
	object := thing(t, s, group, "a")
	s.until(t, []*unstructured.Unstructured{crd, object}, func(result apply.Result) error {
		if changes(result)["thing"] != "unchanged" {
			return errors.New("it is not there yet")
		}
		return nil
	})
	decisions := s.decisions(t)
	if err := s.Client.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	s.AwaitGone(t, crd.DeepCopy())
	kubetest.Eventually(t, func(context.Context) error {
		if got := names(s.remove(t, decisions)); !slices.Equal(got, []string{"thing gone", crd.GetName() + " gone"}) {
			return errors.New(strings.Join(got, ", "))
		}
		return nil
	})
	for _, d := range s.decisions(t) {
		if d.Verdict != inventory.Gone {
			t.Errorf("%s is to be %s", d.Entry.ID.Name, d.Verdict)
		}
	}
}

func TestRemove_JobGoesWithItsPods(t *testing.T) {
	s := newSite(t)
	s.apply(t, s.object(t, immutables["the template of a Job"].before))
	s.remove(t, s.decisions(t))
	kubetest.Eventually(t, func(context.Context) error {
		if got := s.decisions(t); got[0].Verdict != inventory.Gone {
			return errors.New("it is to be " + string(got[0].Verdict))
		}
		return nil
	})
}
