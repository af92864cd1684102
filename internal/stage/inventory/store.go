package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

const (
	defaultShardCap = 5000
	// pageSize bounds the shards of one answer: with 900 KiB each, what an API server sends at a time.
	pageSize = 20
)

// errChanged is the cause of a conflict with what somebody else has written.
var errChanged = errors.New("it was written by somebody else since it was read")

// Store keeps inventories as StageInventory objects beside their StageSets. It can be used concurrently.
type Store struct {
	client   client.Client
	reader   client.Reader
	limits   limits
	versions *versions
}

// StoreOptions are what a Store is made of.
type StoreOptions struct {
	Client   client.Client // of the controller itself; Load reads past any cache
	Reader   client.Reader // past the cache
	ShardCap int           // most entries of a shard; zero is 5,000
}

// NewStore returns a store.
func NewStore(o StoreOptions) *Store {
	if o.ShardCap <= 0 {
		o.ShardCap = defaultShardCap
	}
	return &Store{client: o.Client, reader: o.Reader, limits: limits{entries: o.ShardCap, bytes: shardBytes}, versions: newVersions()}
}

// Load returns the inventories of a StageSet, sorted by position and name. Shards of another owner of the same name, by
// UID, do not count. Shards that are being deleted do, until our finalizer is taken from them.
func (s *Store) Load(ctx context.Context, owner Owner) ([]Stage, error) {
	shards, err := s.list(ctx, owner, client.MatchingLabels{stagesv1.NameLabel: owner.Name})
	if err != nil {
		return nil, err
	}
	s.versions.read(owner.UID, shards)
	byName := map[string][]*stagesv1.StageInventory{}
	for _, shard := range shards {
		name := shard.Labels[stagesv1.StageLabel]
		byName[name] = append(byName[name], shard)
	}
	stages := make([]Stage, 0, len(byName))
	for name, shards := range byName {
		entries := map[ID]Entry{}
		stage := Stage{Name: name, Shards: len(shards), Position: int(shards[0].Spec.StagePosition)}
		for _, shard := range shards {
			for _, e := range readEntries(shard) {
				if old, ok := entries[e.ID]; !ok || old.UID == "" {
					entries[e.ID] = e
				}
			}
		}
		stage.Entries = sorted(entries)
		stages = append(stages, stage)
	}
	slices.SortFunc(stages, func(a, b Stage) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Name, b.Name))
	})
	return stages, nil
}

// Save makes the shards of a stage hold exactly its entries, and returns how many shards there are. Only those that
// differ are written, and what is added is written before anything is taken away, so that wherever it stops no entry that
// is both in the old and in the new set is missing. A stage without entries loses its shards. Where somebody else has written
// a shard since the owner was loaded, that is a conflict: the entries rest on what is no longer true.
func (s *Store) Save(ctx context.Context, owner Owner, stage Stage) (shards int, err error) {
	if shards, err = s.save(ctx, owner, stage); err != nil {
		s.versions.forget(owner.UID) // something may have been written all the same
	}
	return shards, err
}

