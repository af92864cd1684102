package load

import "sync"

// budget shares a number of bytes between tenants. It can be used concurrently.
type budget struct {
	capacity int64

	mu    sync.Mutex
	total int64
	held  map[string]int64
}

func newBudget(capacity int64) *budget { return &budget{capacity: capacity, held: map[string]int64{}} }

// take gives a tenant bytes if after that as much is free as the tenant then has. So one that wants everything gets half
// of it, the next one a quarter, and there is always something left for another one that wants little. What fits into
// half of an empty budget always comes to its turn.
func (b *budget) take(tenant string, bytes int64) bool {
	if bytes == 0 { // nothing is released for it either
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[tenant]+bytes > b.capacity-b.total-bytes {
		return false
	}
	b.total += bytes
	b.held[tenant] += bytes
	return true
}

func (b *budget) release(tenant string, bytes int64) {
	if bytes == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total -= bytes
	if b.held[tenant] -= bytes; b.held[tenant] == 0 {
		delete(b.held, tenant)
	}
}
