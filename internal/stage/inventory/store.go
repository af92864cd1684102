package inventory

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Store keeps inventories as StageInventory objects beside their StageSets.
type Store struct{}

// StoreOptions are what a Store is made of.
type StoreOptions struct {
	Client   client.Client // of the controller itself; Load reads past any cache
	Reader   client.Reader // past the cache
	ShardCap int           // most entries of a shard
}

// NewStore returns a store.
func NewStore(o StoreOptions) *Store { panic("not yet") }

// Load returns the inventories of a StageSet, sorted by position and name. Shards of another owner of the same name, by
// UID, do not count.
func (s *Store) Load(ctx context.Context, owner Owner) ([]Stage, error) { panic("not yet") }

// Save makes the shards of a stage hold exactly its entries, and returns how many shards there are. Only those that
// differ are written, and what is added is written before anything is taken away, so that wherever it stops no entry that
// is both in the old and in the new set is missing. A stage without entries loses its shards.
func (s *Store) Save(ctx context.Context, owner Owner, stage Stage) (shards int, err error) {
	panic("not yet")
}