// Forget gives up the whole inventory of a StageSet, whatever it holds: a forced end of its teardown, or the rest of one
// that was deleted without a teardown. Objects stay as they are.
func (s *Store) Forget(ctx context.Context, owner Owner) error {
	s.versions.forget(owner.UID)
	shards, err := s.list(ctx, owner, client.MatchingLabels{stagesv1.NameLabel: owner.Name})
	if err != nil {
		return err
	}
	for _, shard := range shards {
		if err := s.drop(ctx, owner, shard, shard.Spec.Entries); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (s *Store) save(ctx context.Context, owner Owner, stage Stage) (int, error) {
	current, err := s.list(ctx, owner,
		client.MatchingLabels{stagesv1.NameLabel: owner.Name, stagesv1.StageLabel: stage.Name})
	if err != nil {
		return 0, err
	}
	if name := s.versions.changed(owner.UID, current); name != "" {
		return 0, fmt.Errorf("writing the inventory of stage %s: %w", stage.Name, apierrors.NewConflict(
			stagesv1.GroupVersion.WithResource("stageinventories").GroupResource(), name, errChanged))
	}
	count := 0
	for _, w := range plan(owner, stage, current, s.limits) {
		if len(w.entries) > 0 {
			count++
		}
		if err := s.write(ctx, owner, stage, w); err != nil {
			return 0, err
		}
	}
	return count, nil
}

// write makes a shard what is planned; it does nothing where it is so already.
func (s *Store) write(ctx context.Context, owner Owner, stage Stage, w shardPlan) error {
	if w.shard == nil {
		shard := &stagesv1.StageInventory{}
		shard.Namespace, shard.Name = owner.Namespace, w.name
		describe(shard, owner, stage)
		shard.Spec.Entries = w.entries
		err := s.client.Create(ctx, shard)
		if apierrors.IsAlreadyExists(err) {
			if repaired := s.repair(ctx, owner, stage, w.name); repaired != nil {
				return repaired
			}
		}
		if err != nil {
			return fmt.Errorf("creating inventory %s: %w", w.name, err)
		}
		s.versions.wrote(owner.UID, shard)
		return nil
	}
	if len(w.entries) == 0 {
		return s.drop(ctx, owner, w.shard, nil)
	}
	changed := w.shard.DeepCopy()
	describe(changed, owner, stage)
	changed.Spec.Entries = w.entries
	if same(w.shard, changed) {
		return nil
	}
	if err := s.client.Update(ctx, changed); err != nil { // with the resource version that was read
		return fmt.Errorf("updating inventory %s: %w", w.shard.Name, err)
	}
	s.versions.wrote(owner.UID, changed)
	return nil
}

// repair gives a shard of ours back the labels by which it is found, so that the next Load has its entries.
func (s *Store) repair(ctx context.Context, owner Owner, stage Stage, name string) error {
	shard := &stagesv1.StageInventory{}
	if err := s.reader.Get(ctx, types.NamespacedName{Namespace: owner.Namespace, Name: name}, shard); err != nil {
		return fmt.Errorf("reading inventory %s: %w", name, err)
	}
	if !ownedBy(shard, owner) {
		return fmt.Errorf("creating inventory %s: an object of this name belongs to somebody else", name)
	}
	changed := shard.DeepCopy()
	describe(changed, owner, stage)
	if same(shard, changed) {
		return nil // it came between listing and creating
	}
	if err := s.client.Update(ctx, changed); err != nil {
		return fmt.Errorf("updating inventory %s: %w", name, err)
	}
	return nil
}

// drop empties a shard, takes our finalizer from it and deletes it. The version of a deletion is not told.
func (s *Store) drop(ctx context.Context, owner Owner, shard *stagesv1.StageInventory, entries []stagesv1.InventoryEntry) error {
	defer s.versions.dropped(owner.UID, shard)
	changed := shard.DeepCopy()
	changed.Spec.Entries = entries
	changed.Finalizers = slices.DeleteFunc(changed.Finalizers, func(f string) bool { return f == stagesv1.InventoryFinalizer })
	if !same(shard, changed) {
		if err := s.client.Update(ctx, changed); err != nil {
			return fmt.Errorf("updating inventory %s: %w", shard.Name, err)
		}
	}
	if changed.DeletionTimestamp != nil {
		return nil // without our finalizer it goes by itself
	}
	preconditions := client.Preconditions{UID: &changed.UID, ResourceVersion: &changed.ResourceVersion}
	if err := s.client.Delete(ctx, changed, preconditions); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting inventory %s: %w", shard.Name, err)
	}
	return nil
}

// list returns the shards of an owner, sorted by name.
func (s *Store) list(ctx context.Context, owner Owner, selector client.MatchingLabels) ([]*stagesv1.StageInventory, error) {
	if owner.UID == "" || owner.Namespace == "" || owner.Name == "" {
		return nil, errors.New("reading inventories: the owner has no namespace, name or UID")
	}
	version := s.versions.last(owner.UID)
	ours := func(shard *stagesv1.StageInventory) bool { return ownedBy(shard, owner) }
	found, as, err := s.listFrom(ctx, owner.Namespace, selector, version, ours)
	if err != nil && version != "" && ctx.Err() == nil { // of an API server that is behind, or whose store was put back
		s.versions.forget(owner.UID)
		found, as, err = s.listFrom(ctx, owner.Namespace, selector, "", ours)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the inventories of %s/%s: %w", owner.Namespace, owner.Name, err)
	}
	s.versions.listed(owner.UID, as)
	slices.SortFunc(found, func(a, b *stagesv1.StageInventory) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// listFrom returns the shards that are to be kept, as of a version or later, or as they are now where none is given, and the
// version as of which they are.
func (s *Store) listFrom(
	ctx context.Context, namespace string, selector client.MatchingLabels, version string, keep func(*stagesv1.StageInventory) bool,
) (found []*stagesv1.StageInventory, as string, err error) {
	options := &client.ListOptions{Namespace: namespace, Limit: pageSize}
	selector.ApplyToList(options)
	if version != "" {
		options.Raw = &metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	}
	for {
		var page stagesv1.StageInventoryList
		if err := s.reader.List(ctx, &page, options); err != nil {
			return nil, "", err
		}
		for i := range page.Items {
			if keep(&page.Items[i]) {
				found = append(found, &page.Items[i])
			}
		}
		if page.Continue == "" {
			return found, page.ResourceVersion, nil
		}
		options.Continue, options.Raw = page.Continue, nil // it has the version in it
	}
}

func ownedBy(shard *stagesv1.StageInventory, owner Owner) bool {
	controller := metav1.GetControllerOf(shard)
	return controller != nil && controller.UID == owner.UID && controller.Name == owner.Name
}
