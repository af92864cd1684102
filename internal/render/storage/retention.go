package storage

import (
	"cmp"
	"slices"
	"time"
)

// Retention says which artifacts of a snippet stay.
type Retention struct {
	Keep  []string      // revisions: the published one and those of the history
	Grace time.Duration // how long another one stays after newer ones took its place; 0: not at all
}

// Decision is what to do with the artifacts of a snippet now.
type Decision struct {
	Delete []Ref     // oldest first
	Next   time.Time // when the next one has to go; zero: none is waiting
}

// Decide is a pure function. A revision left the set of those to keep when as many newer ones had been put as the set
// has; its grace is counted from then. One that never was in the set, because nothing newer is there and still it is not
// to be kept, counts from when it was put.
func (r Retention) Decide(stored []Stored, now time.Time) Decision {
	byTime := slices.SortedFunc(slices.Values(stored), func(a, b Stored) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Revision, b.Revision))
	})
	kept := map[string]bool{} // a history may name a revision twice
	for _, revision := range r.Keep {
		kept[revision] = true
	}
	var decision Decision
	for i, candidate := range byTime {
		if kept[candidate.Revision] {
			continue
		}
		superseded := byTime[min(i+max(len(kept), 1), len(byTime)-1)].Time
		expires := superseded.Add(r.Grace)
		switch {
		case !now.Before(expires):
			decision.Delete = append(decision.Delete, candidate.Ref)
		case decision.Next.IsZero() || expires.Before(decision.Next):
			decision.Next = expires
		}
	}
	return decision
}
