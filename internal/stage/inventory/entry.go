package inventory

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// ID names an object, whatever the version of its API. It is comparable.
type ID struct {
	Namespace, Name, Group, Kind string
}

// Entry is an object that a stage applies or has applied.
type Entry struct {
	ID          ID
	Version     string    // of the API: the v1 of apps/v1
	UID         types.UID // empty until it was seen
	Fingerprint string    // of what was applied, see package apply; empty where the object has to be compared
}

// Kind is the kind of the entry with its version.
func (e Entry) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: e.ID.Group, Version: e.Version, Kind: e.ID.Kind}
}

// KeptMark ends the fingerprint of an object that a conflict policy has kept as it is.
const KeptMark = ".kept"

// Kept says that the object was kept as it is by a conflict policy, although it is rendered otherwise.
func (e Entry) Kept() bool { return strings.HasSuffix(e.Fingerprint, KeptMark) }

// Owner is the StageSet that an inventory belongs to.
type Owner struct {
	Namespace, Name string
	UID             types.UID
}

// Stage is the inventory of one stage.
type Stage struct {
	Name     string
	Position int     // in its StageSet
	Entries  []Entry // sorted by ID
	Shards   int     // how many objects hold them
}

// Live is what is known of an object in the cluster from its metadata.
type Live struct {
	Version         string // of the API, where the recorded one is not served; else empty
	UID             types.UID
	ResourceVersion string
	Generation      int64
	Labels          map[string]string
	Annotations     map[string]string // only those of ours that say what is to become of the object
	Deleting        bool
	Finalizers      []string
	Managed         []metav1.ManagedFieldsEntry // only those of our field manager
}

// Found is an entry as it was found: in a version that is served.
func (l Live) Found(e Entry) Entry {
	if l.Version != "" {
		e.Version = l.Version
	}
	return e
}

// Owner is the StageSet that the labels of the object name, if they name one.
func (l Live) Owner() (types.NamespacedName, bool) {
	owner := types.NamespacedName{
		Namespace: l.Labels[stagesv1.NamespaceLabel], Name: l.Labels[stagesv1.NameLabel],
	}
	return owner, owner.Namespace != "" && owner.Name != ""
}

// Applied says whether our field manager has applied the object.
func (l Live) Applied() bool {
	for _, m := range l.Managed {
		if m.Manager == stagesv1.FieldManager && m.Operation == metav1.ManagedFieldsOperationApply {
			return true
		}
	}
	return false
}

func (o Owner) is(other types.NamespacedName) bool {
	return o.Namespace == other.Namespace && o.Name == other.Name
}

// Labels are those that objects of a stage carry.
func (o Owner) Labels(stage string) map[string]string {
	return map[string]string{
		stagesv1.NameLabel: o.Name, stagesv1.NamespaceLabel: o.Namespace, stagesv1.StageLabel: stage,
	}
}
