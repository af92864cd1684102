package eval

import (
	"runtime"
	"sync"
	"testing"
)

func TestCollector_SharesCollections(t *testing.T) {
	var c collector
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() { c.collect(nil) })
	}
	group.Wait()
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n < 1 || n > 32 {
		t.Errorf("64 demands at once took %d collections", n)
	}
}

func TestCollector_LeavesOneGoroutineBehind(t *testing.T) {
	var c collector
	stopped := make(chan struct{})
	close(stopped)
	before := runtime.NumGoroutine()
	for range 1000 {
		c.collect(stopped)
	}
	if n := runtime.NumGoroutine() - before; n > 1 {
		t.Errorf("%d goroutines are left", n)
	}
	c.collect(nil)
}
