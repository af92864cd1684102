package fairqueue

import "k8s.io/client-go/util/workqueue"

// ledger is a queue of client-go that is told what happens to the items of another one, because it keeps the metrics
// workqueue_* that people know, and they are kept nowhere else. It decides nothing and never blocks: the caller holds a lock,
// and takes only what it has added.
type ledger[T comparable] struct {
	workqueue.TypedInterface[T]
	order *order[T]
}

func newLedger[T comparable](name string) ledger[T] {
	o := &order[T]{}
	return ledger[T]{workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: name, Queue: o}), o}
}

// take notes that an item is worked on now.
func (l ledger[T]) take(item T) {
	l.order.next = item
	l.Get()
}

// order lets the ledger hand out the item that was taken.
type order[T comparable] struct {
	next    T
	waiting int
}

// Touch implements workqueue.Queue.
func (o *order[T]) Touch(T) {}

// Push implements workqueue.Queue.
func (o *order[T]) Push(T) { o.waiting++ }

// Len implements workqueue.Queue.
func (o *order[T]) Len() int { return o.waiting }

// Pop implements workqueue.Queue.
func (o *order[T]) Pop() T {
	o.waiting--
	return o.next
}
