package fairqueue

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
)

func groupOf(item string) string { return strings.SplitN(item, "/", 2)[0] }

// take returns what workers get now, without waiting for more.
func take(q *queue[string]) []string {
	var got []string
	for {
		q.mu.Lock()
		item, ok := q.pop()
		q.mu.Unlock()
		if !ok {
			return got
		}
		got = append(got, item)
	}
}

func TestGet_LeavesWorkersForOtherGroups(t *testing.T) {
	q := newQueue("test", 8, groupOf)
	for i := range 100 {
		q.Add(fmt.Sprintf("greedy/%d", i))
	}
	if got := take(q); len(got) != 4 {
		t.Fatalf("one group holds %d of 8 workers, want 4: %v", len(got), got)
	}
	for i := range 100 {
		q.Add(fmt.Sprintf("second/%d", i))
	}
	if got := take(q); len(got) != 2 {
		t.Fatalf("the second one holds %d, want 2: %v", len(got), got)
	}
	q.Add("modest/0")
	if d := cmp.Diff([]string{"modest/0"}, take(q)); d != "" {
		t.Error(d)
	}
	q.Done("modest/0")
	q.Done("greedy/0")
	if got := take(q); len(got) != 1 {
		t.Errorf("%v was given for one that was done, want one", got)
	}
}

func TestGet_GroupsTakeTurns(t *testing.T) {
	q := newQueue("test", 1, groupOf)
	for _, item := range []string{"a/1", "a/2", "a/3", "b/1", "c/1", "b/2"} {
		q.Add(item)
	}
	var order []string
	for q.Len() > 0 {
		item, _ := q.Get()
		order = append(order, item)
		q.Done(item)
	}
	if d := cmp.Diff([]string{"a/1", "b/1", "c/1", "a/2", "b/2", "a/3"}, order); d != "" {
		t.Error(d)
	}
}

func TestAdd_WhileItIsWorkedOnComesAgainAfterwards(t *testing.T) {
	q := newQueue("test", 8, groupOf)
	q.Add("a/1")
	item, _ := q.Get()
	q.Add("a/1")
	q.Add("a/1")
	if got := take(q); len(got) > 0 {
		t.Fatalf("%v is worked on twice at a time", got)
	}
	q.Done(item)
	if d := cmp.Diff([]string{"a/1"}, take(q)); d != "" {
		t.Error(d)
	}
	q.Done(item)
	if q.Len() != 0 || len(q.held) > 0 || len(q.processing) > 0 || len(q.groups) > 0 || len(q.turns) > 0 {
		t.Errorf("something is left: %+v", q)
	}
}

func TestQueue_DelaysAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New("", 2, workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute), groupOf)
		start := time.Now()
		q.AddRateLimited("a/1")
		item, _ := q.Get()
		if waited := time.Since(start); waited < time.Second {
			t.Errorf("a failed item came after %v, want a second", waited)
		}
		drained := make(chan struct{})
		go func() { q.ShutDownWithDrain(); close(drained) }()
		synctest.Wait()
		select {
		case <-drained:
			t.Error("the queue was drained while an item was worked on")
		default:
		}
		q.Done(item)
		<-drained
		if _, stopped := q.Get(); !stopped {
			t.Error("a stopped queue gave an item")
		}
		q.Add("a/2")
		if q.Len() != 0 || !q.ShuttingDown() {
			t.Error("a stopped queue took an item")
		}
		q.ShutDown() // which ends the delays as well
	})
}

// TestLedger_FollowsTheQueue, on which its metrics rest.
func TestLedger_FollowsTheQueue(t *testing.T) {
	q := newQueue("followed", 4, groupOf)
	follows := func(when string) {
		t.Helper()
		if got, want := q.ledger.Len(), q.Len(); got != want {
			t.Errorf("%s: %d items are waiting, in the ledger %d", when, want, got)
		}
	}
	for i := range 10 {
		q.Add(fmt.Sprintf("a/%d", i%5)) // each twice
		q.Add(fmt.Sprintf("b/%d", i))
	}
	follows("added")
	taken := take(q)
	follows("taken")
	q.Add(taken[0]) // while it is worked on
	follows("added again")
	for _, item := range taken {
		q.Done(item)
		q.Done(item)
	}
	follows("done")
	q.ShutDown()
	q.Add("c/1")
	for q.Len() > 0 {
		item, _ := q.Get()
		q.Done(item)
		follows("shut down")
	}
	if _, ended := q.Get(); !ended {
		t.Error("it goes on")
	}
}
