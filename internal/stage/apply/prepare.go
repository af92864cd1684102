package apply

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// item is an object on its way.
type item struct {
	entry    inventory.Entry // as recorded; id and version as rendered
	object   map[string]any  // as it is sent; shared with the caller but for what was changed
	rendered string          // fingerprint of it
	live     inventory.Live
	exists   bool
}

// EntryOf is the entry of an object that was not applied yet.
func EntryOf(object *unstructured.Unstructured) inventory.Entry {
	kind := object.GroupVersionKind()
	return inventory.Entry{
		ID: inventory.ID{
			Namespace: object.GetNamespace(), Name: object.GetName(), Group: kind.Group, Kind: kind.Kind,
		},
		Version: kind.Version,
	}
}

// prepare returns the items of a job in the order in which they are applied.
func (a *Applier) prepare(job Job) ([]*item, error) {
	items := make([]*item, 0, len(job.Objects))
	seen := make(map[inventory.ID]bool, len(job.Objects))
	for _, object := range job.Objects {
		entry := EntryOf(object)
		if seen[entry.ID] {
			return nil, &RefusedError{ID: entry.ID, Err: errTwice}
		}
		seen[entry.ID] = true
		it := &item{entry: entry, object: labelled(object, job.Owner.Labels(job.Stage))}
		if isSecret(entry.ID) {
			encodeStringData(it.object)
		}
		body, err := json.Marshal(it.object)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", entry.ID.Display(), err)
		}
		it.rendered = a.prints.of(entry.ID, body)
		it.live, it.exists = job.Live[entry.ID]
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b *item) int { return inventory.CompareApply(a.entry.ID, b.entry.ID) })
	return items, nil
}

// labelled returns the object with labels and without what only an API server sets. The original stays as it is.
func labelled(object *unstructured.Unstructured, labels map[string]string) map[string]any {
	content := maps.Clone(object.Object)
	metadata, _ := content["metadata"].(map[string]any)
	metadata = runtime.DeepCopyJSON(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	for _, field := range []string{
		"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		delete(metadata, field)
	}
	all, _ := metadata["labels"].(map[string]any)
	if all == nil {
		all = map[string]any{}
	}
	for key, value := range labels {
		all[key] = value
	}
	metadata["labels"] = all
	content["metadata"] = metadata
	return content
}

// encodeStringData makes stringData of a Secret data, as the API server does: it would own fields that it does not have.
func encodeStringData(secret map[string]any) {
	plain, ok := secret["stringData"].(map[string]any)
	if !ok {
		return
	}
	for _, value := range plain {
		if _, ok := value.(string); !ok {
			return // the API server says what is wrong
		}
	}
	data, _ := secret["data"].(map[string]any)
	data = maps.Clone(data)
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value.(string)))
	}
	secret["data"] = data
	delete(secret, "stringData")
}

// bodyFor is the object as it is sent when it exists so already: the API server refuses it when that is another object by
// now or, with the version, when it was changed since.
func (it *item) bodyFor(withVersion bool) ([]byte, error) {
	if !it.exists {
		return json.Marshal(it.object)
	}
	content := maps.Clone(it.object)
	metadata := maps.Clone(content["metadata"].(map[string]any))
	metadata["uid"] = string(it.live.UID)
	if withVersion {
		metadata["resourceVersion"] = it.live.ResourceVersion
	}
	content["metadata"] = metadata
	return json.Marshal(content)
}

// unchanged says that there is nothing to send: the object is the recorded one, what is ours of it is as it was applied, and
// it is rendered as it was.
func (it *item) unchanged(labels map[string]string) bool {
	if !it.exists || it.live.Deleting || it.entry.UID == "" || it.entry.UID != it.live.UID {
		return false
	}
	was := parseFingerprint(it.entry.Fingerprint)
	if was.rendered != it.rendered || was.live != managedPrint(it.live.Managed) {
		return false
	}
	if was.kept {
		return true // whatever is ours of it, which may be nothing
	}
	if was.live == "" {
		return false
	}
	for key, value := range labels {
		if it.live.Labels[key] != value {
			return false
		}
	}
	return true
}

// drifted says that the object was applied as it is rendered, once; if something has to be changed now, somebody else
// changed or deleted it.
func (it *item) drifted() bool {
	was := parseFingerprint(it.entry.Fingerprint)
	return !was.kept && was.rendered != "" && was.rendered == it.rendered
}
