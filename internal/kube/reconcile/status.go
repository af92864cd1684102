package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// statusPatch returns a merge patch from one status to the other that holds only at a version of the object, or nil when
// they are the same.
func statusPatch(before, after Object, version string) ([]byte, error) {
	old, err := statusOf(before)
	if err != nil {
		return nil, err
	}
	status, err := statusOf(after)
	if err != nil {
		return nil, err
	}
	difference, err := jsonpatch.CreateMergePatch(old, status)
	if err != nil {
		return nil, fmt.Errorf("comparing statuses: %w", err)
	}
	if bytes.Equal(difference, []byte("{}")) {
		return nil, nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": version},
		"status":   json.RawMessage(difference),
	})
	if err != nil {
		return nil, fmt.Errorf("writing the patch of a status: %w", err)
	}
	return patch, nil
}

// statusOf returns the status of an object as JSON.
func statusOf(object Object) ([]byte, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", object, err)
	}
	var parts struct {
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(encoded, &parts); err != nil {
		return nil, fmt.Errorf("reading the status of %T: %w", object, err)
	}
	if parts.Status == nil {
		return []byte("{}"), nil
	}
	return parts.Status, nil
}

func sameStatus(a, b Object) (bool, error) {
	first, err := statusOf(a)
	if err != nil {
		return false, err
	}
	second, err := statusOf(b)
	if err != nil {
		return false, err
	}
	return bytes.Equal(first, second), nil
}
