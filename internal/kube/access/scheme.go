package access

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
)

// NewScheme returns a scheme with the kinds of Kubernetes and those that the functions add.
func NewScheme(add ...func(*runtime.Scheme) error) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientgo.AddToScheme}, add...) {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("adding kinds to the scheme: %w", err)
		}
	}
	return scheme, nil
}
