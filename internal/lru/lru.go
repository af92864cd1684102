package lru

import (
	"container/list"
	"sync"
)

// Cache maps keys to values up to a total weight. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu      sync.Mutex
	limit   int64
	weight  int64
	order   list.List // of *entry[K, V], most recently used first
	entries map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int64
}

// New returns a cache whose entries together weigh at most limit bytes.
func New[K comparable, V any](limit int64) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, entries: map[K]*list.Element{}}
}

// Get returns the value of key and marks it as used.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[key]
	if !ok {
		var zero V
		return zero, false
	}
	c.order.MoveToFront(element)
	return c.at(element).value, true
}

// Put keeps value under key, in place of an earlier one. An entry heavier than the whole cache is not kept.
func (c *Cache[K, V]) Put(key K, value V, weight int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.entries[key]; ok {
		c.remove(element)
	}
	if weight > c.limit {
		return
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value, weight})
	c.weight += weight
	for c.weight > c.limit {
		c.remove(c.order.Back())
	}
}

// Delete forgets key.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.entries[key]; ok {
		c.remove(element)
	}
}

// Weight returns the bytes that the entries weigh together.
func (c *Cache[K, V]) Weight() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.weight
}

func (c *Cache[K, V]) remove(element *list.Element) {
	e := c.at(element)
	c.order.Remove(element)
	delete(c.entries, e.key)
	c.weight -= e.weight
}

func (c *Cache[K, V]) at(element *list.Element) *entry[K, V] {
	return element.Value.(*entry[K, V]) //nolint:forcetypeassert // the list holds nothing else
}
