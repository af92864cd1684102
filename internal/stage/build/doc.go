// Package build makes objects of the files of an artifact: by kustomize where there is a kustomization or patches ask for it,
// from plain YAML and JSON manifests, or from rendered JSON in its shapes. The same input gives the same objects in the
// same order.
//
// It reads nothing but what it is given: no cluster, no network, no file of the machine.
package build
