package crdwatch

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	maxSchemas = 1024             // kinds of which it is remembered
	schemaAge  = 30 * time.Second // how long
)

// Schemas knows from the definitions of a cluster what their kinds have in their status. It reads a definition when it is
// asked for, because all of them are many megabytes, and because one that was applied a moment ago counts. It can be used
// concurrently.
type Schemas struct {
	reader client.Reader
	mapper meta.RESTMapper
	known  *lru.Cache
	now    func() time.Time
}

type answer struct {
	reports bool
	until   time.Time
}

// NewSchemas returns schemas that are read by a reader without a cache, which may get customresourcedefinitions.
func NewSchemas(reader client.Reader, mapper meta.RESTMapper) *Schemas {
	return &Schemas{reader: reader, mapper: mapper, known: lru.New(maxSchemas), now: time.Now}
}

// ReportsGeneration reports whether a kind has both an observed generation and conditions in its status, so that its
// controller tells what it has seen. Kinds without a definition, and those whose definition may not be read, do not.
func (s *Schemas) ReportsGeneration(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	if known, ok := s.known.Get(kind); ok {
		if a, ok := known.(answer); ok && s.now().Before(a.until) {
			return a.reports, nil
		}
	}
	reports, err := s.read(ctx, kind)
	if err != nil {
		return false, err
	}
	s.known.Add(kind, answer{reports: reports, until: s.now().Add(schemaAge)})
	return reports, nil
}

func (s *Schemas) read(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking up kind %s: %w", kind, err)
	}
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("apiextensions.k8s.io/v1")
	object.SetKind("CustomResourceDefinition")
	name := mapping.Resource.GroupResource().String()
	switch err := s.reader.Get(ctx, client.ObjectKey{Name: name}, object); {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
	}
	return reportsGeneration(object, kind.Version)
}

// statuses is the part of a CustomResourceDefinition that tells what a status has.
type statuses struct {
	Spec struct {
		Versions []struct {
			Name   string `json:"name"`
			Schema struct {
				Root struct {
					Properties struct {
						Status struct {
							Properties struct {
								ObservedGeneration *property `json:"observedGeneration"`
								Conditions         *property `json:"conditions"`
							} `json:"properties"`
						} `json:"status"`
					} `json:"properties"`
				} `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

type property struct{}

func reportsGeneration(definition *unstructured.Unstructured, version string) (bool, error) {
	var d statuses
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(definition.Object, &d); err != nil {
		return false, fmt.Errorf("reading CustomResourceDefinition %s: %w", definition.GetName(), err)
	}
	for _, v := range d.Spec.Versions {
		if v.Name == version {
			properties := v.Schema.Root.Properties.Status.Properties
			return properties.ObservedGeneration != nil && properties.Conditions != nil, nil
		}
	}
	return false, nil
}
