package storage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/render/storage"
)

func TestDecide_KeepsTheHistoryAndTheRecentlySuperseded(t *testing.T) {
	const minute = time.Minute
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		put    map[string]time.Duration // after the start
		keep   []string
		grace  time.Duration
		now    time.Duration
		delete []string
		next   time.Duration // 0: none
	}{
		"only the published one": {
			put: map[string]time.Duration{"a": 0}, keep: []string{"a"}, grace: 5 * minute, now: 1000 * minute,
		},
		"superseded just now, though it is old": {
			put: map[string]time.Duration{"a": 0, "b": 100 * minute}, keep: []string{"b"}, grace: 5 * minute,
			now: 101 * minute, next: 105 * minute,
		},
		"superseded for long enough": {
			put: map[string]time.Duration{"a": 0, "b": 100 * minute}, keep: []string{"b"}, grace: 5 * minute,
			now: 105 * minute, delete: []string{"a"},
		},
		"without grace": {
			put: map[string]time.Duration{"a": 0, "b": minute}, keep: []string{"b"}, now: minute, delete: []string{"a"},
		},
		"each counts from its own successor": {
			put:  map[string]time.Duration{"a": 0, "b": minute, "c": 2 * minute, "d": 3 * minute},
			keep: []string{"d"}, grace: 5 * minute, now: 6 * minute, delete: []string{"a"}, next: 7 * minute,
		},
		"a stream of new ones does not keep the old": {
			put:  map[string]time.Duration{"a": 0, "b": 4 * minute, "c": 8 * minute, "d": 12 * minute},
			keep: []string{"d"}, grace: 5 * minute, now: 12 * minute, delete: []string{"a"}, next: 13 * minute,
		},
		"a history of two": {
			put:  map[string]time.Duration{"a": 0, "b": minute, "c": 2 * minute},
			keep: []string{"c", "b"}, grace: 5 * minute, now: 6 * minute, next: 7 * minute, // a left when c came, not b
		},
		"back to an old one": {
			put:  map[string]time.Duration{"a": 10 * minute, "b": 5 * minute}, // a was put again
			keep: []string{"a"}, grace: 5 * minute, now: 11 * minute, next: 15 * minute,
		},
		"back to an old one, in a history that has it twice": {
			put:  map[string]time.Duration{"a": 10 * minute, "b": 5 * minute, "z": 0},
			keep: []string{"a", "b", "a"}, grace: 5 * minute, now: 11 * minute, next: 15 * minute, // z left when a came back
		},
		"put and never published": {
			put:  map[string]time.Duration{"a": 0, "b": minute},
			keep: []string{"a"}, grace: 5 * minute, now: 2 * minute, next: 6 * minute,
		},
		"put, never published, and old": {
			put:  map[string]time.Duration{"a": 0, "b": minute},
			keep: []string{"a"}, grace: 5 * minute, now: 6 * minute, delete: []string{"b"},
		},
		"a shorter history than before": {
			put:  map[string]time.Duration{"a": 0, "b": minute, "c": 2 * minute},
			keep: []string{"c"}, grace: 5 * minute, now: 20 * minute, delete: []string{"a", "b"},
		},
		"nothing is to be kept": {
			put: map[string]time.Duration{"a": 0, "b": minute}, now: minute, delete: []string{"a", "b"},
		},
		"what is to be kept is not there": {
			put: map[string]time.Duration{"a": 0}, keep: []string{"z"}, grace: minute, now: 2 * minute, delete: []string{"a"},
		},
		"nothing is there": {keep: []string{"a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stored []storage.Stored
			for revision, at := range test.put {
				stored = append(stored, storage.Stored{Ref: storage.Ref{Snippet: web(), Revision: revision}, Time: start.Add(at)})
			}
			decision := storage.Retention{Keep: test.keep, Grace: test.grace}.Decide(stored, start.Add(test.now))
			var deleted []string
			for _, ref := range decision.Delete {
				deleted = append(deleted, ref.Revision)
			}
			if diff := cmp.Diff(test.delete, deleted); diff != "" {
				t.Errorf("deleted (-want +got):\n%s", diff)
			}
			var want time.Time
			if test.next > 0 {
				want = start.Add(test.next)
			}
			if !decision.Next.Equal(want) {
				t.Errorf("next = %s, want %s", decision.Next, want)
			}
		})
	}
}

func ExampleRetention_Decide() {
	published := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	stored := []storage.Stored{
		{Ref: storage.Ref{Revision: "sha256:new"}, Time: published},
		{Ref: storage.Ref{Revision: "sha256:old"}, Time: published.Add(-time.Hour)},
	}
	retention := storage.Retention{Keep: []string{"sha256:new"}, Grace: 5 * time.Minute}
	fmt.Println(len(retention.Decide(stored, published.Add(time.Minute)).Delete))
	fmt.Println(retention.Decide(stored, published.Add(5*time.Minute)).Delete[0].Revision)
	// Output:
	// 0
	// sha256:old
}
