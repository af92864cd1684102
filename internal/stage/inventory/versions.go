package inventory

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/lru"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// rememberedOwners bounds for how many owners it is known what was seen.
const rememberedOwners = 10_000

// versions remember for each owner which shards were read and written here. That serves two ends.
//
// A list that is not older than the last write, or than the last list, has all that was written here: the API server gives it from its cache at once.
// Without a version it would first find out whether the cache has everything, which takes up to a tenth of a second for a kind
// that changes seldom.
//
// And a shard that is not as it was seen was written by somebody else: by the controller that leads now, while this one has
// not heard of it yet. What this one would write rests on what is no longer true.
type versions struct {
	mu     sync.Mutex
	owners *lru.Cache // from the UID of an owner to a *seen
}

// seen are the resource versions of the shards of one owner.
type seen struct {
	shards map[string]string // by name, since they were read
	last   string            // of the last write or list, if nothing was deleted since: the version of a deletion is not told
}

func newVersions() *versions { return &versions{owners: lru.New(rememberedOwners)} }

// last is the version that a list has to have at least; "" asks for one that is current.
func (v *versions) last(owner types.UID) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.of(owner).last
}

// read remembers all shards of an owner, in place of those that were known.
func (v *versions) read(owner types.UID, shards []*stagesv1.StageInventory) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.of(owner)
	known.shards = make(map[string]string, len(shards))
	for _, shard := range shards {
		known.shards[shard.Name] = shard.ResourceVersion
	}
	v.owners.Add(owner, known)
}

// changed is the name of a shard that is not as it was seen; "" where all are, or where they were never read.
func (v *versions) changed(owner types.UID, shards []*stagesv1.StageInventory) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.of(owner).shards
	for _, shard := range shards {
		if known != nil && known[shard.Name] != shard.ResourceVersion {
			return shard.Name
		}
	}
	return ""
}

// wrote remembers a shard that was written.
func (v *versions) wrote(owner types.UID, shard *stagesv1.StageInventory) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.of(owner)
	if known.shards != nil {
		known.shards[shard.Name] = shard.ResourceVersion
	}
	known.follow(shard.ResourceVersion)
	v.owners.Add(owner, known)
}

// listed remembers as of which version shards were read.
func (v *versions) listed(owner types.UID, version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.of(owner)
	known.follow(version)
	v.owners.Add(owner, known)
}

// follow raises the version that a list has to have at least.
func (s *seen) follow(version string) {
	if s.last == "" || later(version, s.last) {
		s.last = version
	}
}

// dropped remembers that a shard was deleted, or may have been.
func (v *versions) dropped(owner types.UID, shard *stagesv1.StageInventory) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.of(owner)
	delete(known.shards, shard.Name)
	known.last = ""
}

// forget has the next list be a current one.
func (v *versions) forget(owner types.UID) { v.owners.Remove(owner) }

// of is what is known of an owner, which may be nothing yet.
func (v *versions) of(owner types.UID) *seen {
	if known, ok := v.owners.Get(owner); ok {
		return known.(*seen) //nolint:forcetypeassert // the cache holds nothing else
	}
	return &seen{}
}

// later says whether a version follows another one. One that cannot be compared does not.
func later(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order > 0
}
