package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// served says in which other version the API server serves a kind, after it has answered that it does not know the recorded
// one. An object outlives the version that it was applied with, and is not gone with it. What mappers know can be of the
// past, so the API server itself is asked; the empty version is none.
func (c Cluster) served(ctx context.Context, kind schema.GroupVersionKind) (version string, err error) {
	if c.Discovery == nil || kind.Group == "" {
		return "", nil
	}
	var group metav1.APIGroup
	if err := c.discover(ctx, "/apis/"+kind.Group, &group); err != nil {
		return "", err
	}
	for _, v := range group.Versions {
		if v.Version == kind.Version {
			continue
		}
		var resources metav1.APIResourceList
		if err := c.discover(ctx, "/apis/"+kind.Group+"/"+v.Version, &resources); err != nil {
			return "", err
		}
		for _, r := range resources.APIResources {
			if r.Kind == kind.Kind {
				return v.Version, nil
			}
		}
	}
	return "", nil
}

// discover reads what an API server tells of itself, which may be nothing.
func (c Cluster) discover(ctx context.Context, path string, into any) error {
	text, err := c.Discovery.Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx).Raw()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("finding out which kinds are served: %w", err)
	}
	return nil
}
