package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// AheadInput is what is known before a stage is applied.
type AheadInput struct {
	Recorded []Entry          // of the stage
	Rendered []Entry          // of the stage, without UID; with the recorded fingerprint where it is rendered as it was
	Live     map[ID]Live      // of the objects that carry the labels of the owner
	Intended map[ID]types.UID // objects that are going to be replaced, by the UID that they have now
}

// Ahead returns what has to be recorded before the first object of a stage is applied: the old entries and the new ones.
//
// An object that will be created, because it was not found or is going to be replaced, loses the UID that was recorded: the new
// one is not known yet, and an entry with the old one would disown what is created. See Decide for what an entry without a
// UID allows. What a conflict policy keeps may never have got our labels, so that it is not found and is there all the same.
//
// An object that is rendered otherwise than it was loses its fingerprint, which is of what it was before it is sent. When the
// process ends before it has recorded what it sent, and the former content is rendered again, nothing else would tell that the
// object is not so any more.
func Ahead(in AheadInput) []Entry {
	entries := make(map[ID]Entry, len(in.Recorded)+len(in.Rendered))
	for _, e := range in.Recorded {
		entries[e.ID] = e
	}
	for _, e := range in.Rendered {
		old := entries[e.ID]
		e.UID = old.UID
		live, found := in.Live[e.ID]
		intended, replaced := in.Intended[e.ID]
		switch {
		case replaced && intended == live.UID, !found && !old.Kept():
			e.UID = ""
		}
		entries[e.ID] = e
	}
	return sorted(entries)
}

func sorted(entries map[ID]Entry) []Entry {
	list := make([]Entry, 0, len(entries))
	for _, e := range entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int { return Compare(a.ID, b.ID) })
	return list
}
