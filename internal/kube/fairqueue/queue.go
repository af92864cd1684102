package fairqueue

import (
	"slices"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// New returns a queue for a controller with that many workers, where group says to whom an item belongs. Failures of an
// item delay that item and no other.
func New[T comparable](
	name string, workers int, limiter workqueue.TypedRateLimiter[T], group func(T) string,
) workqueue.TypedRateLimitingInterface[T] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[T]{
		Name: name,
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[T]{
			Name: name, Queue: newQueue(name, workers, group),
		}),
	})
}

// queue implements workqueue.TypedInterface.
//
// A group gets another worker only while more workers are idle than it has. So of eight, the first busy group has four,
// the next one two, a third and a fourth one each; whoever comes to an idle queue is served at once.
type queue[T comparable] struct {
	workers int
	group   func(T) string

	mu         sync.Mutex
	changed    *sync.Cond
	groups     map[string]*waiting[T] // those that have something waiting
	turns      []string               // the groups that wait, the next one first
	dirty      map[T]bool             // waiting, or to wait again when it is done
	processing map[T]bool
	held       map[string]int // workers by group
	busy       int
	stopping   bool
	draining   bool
	ledger     ledger[T]
}

type waiting[T comparable] struct{ items []T }

func newQueue[T comparable](name string, workers int, group func(T) string) *queue[T] {
	q := &queue[T]{
		workers: workers, group: group, groups: map[string]*waiting[T]{}, dirty: map[T]bool{}, processing: map[T]bool{},
		held: map[string]int{}, ledger: newLedger[T](name),
	}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// Add implements workqueue.TypedInterface.
func (q *queue[T]) Add(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopping || q.dirty[item] {
		return
	}
	q.dirty[item] = true
	q.ledger.Add(item)
	if !q.processing[item] {
		q.push(item)
	}
}

func (q *queue[T]) push(item T) {
	name := q.group(item)
	w := q.groups[name]
	if w == nil {
		w = &waiting[T]{}
		q.groups[name] = w
		q.turns = append(q.turns, name)
	}
	w.items = append(w.items, item)
	q.changed.Broadcast()
}

// Len implements workqueue.TypedInterface.
func (q *queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length()
}

func (q *queue[T]) length() int {
	total := 0
	for _, w := range q.groups {
		total += len(w.items)
	}
	return total
}

// Get implements workqueue.TypedInterface. It blocks until there is an item whose group may have a worker.
func (q *queue[T]) Get() (T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if item, ok := q.pop(); ok {
			return item, false
		}
		if q.stopping && q.length() == 0 {
			var none T
			return none, true
		}
		q.changed.Wait()
	}
}

// pop takes the first item of the first group whose turn it is and that may have a worker; then it is the others' turn.
func (q *queue[T]) pop() (T, bool) {
	for i, name := range q.turns {
		if q.held[name] >= q.workers-q.busy {
			continue
		}
		w := q.groups[name]
		item := w.items[0]
		w.items = w.items[1:]
		q.turns = slices.Delete(q.turns, i, i+1)
		if len(w.items) > 0 {
			q.turns = append(q.turns, name)
		} else {
			delete(q.groups, name)
		}
		delete(q.dirty, item)
		q.processing[item] = true
		q.held[name]++
		q.busy++
		q.ledger.take(item)
		return item, true
	}
	var none T
	return none, false
}

// Done implements workqueue.TypedInterface.
func (q *queue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.processing[item] {
		return
	}
	delete(q.processing, item)
	q.ledger.Done(item)
	name := q.group(item)
	if q.held[name]--; q.held[name] == 0 {
		delete(q.held, name)
	}
	q.busy--
	if q.dirty[item] {
		q.push(item)
	}
	q.changed.Broadcast()
}

// ShutDown implements workqueue.TypedInterface.
func (q *queue[T]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopping, q.draining = true, false
	q.ledger.ShutDown()
	q.changed.Broadcast()
}

// ShutDownWithDrain implements workqueue.TypedInterface: it waits until what was there is done.
func (q *queue[T]) ShutDownWithDrain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopping, q.draining = true, true
	q.ledger.ShutDown()
	q.changed.Broadcast()
	for q.draining && (len(q.processing) > 0 || q.length() > 0) {
		q.changed.Wait()
	}
}

// ShuttingDown implements workqueue.TypedInterface.
func (q *queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stopping
}
