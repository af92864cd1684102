package inventory

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/lru"
)

// rememberedOwners bounds for how many owners the version of the last write is known.
const rememberedOwners = 10_000

// versions remember the resource version of the last write for each owner. An answer that is not older has all that was
// written here, and nobody else writes: the API server gives it from its cache at once. Without one it would first find out
// whether the cache has everything, which takes up to a tenth of a second for a kind that changes seldom.
type versions struct {
	mu   sync.Mutex
	last *lru.Cache // from the UID of an owner to a resource version
}

func newVersions() *versions { return &versions{last: lru.New(rememberedOwners)} }

// of returns the version that a list has to have at least; "" asks for one that is current.
func (v *versions) of(owner types.UID) string {
	if last, ok := v.last.Get(owner); ok {
		return last.(string)
	}
	return ""
}

// note remembers a version, unless a later one is known. One that cannot be compared is as good as none.
func (v *versions) note(owner types.UID, version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if last := v.of(owner); last != "" {
		order, err := resourceversion.CompareResourceVersion(version, last)
		if err != nil {
			v.last.Remove(owner)
			return
		}
		if order <= 0 {
			return
		}
	}
	v.last.Add(owner, version)
}

// forget has the next list be a current one: something was deleted, or is not as it was thought to be.
func (v *versions) forget(owner types.UID) { v.last.Remove(owner) }
