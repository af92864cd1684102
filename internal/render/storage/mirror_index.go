package storage

import (
	"container/list"
	"sync"
	"time"
)

// mirrored is what is known of a copy.
type mirrored struct {
	size     int64
	time     time.Time // of the original
	verified bool      // its content was found to be that of its revision
	fresh    time.Time // until when the original is taken to be there
}

// mirrorIndex knows the copies of a mirror and which was used least recently. It is safe for concurrent use.
type mirrorIndex struct {
	limit int64

	mu      sync.Mutex
	bytes   int64
	order   list.List // of Ref, most recently used first
	entries map[Ref]*indexed
	silent  time.Time // until when the store is not asked; zero while it answers
}

type indexed struct {
	mirrored
	element *list.Element
}

func newMirrorIndex(limit int64) *mirrorIndex {
	return &mirrorIndex{limit: limit, entries: map[Ref]*indexed{}}
}

// add notes a copy and returns those that have to go for it.
func (x *mirrorIndex) add(ref Ref, entry mirrored) []Ref {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(ref)
	x.entries[ref] = &indexed{entry, x.order.PushFront(ref)}
	x.bytes += entry.size
	var evicted []Ref
	for x.bytes > x.limit && x.order.Len() > 0 {
		oldest := x.order.Back().Value.(Ref) //nolint:forcetypeassert // the list holds nothing else
		x.forget(oldest)
		evicted = append(evicted, oldest)
	}
	return evicted
}

func (x *mirrorIndex) remove(ref Ref) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(ref)
}

func (x *mirrorIndex) forget(ref Ref) {
	if entry, ok := x.entries[ref]; ok {
		x.order.Remove(entry.element)
		x.bytes -= entry.size
		delete(x.entries, ref)
	}
}

func (x *mirrorIndex) get(ref Ref) (mirrored, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	entry, ok := x.entries[ref]
	if !ok {
		return mirrored{}, false
	}
	x.order.MoveToFront(entry.element)
	return entry.mirrored, true
}

// servable says whether a copy may be served without asking the store.
func (x *mirrorIndex) servable(ref Ref, now time.Time) bool {
	entry, ok := x.get(ref)
	return ok && entry.verified && (now.Before(entry.fresh) || x.paused(now))
}

// matches says whether a copy is that of the original as it is described.
func (x *mirrorIndex) matches(stored Stored) bool {
	entry, ok := x.get(stored.Ref)
	return ok && entry.size == stored.Size && entry.time.Equal(stored.Time)
}

func (x *mirrorIndex) verify(ref Ref) { x.change(ref, func(m *mirrored) { m.verified = true }) }

func (x *mirrorIndex) check(ref Ref, fresh time.Time) {
	x.change(ref, func(m *mirrored) { m.fresh = fresh })
}

func (x *mirrorIndex) change(ref Ref, change func(*mirrored)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if entry, ok := x.entries[ref]; ok {
		change(&entry.mirrored)
	}
}

func (x *mirrorIndex) paused(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return now.Before(x.silent)
}

// turn says whether the caller is to ask the store. Of many who could, one asks a store that has failed, and the others need
// not wait for it until the time.
func (x *mirrorIndex) turn(now, until time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.silent.IsZero():
		return true
	case now.Before(x.silent):
		return false
	default:
		x.silent = until
		return true
	}
}

func (x *mirrorIndex) pause(until time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.silent = until
}

func (x *mirrorIndex) refs() []Ref {
	x.mu.Lock()
	defer x.mu.Unlock()
	refs := make([]Ref, 0, len(x.entries))
	for ref := range x.entries {
		refs = append(refs, ref)
	}
	return refs
}
