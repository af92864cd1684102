package inventory

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

const (
	// shardBytes bounds a shard well below what an API server stores in one object.
	shardBytes = 900 << 10
	// entryOverhead, uidBytes and printBytes are what an entry takes as JSON beside its id and version when it is complete,
	// so that a shard does not outgrow its bound when UIDs come to be known.
	entryOverhead, uidBytes, printBytes = 40, 36, 48
	// prefixBytes bounds the readable part of a shard's name.
	prefixBytes = 180
)

// limits bound a shard.
type limits struct {
	entries, bytes int
}

// shardPlan is what a shard is to hold.
type shardPlan struct {
	shard   *stagesv1.StageInventory // nil makes a new one
	name    string                   // of a new one
	entries []stagesv1.InventoryEntry
	bytes   int
	gains   bool // entries that were not in it
	gives   bool // entries to others, because they are too many
}

func (p *shardPlan) fits(e stagesv1.InventoryEntry, l limits) bool {
	return len(p.entries) < l.entries && (len(p.entries) == 0 || p.bytes+size(e) <= l.bytes)
}

func (p *shardPlan) add(e stagesv1.InventoryEntry) {
	p.entries = append(p.entries, e)
	p.bytes += size(e)
}

// plan distributes the entries of a stage over its shards, in the order in which they are to be written. Entries stay
// where they are, so that one that changes writes one shard. A shard from which entries move away gains none, and those that
// gain come first: so an entry is in its new shard before it leaves the old one.
func plan(owner Owner, stage Stage, current []*stagesv1.StageInventory, l limits) []shardPlan {
	left := make(map[string]stagesv1.InventoryEntry, len(stage.Entries))
	for _, e := range stage.Entries {
		left[e.ID.String()] = writeEntry(e)
	}
	plans := make([]shardPlan, 0, len(current)+1)
	taken := map[string]bool{}
	for _, shard := range current {
		taken[shard.Name] = true
		p := shardPlan{shard: shard}
		for _, old := range shard.Spec.Entries {
			e, ok := left[old.ID]
			switch {
			case ok && p.fits(e, l):
				p.add(e)
				delete(left, old.ID)
			case ok:
				p.gives = true
			}
		}
		plans = append(plans, p)
	}
	at, index := 0, 0
	for _, e := range stage.Entries {
		entry, ok := left[e.ID.String()]
		if !ok {
			continue
		}
		delete(left, entry.ID)
		for at < len(plans) && (!plans[at].open() || !plans[at].fits(entry, l)) {
			at++
		}
		if at == len(plans) {
			for taken[shardName(owner, stage.Name, index)] {
				index++
			}
			name := shardName(owner, stage.Name, index)
			taken[name] = true
			plans = append(plans, shardPlan{name: name})
		}
		plans[at].add(entry)
		plans[at].gains = true
	}
	for i := range plans {
		slices.SortFunc(plans[i].entries, func(a, b stagesv1.InventoryEntry) int { return strings.Compare(a.ID, b.ID) })
	}
	slices.SortStableFunc(plans, func(a, b shardPlan) int { return btoi(b.gains) - btoi(a.gains) })
	return plans
}

// open says whether new entries may go there: not to a shard that is being deleted, nor to one that is to be removed, nor to
// one that gives entries away.
func (p *shardPlan) open() bool {
	return p.shard == nil || p.shard.DeletionTimestamp == nil && len(p.entries) > 0 && !p.gives
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// size is what an entry takes in a shard.
func size(e stagesv1.InventoryEntry) int {
	return entryOverhead + len(e.ID) + len(e.V) + max(len(e.UID), uidBytes) + max(len(e.FP), printBytes)
}

// shardName is unique to owner, stage and index: the readable part may be the same for others, the hash is not.
func shardName(owner Owner, stage string, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", owner.UID, stage, index))
	hash := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
	prefix := owner.Name + "-" + stage
	prefix = strings.TrimRight(prefix[:min(len(prefix), prefixBytes)], "-.")
	return fmt.Sprintf("%s-%d-%s", prefix, index, hash)
}

// describe sets all of a shard but its entries. A shard does not carry the label of the owner's namespace, by which objects
// that were applied are known: an inventory that names a shard does not make it one of them.
func describe(shard *stagesv1.StageInventory, owner Owner, stage Stage) {
	if shard.Labels == nil {
		shard.Labels = map[string]string{}
	}
	shard.Labels[stagesv1.NameLabel] = owner.Name
	shard.Labels[stagesv1.StageLabel] = stage.Name
	if shard.DeletionTimestamp == nil && !slices.Contains(shard.Finalizers, stagesv1.InventoryFinalizer) {
		shard.Finalizers = append(shard.Finalizers, stagesv1.InventoryFinalizer)
	}
	yes := true
	shard.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: stagesv1.GroupVersion.String(), Kind: "StageSet", Name: owner.Name, UID: owner.UID,
		Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	shard.Spec.StagePosition = int32(stage.Position)
}

func same(a, b *stagesv1.StageInventory) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Labels, b.Labels) &&
		equality.Semantic.DeepEqual(a.Finalizers, b.Finalizers) &&
		equality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

func writeEntry(e Entry) stagesv1.InventoryEntry {
	return stagesv1.InventoryEntry{ID: e.ID.String(), V: e.Version, UID: string(e.UID), FP: e.Fingerprint}
}

// readEntries leaves out what names no object: nobody but a forger wrote it.
func readEntries(shard *stagesv1.StageInventory) []Entry {
	entries := make([]Entry, 0, len(shard.Spec.Entries))
	for _, e := range shard.Spec.Entries {
		if id, err := ParseID(e.ID); err == nil {
			entries = append(entries, Entry{ID: id, Version: e.V, UID: types.UID(e.UID), Fingerprint: e.FP})
		}
	}
	return entries
}
