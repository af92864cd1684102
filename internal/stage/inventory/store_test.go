package inventory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// errCrash is what every write answers after the last one that is allowed.
var errCrash = errors.New("the process is gone")

// memory is a store over objects in memory that fails after a number of writes.
type memory struct {
	client client.Client
	left   int // writes; negative is no limit
	writes int
	refuse error // of the next write
}

func newMemory(t testing.TB) *memory {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := stagesv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	m := &memory{left: -1}
	m.client = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return m.write(func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return m.write(func() error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return m.write(func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errors.New("the store does not patch")
		},
	})
	return m
}

func (m *memory) write(do func() error) error {
	if m.left == 0 {
		return errCrash
	}
	if err := m.refuse; err != nil {
		m.refuse = nil
		return err
	}
	m.left--
	m.writes++
	return do()
}

func (m *memory) store(shardCap int) *inventory.Store {
	return inventory.NewStore(inventory.StoreOptions{Client: m.client, Reader: m.client, ShardCap: shardCap})
}

func entriesOf(n int) []inventory.Entry {
	entries := make([]inventory.Entry, n)
	for i := range entries {
		entries[i] = entry(configMap(fmt.Sprintf("c%05d", i)), types.UID(fmt.Sprint("uid-", i)))
		entries[i].Fingerprint = "aaaa.bbbb"
	}
	return entries
}

func load(t testing.TB, s *inventory.Store, owner inventory.Owner) []inventory.Stage {
	t.Helper()
	stages, err := s.Load(context.Background(), owner)
	if err != nil {
		t.Fatal(err)
	}
	return stages
}

func save(t testing.TB, s *inventory.Store, owner inventory.Owner, stage inventory.Stage) int {
	t.Helper()
	shards, err := s.Save(context.Background(), owner, stage)
	if err != nil {
		t.Fatal(err)
	}
	return shards
}

func TestStore_KeepsTwelveThousandEntriesInThreeShards(t *testing.T) {
	m := newMemory(t)
	s := m.store(5000)
	want := inventory.Stage{Name: "web", Position: 2, Entries: entriesOf(12000), Shards: 3}
	if got := save(t, s, shop, want); got != 3 {
		t.Errorf("%d shards", got)
	}
	if diff := cmp.Diff([]inventory.Stage{want}, load(t, s, shop)); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
	for _, shard := range shards(t, m.client) {
		if n := len(shard.Spec.Entries); n > 5000 {
			t.Errorf("shard %s has %d entries", shard.Name, n)
		}
	}
}

func shards(t testing.TB, c client.Reader) []stagesv1.StageInventory {
	t.Helper()
	var list stagesv1.StageInventoryList
	if err := c.List(context.Background(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestSave_WritesOnlyShardsThatDiffer(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*inventory.Stage)
		want   int
	}{
		"nothing":                {change: func(*inventory.Stage) {}},
		"one entry":              {change: func(s *inventory.Stage) { s.Entries[7].Fingerprint = "other" }, want: 1},
		"one entry less":         {change: func(s *inventory.Stage) { s.Entries = slices.Delete(s.Entries, 7, 8) }, want: 1},
		"one entry more":         {change: func(s *inventory.Stage) { s.Entries = append(s.Entries, entry(configMap("more"), "")) }, want: 1},
		"the first instead":      {change: func(s *inventory.Stage) { s.Entries[0].ID.Name = "a" }, want: 1},
		"the position":           {change: func(s *inventory.Stage) { s.Position = 3 }, want: 3},
		"everything but a shard": {change: func(s *inventory.Stage) { s.Entries = s.Entries[:10] }, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			stage := inventory.Stage{Name: "web", Position: 2, Entries: entriesOf(25)}
			save(t, m.store(10), shop, stage)
			m.writes = 0
			test.change(&stage)
			save(t, m.store(10), shop, stage)
			if m.writes != test.want {
				t.Errorf("%d writes, want %d", m.writes, test.want)
			}
			got := load(t, m.store(10), shop)[0]
			if diff := cmp.Diff(stage, got, cmpopts.IgnoreFields(got, "Shards"), byID); diff != "" {
				t.Errorf("inventory (-want +got):\n%s", diff)
			}
		})
	}
}

