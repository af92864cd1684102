package inventory

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// Sweep gives up the inventories of StageSets of a name that have gone without a teardown: somebody took their finalizer, or
// deleted them without their dependents. Nobody else would take our finalizer from the shards, and their namespace could never
// be deleted. Current tells the UID of the StageSet that has the name now, or "". It is asked after the shards were read: what
// they name and is not there then will never be.
func (s *Store) Sweep(ctx context.Context, namespace, name string, current func(context.Context) (types.UID, error)) error {
	held := func(shard *stagesv1.StageInventory) bool {
		return slices.Contains(shard.Finalizers, stagesv1.InventoryFinalizer)
	}
	left, _, err := s.listFrom(ctx, namespace, client.MatchingLabels{stagesv1.NameLabel: name}, "", held)
	if err != nil {
		return fmt.Errorf("reading the inventories of %s/%s: %w", namespace, name, err)
	}
	if len(left) == 0 {
		return nil
	}
	uid, err := current(ctx)
	if err != nil {
		return err
	}
	for _, shard := range left {
		if !abandoned(shard, name, uid) {
			continue
		}
		gone := Owner{Namespace: namespace, Name: name}
		if owner := metav1.GetControllerOf(shard); owner != nil {
			gone.UID = owner.UID
		}
		if err := client.IgnoreNotFound(s.drop(ctx, gone, shard, nil)); err != nil {
			return err
		}
	}
	return nil
}

// abandoned says whether a shard belongs to a StageSet that does not exist, where current is the UID of the one of its name.
func abandoned(shard *stagesv1.StageInventory, name string, current types.UID) bool {
	owner := metav1.GetControllerOf(shard)
	if owner == nil { // whose it was is not known, but that it had this name
		return current == ""
	}
	return owner.Kind == "StageSet" && owner.Name == name && owner.UID != current
}
