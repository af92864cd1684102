package inventory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

var shop = inventory.Owner{Namespace: "prod", Name: "shop", UID: "owner-1"}

func configMap(name string) inventory.ID {
	return inventory.ID{Namespace: "prod", Name: name, Kind: "ConfigMap"}
}

func entry(id inventory.ID, uid types.UID) inventory.Entry {
	return inventory.Entry{ID: id, Version: "v1", UID: uid}
}

// ours is an object as stage web has applied it.
func ours(uid types.UID) inventory.Live {
	return inventory.Live{
		UID: uid, ResourceVersion: "7", Labels: shop.Labels("web"),
		Managed: []metav1.ManagedFieldsEntry{{Manager: stagesv1.FieldManager, Operation: metav1.ManagedFieldsOperationApply}},
	}
}

func with(live inventory.Live, change func(*inventory.Live)) inventory.Live {
	change(&live)
	return live
}

func label(key, value string) func(*inventory.Live) {
	return func(live *inventory.Live) {
		labels := map[string]string{}
		for k, v := range live.Labels {
			labels[k] = v
		}
		labels[key] = value
		live.Labels = labels
	}
}

func TestDecide_OneObject(t *testing.T) {
	one := configMap("one")
	for name, test := range map[string]struct {
		uid      types.UID // recorded
		live     *inventory.Live
		rendered map[inventory.ID]string
		change   func(*inventory.PruneInput)
		want     inventory.Verdict
		reason   string
	}{
		"ours, with the recorded UID": {
			uid: "u", live: new(ours("u")), want: inventory.Delete, reason: "it is rendered no more",
		},
		"it does not exist": {uid: "u", want: inventory.Gone, reason: "it does not exist"},
		"another stage renders it": {
			uid: "u", live: new(ours("u")), rendered: map[inventory.ID]string{one: "api"},
			want: inventory.HandOver, reason: "stage api renders it",
		},
		"another stage renders it, and somebody has replaced it": {
			uid: "u", live: new(ours("v")), rendered: map[inventory.ID]string{one: "api"},
			want: inventory.HandOver, reason: "stage api renders it",
		},
		"another stage renders it, and has not applied it yet": {
			uid: "u", rendered: map[inventory.ID]string{one: "api"}, want: inventory.HandOver, reason: "stage api renders it",
		},
		"it was applied by another stage that renders it no more either": {
			uid: "u", live: new(with(ours("u"), label(stagesv1.StageLabel, "api"))),
			want: inventory.Delete, reason: "it is rendered no more",
		},
		"made anew by somebody else, with our labels copied": {
			uid: "u", live: new(ours("v")), want: inventory.Release, reason: "it is another object of the same name",
		},
		"another StageSet's": {
			uid: "u", live: new(with(ours("u"), label(stagesv1.NameLabel, "rival"))),
			want: inventory.Release, reason: "it belongs to StageSet prod/rival",
		},
		"that of a StageSet of our name in another namespace": {
			uid: "u", live: new(with(ours("u"), label(stagesv1.NamespaceLabel, "dev"))),
			want: inventory.Release, reason: "it belongs to StageSet dev/shop",
		},
		"without labels": {
			uid: "u", live: &inventory.Live{UID: "u"},
			want: inventory.Release, reason: "it does not carry the labels of a StageSet",
		},
		"with one label of two": {
			uid: "u", live: new(with(ours("u"), label(stagesv1.NamespaceLabel, ""))),
			want: inventory.Release, reason: "it does not carry the labels of a StageSet",
		},
		"annotated to be kept": {
			uid: "u", live: new(with(ours("u"), func(l *inventory.Live) {
				l.Annotations = map[string]string{stagesv1.PruneAnnotation: stagesv1.Disabled}
			})),
			want: inventory.Release, reason: "it is annotated stages.stagewright.dev/prune: disabled",
		},
		"pruning is off": {
			uid: "u", live: new(ours("u")), change: func(in *inventory.PruneInput) { in.Prune = false },
			want: inventory.Release, reason: "prune is off for the stage",
		},
		"pruning is off, in a teardown": {
			uid: "u", live: new(ours("u")),
			change: func(in *inventory.PruneInput) { in.Prune, in.Teardown = false, true },
			want:   inventory.Release, reason: "prune is off for the stage",
		},
		"on its way out": {
			uid: "u", live: new(with(ours("u"), func(l *inventory.Live) { l.Deleting = true })),
			change: func(in *inventory.PruneInput) { in.Guarded, in.Empty = true, true },
			want:   inventory.Delete, reason: "it is rendered no more",
		},
		"written ahead and applied before a crash": {
			live: new(ours("u")), want: inventory.Delete, reason: "it is rendered no more",
		},
		"written ahead, and a foreign object has the name": {
			live: &inventory.Live{UID: "u"},
			want: inventory.Release, reason: "it does not carry the labels of a StageSet",
		},
		"written ahead, and another stage's object has the name": {
			live: new(with(ours("u"), label(stagesv1.StageLabel, "api"))),
			want: inventory.Release, reason: "this stage has not applied it",
		},
		"written ahead, and somebody made an object with our labels": {
			live: new(with(ours("u"), func(l *inventory.Live) { l.Managed = nil })),
			want: inventory.Release, reason: "it was never seen as applied",
		},
		"written ahead, and our manager has only updated it": {
			live: new(with(ours("u"), func(l *inventory.Live) {
				l.Managed = []metav1.ManagedFieldsEntry{{
					Manager: stagesv1.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate,
				}}
			})),
			want: inventory.Release, reason: "it was never seen as applied",
		},
		"everything, by an empty render": {
			uid: "u", live: new(ours("u")), change: func(in *inventory.PruneInput) { in.Guarded, in.Empty = true, true },
			want: inventory.Hold, reason: "the stage renders nothing at all",
		},
		"everything, by an empty render that was approved": {
			uid: "u", live: new(ours("u")), change: func(in *inventory.PruneInput) { in.Empty = true },
			want: inventory.Delete, reason: "it is rendered no more",
		},
		"everything, in a teardown": {
			uid: "u", live: new(ours("u")),
			change: func(in *inventory.PruneInput) { in.Guarded, in.Empty, in.Teardown = true, true, true },
			want:   inventory.Delete, reason: "it is rendered no more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := inventory.PruneInput{
				Owner: shop, Stage: "web", Recorded: []inventory.Entry{entry(one, test.uid)}, Rendered: test.rendered, Prune: true,
				Live: map[inventory.ID]inventory.Live{},
			}
			want := inventory.Decision{Entry: in.Recorded[0], Verdict: test.want, Reason: test.reason}
			if test.live != nil {
				in.Live[one] = *test.live
				if test.want != inventory.Release && !strings.HasSuffix(name, "replaced it") {
					want.Live = *test.live
				}
			}
			if test.change != nil {
				test.change(&in)
			}
			if diff := cmp.Diff([]inventory.Decision{want}, inventory.Decide(in)); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecide_RenderedObjectsAreNoCandidates(t *testing.T) {
	one := configMap("one")
	in := inventory.PruneInput{
		Owner: shop, Stage: "web", Recorded: []inventory.Entry{entry(one, "u")}, Prune: true,
		Rendered: map[inventory.ID]string{one: "web"}, Live: map[inventory.ID]inventory.Live{one: ours("u")},
	}
	if got := inventory.Decide(in); len(got) != 0 {
		t.Errorf("decisions %v", got)
	}
}

// stock is a stage with many ConfigMaps, of which some are rendered.
func stock(recorded, rendered int) inventory.PruneInput {
	in := inventory.PruneInput{
		Owner: shop, Stage: "web", Prune: true, Guarded: true, Empty: rendered == 0,
		Rendered: map[inventory.ID]string{}, Live: map[inventory.ID]inventory.Live{},
	}
	for i := range recorded {
		id := configMap(fmt.Sprintf("c%03d", i))
		uid := types.UID(fmt.Sprint(i))
		in.Recorded = append(in.Recorded, entry(id, uid))
		if i < rendered {
			in.Rendered[id] = "web"
		} else {
			in.Live[id] = ours(uid)
		}
	}
	return in
}

func count(decisions []inventory.Decision) map[inventory.Verdict]int {
	counts := map[inventory.Verdict]int{}
	for _, d := range decisions {
		counts[d.Verdict]++
	}
	return counts
}

func TestDecide_Shrink(t *testing.T) {
	for name, test := range map[string]struct {
		recorded, rendered int
		change             func(*inventory.PruneInput)
		want               map[inventory.Verdict]int
	}{
		"by ninety per cent is held":           {recorded: 100, rendered: 10, want: map[inventory.Verdict]int{inventory.Hold: 90}},
		"by 21 of 41 is held":                  {recorded: 41, rendered: 20, want: map[inventory.Verdict]int{inventory.Hold: 21}},
		"by 21 of 42, which is half, is not":   {recorded: 42, rendered: 21, want: map[inventory.Verdict]int{inventory.Delete: 21}},
		"by 20 of 21, which are few, is not":   {recorded: 21, rendered: 1, want: map[inventory.Verdict]int{inventory.Delete: 20}},
		"to nothing is held, however few":      {recorded: 1, rendered: 0, want: map[inventory.Verdict]int{inventory.Hold: 1}},
		"that is approved is not":              {recorded: 100, rendered: 10, change: func(in *inventory.PruneInput) { in.Guarded = false }, want: map[inventory.Verdict]int{inventory.Delete: 90}},
		"in a teardown is not":                 {recorded: 100, rendered: 10, change: func(in *inventory.PruneInput) { in.Teardown = true }, want: map[inventory.Verdict]int{inventory.Delete: 90}},
		"of objects that go elsewhere is none": {recorded: 100, rendered: 10, change: func(in *inventory.PruneInput) { elsewhere(in, 80) }, want: map[inventory.Verdict]int{inventory.HandOver: 80, inventory.Delete: 10}},
		"that goes on is not held half-way":    {recorded: 100, rendered: 10, change: func(in *inventory.PruneInput) { leaving(in, 80) }, want: map[inventory.Verdict]int{inventory.Delete: 90}},
	} {
		t.Run(name, func(t *testing.T) {
			in := stock(test.recorded, test.rendered)
			if test.change != nil {
				test.change(&in)
			}
			if diff := cmp.Diff(test.want, count(inventory.Decide(in))); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
		})
	}
}

func elsewhere(in *inventory.PruneInput, n int) {
	for _, e := range in.Recorded {
		if in.Rendered[e.ID] == "" && n > 0 {
			in.Rendered[e.ID] = "api"
			n--
		}
	}
}

func leaving(in *inventory.PruneInput, n int) {
	for _, e := range in.Recorded {
		if live, ok := in.Live[e.ID]; ok && n > 0 {
			live.Deleting = true
			in.Live[e.ID] = live
			n--
		}
	}
}

func TestDecide_StatefulObjectsAreHeldAndTheRestGoes(t *testing.T) {
	stateful := []inventory.ID{
		{Name: "data", Kind: "Namespace"},
		{Name: "disk", Kind: "PersistentVolume"},
		{Namespace: "prod", Name: "claim", Kind: "PersistentVolumeClaim"},
		{Name: "things.example.com", Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	}
	in := stock(3, 1)
	for _, id := range append(slices.Clone(stateful), inventory.ID{Name: "mine", Group: "example.com", Kind: "Namespace"}) {
		in.Recorded = append(in.Recorded, entry(id, "s"))
		in.Live[id] = ours("s")
	}
	for _, d := range inventory.Decide(in) {
		want := inventory.Delete
		if slices.Contains(stateful, d.Entry.ID) {
			want = inventory.Hold
		}
		if d.Verdict != want || d.Live.ResourceVersion != "7" {
			t.Errorf("%s: %s with %+v, want %s", d.Entry.ID, d.Verdict, d.Live, want)
		}
	}
}

func TestDecide_ReversesTheOrderOfApplying(t *testing.T) {
	ids := []inventory.ID{
		{Name: "hook", Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"},
		{Namespace: "prod", Name: "thing", Group: "example.com", Kind: "Thing"},
		{Namespace: "prod", Name: "app", Group: "apps", Kind: "Deployment"},
		{Namespace: "prod", Name: "config", Kind: "ConfigMap"},
		{Namespace: "prod", Name: "robot", Kind: "ServiceAccount"},
		{Name: "prod", Kind: "Namespace"},
		{Name: "things.example.com", Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	}
	in := inventory.PruneInput{Owner: shop, Stage: "web", Prune: true, Teardown: true, Live: map[inventory.ID]inventory.Live{}}
	for _, i := range []int{3, 0, 6, 2, 5, 1, 4} {
		in.Recorded = append(in.Recorded, entry(ids[i], "u"))
		in.Live[ids[i]] = ours("u")
	}
	var got []inventory.ID
	for _, d := range inventory.Decide(in) {
		got = append(got, d.Entry.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestDecide_DeletesOnlyWhatIsProvablyOurs holds for any input, forged inventories included.
func TestDecide_DeletesOnlyWhatIsProvablyOurs(t *testing.T) {
	names := rapid.SampledFrom([]string{"", "shop", "rival"})
	uids := rapid.SampledFrom([]types.UID{"", "u", "v"})
	stages := rapid.SampledFrom([]string{"", "web", "api"})
	rapid.Check(t, func(t *rapid.T) {
		id := configMap("one")
		live := inventory.Live{
			UID: rapid.SampledFrom([]types.UID{"u", "v"}).Draw(t, "live uid"),
			Labels: map[string]string{
				stagesv1.NameLabel: names.Draw(t, "name"), stagesv1.NamespaceLabel: rapid.SampledFrom([]string{"", "prod", "dev"}).Draw(t, "namespace"),
				stagesv1.StageLabel: stages.Draw(t, "stage"),
			},
		}
		if rapid.Bool().Draw(t, "applied") {
			live.Managed = ours("").Managed
		}
		recorded := entry(id, uids.Draw(t, "recorded uid"))
		in := inventory.PruneInput{
			Owner: shop, Stage: "web", Recorded: []inventory.Entry{recorded}, Live: map[inventory.ID]inventory.Live{id: live},
			Prune: rapid.Bool().Draw(t, "prune"), Guarded: rapid.Bool().Draw(t, "guarded"),
			Teardown: rapid.Bool().Draw(t, "teardown"), Empty: rapid.Bool().Draw(t, "empty"),
		}
		got := inventory.Decide(in)[0].Verdict
		labels := live.Labels[stagesv1.NameLabel] == "shop" && live.Labels[stagesv1.NamespaceLabel] == "prod"
		known := recorded.UID == live.UID ||
			recorded.UID == "" && live.Labels[stagesv1.StageLabel] == "web" && live.Managed != nil
		if got == inventory.Delete && (!labels || !known || !in.Prune) {
			t.Fatalf("deleted: %+v with %+v", recorded, live)
		}
		if labels && known && in.Prune && got != inventory.Delete && got != inventory.Hold {
			t.Fatalf("%s: %+v with %+v, which is ours", got, recorded, live)
		}
	})
}

func TestAhead_UnionWithoutWhatWillNotBeSo(t *testing.T) {
	got := inventory.Ahead(inventory.AheadInput{
		Recorded: []inventory.Entry{
			{ID: configMap("old"), Version: "v1", UID: "o", Fingerprint: "f"},
			{ID: configMap("changed"), Version: "v1", UID: "c", Fingerprint: "f"},
			{ID: configMap("here"), Version: "v1", UID: "h", Fingerprint: "f"},
			{ID: configMap("kept"), Version: "v1", UID: "k", Fingerprint: "f" + inventory.KeptMark},
			{ID: configMap("lost"), Version: "v1", UID: "l", Fingerprint: "f"},
			{ID: configMap("replaced"), Version: "v1", UID: "r", Fingerprint: "f"},
		},
		Rendered: []inventory.Entry{
			{ID: configMap("changed"), Version: "v1"},
			{ID: configMap("here"), Version: "v2", Fingerprint: "f"},
			{ID: configMap("kept"), Version: "v1"},
			{ID: configMap("lost"), Version: "v1", Fingerprint: "f"},
			{ID: configMap("new"), Version: "v1"},
			{ID: configMap("replaced"), Version: "v1"},
		},
		Live: map[inventory.ID]inventory.Live{
			configMap("old"): ours("o"), configMap("here"): ours("h"), configMap("replaced"): ours("r"), configMap("changed"): ours("c"),
		},
		Intended: map[inventory.ID]types.UID{configMap("replaced"): "r", configMap("here"): "another"},
	})
	want := []inventory.Entry{
		{ID: configMap("changed"), Version: "v1", UID: "c"},
		{ID: configMap("here"), Version: "v2", UID: "h", Fingerprint: "f"},
		{ID: configMap("kept"), Version: "v1", UID: "k"},
		{ID: configMap("lost"), Version: "v1", Fingerprint: "f"},
		{ID: configMap("new"), Version: "v1"},
		{ID: configMap("old"), Version: "v1", UID: "o", Fingerprint: "f"},
		{ID: configMap("replaced"), Version: "v1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