var byID = cmpopts.SortSlices(func(a, b inventory.Entry) int { return inventory.Compare(a.ID, b.ID) })

func TestSave_StageWithoutEntriesLosesItsShards(t *testing.T) {
	m := newMemory(t)
	s := m.store(10)
	save(t, s, shop, inventory.Stage{Name: "web", Entries: entriesOf(25)})
	save(t, s, shop, inventory.Stage{Name: "api", Entries: entriesOf(1)})
	if got := save(t, s, shop, inventory.Stage{Name: "web"}); got != 0 {
		t.Errorf("%d shards are left", got)
	}
	left := shards(t, m.client)
	if len(left) != 1 || left[0].Labels[stagesv1.StageLabel] != "api" {
		t.Errorf("shards %v are left, want that of the other stage", left)
	}
}

func TestSave_FollowsACapThatChanges(t *testing.T) {
	m := newMemory(t)
	stage := inventory.Stage{Name: "web", Entries: entriesOf(25)}
	for _, shardCap := range []int{10, 3, 7, 1, 100} {
		save(t, m.store(shardCap), shop, stage)
		for _, shard := range shards(t, m.client) {
			if n := len(shard.Spec.Entries); n > shardCap || n == 0 {
				t.Errorf("cap %d: shard %s has %d entries", shardCap, shard.Name, n)
			}
		}
		if diff := cmp.Diff(stage.Entries, load(t, m.store(shardCap), shop)[0].Entries); diff != "" {
			t.Errorf("cap %d: entries (-want +got):\n%s", shardCap, diff)
		}
	}
}

func TestSave_BoundsAShardInBytes(t *testing.T) {
	m := newMemory(t)
	var entries []inventory.Entry
	for i := range 3000 {
		id := inventory.ID{Namespace: long(63), Name: fmt.Sprintf("%s%05d", long(240), i), Group: long(200), Kind: "Kind"}
		entries = append(entries, entry(id, "u"))
	}
	if got := save(t, m.store(5000), shop, inventory.Stage{Name: "web", Entries: entries}); got != 3 {
		t.Errorf("%d shards", got)
	}
	for _, shard := range shards(t, m.client) {
		if size := sizeOf(t, shard); size > 1<<20 {
			t.Errorf("shard %s is %d bytes long", shard.Name, size)
		}
	}
}

