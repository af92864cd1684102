package crdwatch

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// definition is the part of a CustomResourceDefinition that is looked at.
type definition struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Group string `json:"group"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func parse(object *unstructured.Unstructured) (*definition, error) {
	var d definition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &d); err != nil {
		return nil, fmt.Errorf("reading CustomResourceDefinition %s: %w", object.GetName(), err)
	}
	return &d, nil
}

// available returns the kinds that the definition makes available now, under the UID of the definition.
func (d *definition) available() map[schema.GroupVersionKind]types.UID {
	if d.DeletionTimestamp != nil || !d.established() {
		return nil
	}
	kinds := map[schema.GroupVersionKind]types.UID{}
	for _, version := range d.Spec.Versions {
		if version.Served {
			kinds[schema.GroupVersionKind{Group: d.Spec.Group, Version: version.Name, Kind: d.Spec.Names.Kind}] = d.UID
		}
	}
	return kinds
}

func (d *definition) established() bool {
	for _, condition := range d.Status.Conditions {
		if condition.Type == "Established" {
			return condition.Status == metav1.ConditionTrue
		}
	}
	return false
}

// withoutSchema drops from a definition what is not looked at: the schemas of all kinds of a cluster are many megabytes.
func withoutSchema(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	u.SetManagedFields(nil)
	u.SetAnnotations(nil)
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions") // a copy
	for _, version := range versions {
		if fields, ok := version.(map[string]any); ok {
			delete(fields, "schema")
			delete(fields, "additionalPrinterColumns")
		}
	}
	if len(versions) > 0 {
		_ = unstructured.SetNestedSlice(u.Object, versions, "spec", "versions")
	}
	return u, nil
}
