package eval

import (
	"crypto/sha256"
	"runtime"
	"sync"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
	"github.com/stagewright/stagewright/internal/lru"
)

// defaultCacheBytes is the size of a program cache whose size is not given.
const defaultCacheBytes = 64 << 20

// programKey is what a program depends on: its name, which errors and std.thisFile show, and its content.
type programKey struct {
	name string
	sum  [sha256.Size]byte
}

// programCache keeps compiled programs.
type programCache struct {
	programs *lru.Cache[programKey, *vm.Program]
}

func newProgramCache(limit int64) programCache {
	if limit == 0 {
		limit = defaultCacheBytes
	}
	return programCache{lru.New[programKey, *vm.Program](limit)}
}

func keyOf(src *jsonnet.Source) programKey { return programKey{name: src.Name, sum: src.Sum} }

// find returns a program, or nil.
func (c programCache) find(src *jsonnet.Source) *vm.Program {
	p, _ := c.programs.Get(keyOf(src))
	return p
}

// add keeps a program. Two evaluations may have compiled the same file at once; the first one's work is lost.
func (c programCache) add(src *jsonnet.Source, p *vm.Program) { c.programs.Put(keyOf(src), p, p.Bytes) }

// collector runs garbage collections for the meters of all evaluations, one after the other. Those who ask while one runs
// share the next one: the one that runs may have begun before their samples were taken.
type collector struct {
	mu      sync.Mutex
	running bool
	next    chan struct{} // closed at the end of the collection that has not begun; nil if nobody waits for one
}

func (c *collector) collect(stop <-chan struct{}) {
	c.mu.Lock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	done := c.next
	if !c.running {
		c.running = true
		go c.run()
	}
	c.mu.Unlock()
	select {
	case <-done:
	case <-stop:
	}
}

// run collects until nobody waits for it.
func (c *collector) run() {
	for {
		c.mu.Lock()
		done := c.next
		c.next = nil
		c.running = done != nil
		c.mu.Unlock()
		if done == nil {
			return
		}
		runtime.GC()
		close(done)
	}
}