func sizeOf(t *testing.T, shard stagesv1.StageInventory) int {
	t.Helper()
	text, err := json.Marshal(shard)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func long(n int) string { return strings.Repeat("a", n) }

func TestStore_NamesNeverCollide(t *testing.T) {
	m := newMemory(t)
	s := m.store(10)
	stages := map[inventory.Owner]string{
		{Namespace: "prod", Name: "a", UID: "1"}:   "b-c",
		{Namespace: "prod", Name: "a-b", UID: "2"}: "c",
		{Namespace: "prod", Name: "a", UID: "3"}:   "b-c", // a later StageSet of the same name
	}
	for owner, stage := range stages {
		save(t, s, owner, inventory.Stage{Name: stage, Entries: []inventory.Entry{entry(configMap(string(owner.UID)), "u")}})
	}
	for owner, stage := range stages {
		got := load(t, s, owner)
		if len(got) != 1 || got[0].Name != stage || got[0].Entries[0].ID.Name != string(owner.UID) {
			t.Errorf("%v has %+v", owner, got)
		}
	}
	m2 := newMemory(t)
	owner := inventory.Owner{Namespace: "prod", Name: long(253), UID: "1"}
	save(t, m2.store(10), owner, inventory.Stage{Name: long(63), Entries: entriesOf(11)})
	for _, shard := range shards(t, m2.client) {
		if len(shard.Name) > 253 {
			t.Errorf("name %s is %d characters long", shard.Name, len(shard.Name))
		}
	}
}

func TestLoad_SortsStagesAndLeavesOutWhatNamesNothing(t *testing.T) {
	m := newMemory(t)
	s := m.store(10)
	for position, name := range []string{"z", "m", "a"} {
		save(t, s, shop, inventory.Stage{Name: name, Position: position, Entries: entriesOf(1)})
	}
	forged := shards(t, m.client)[0]
	forged.Spec.Entries = append(forged.Spec.Entries, stagesv1.InventoryEntry{ID: "../../x_y_z_K", V: "v1"})
	if err := m.client.Update(context.Background(), &forged); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, stage := range load(t, s, shop) {
		got = append(got, fmt.Sprint(stage.Name, " ", len(stage.Entries)))
	}
	if diff := cmp.Diff([]string{"z 1", "m 1", "a 1"}, got); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestStore_WantsToKnowItsOwner(t *testing.T) {
	s := newMemory(t).store(10)
	if _, err := s.Load(context.Background(), inventory.Owner{Namespace: "prod", Name: "shop"}); err == nil {
		t.Error("an owner without a UID is taken")
	}
}

func TestForget_GivesUpAllShardsOfAnOwner(t *testing.T) {
	m := newMemory(t)
	s := m.store(10)
	later := shop
	later.UID = "owner-2"
	save(t, s, shop, inventory.Stage{Name: "web", Entries: entriesOf(25)})
	save(t, s, later, inventory.Stage{Name: "web", Entries: entriesOf(5)})
	if err := s.Forget(context.Background(), shop); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s, shop); len(got) != 0 {
		t.Errorf("%v is left", got)
	}
	if got := load(t, s, later); len(got) != 1 {
		t.Errorf("the later owner has %v", got)
	}
}

// TestSave_CrashLosesNoEntry cuts a store off after each of its writes: whatever is in the old and in the new set is in it
// at any time, nothing else comes in, and another store finishes it.
func TestSave_CrashLosesNoEntry(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := newMemory(t)
		stored := map[inventory.ID]inventory.Entry{}
		for range rapid.IntRange(1, 6).Draw(r, "saves") {
			shardCap := rapid.IntRange(1, 6).Draw(r, "cap")
			next := map[inventory.ID]inventory.Entry{}
			for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 15), 0, 16, rapid.ID[int]).Draw(r, "entries") {
				id := configMap(fmt.Sprint("c", i))
				next[id] = entry(id, rapid.SampledFrom([]types.UID{"", "u", "v"}).Draw(r, "uid"))
			}
			stage := inventory.Stage{Name: "web", Entries: slices.Collect(maps.Values(next))}
			slices.SortFunc(stage.Entries, func(a, b inventory.Entry) int { return inventory.Compare(a.ID, b.ID) })
			m.left = rapid.IntRange(-1, 8).Draw(r, "writes")
			_, err := m.store(shardCap).Save(context.Background(), shop, stage)
			m.left = -1
			if err != nil && !errors.Is(err, errCrash) {
				r.Fatal(err)
			}
			now := map[inventory.ID]inventory.Entry{}
			for _, loaded := range load(t, m.store(shardCap), shop) {
				for _, e := range loaded.Entries {
					now[e.ID] = e
				}
			}
			if err == nil {
				if diff := cmp.Diff(next, now, cmpopts.EquateEmpty()); diff != "" {
					r.Fatalf("saved (-want +got):\n%s", diff)
				}
				for _, shard := range shards(t, m.client) {
					if n := len(shard.Spec.Entries); n > shardCap || n == 0 {
						r.Fatalf("cap %d: shard %s has %d entries", shardCap, shard.Name, n)
					}
				}
			}
			for id := range stored {
				if _, kept := next[id]; !kept {
					continue
				}
				if _, ok := now[id]; !ok {
					r.Fatalf("%s is in the old and in the new set, and lost", id)
				}
			}
			for id := range now {
				_, old := stored[id]
				_, added := next[id]
				if !old && !added {
					r.Fatalf("%s came from nowhere", id)
				}
			}
			stored = now
		}
	})
}
