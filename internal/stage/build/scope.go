package build

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scopes knows which kinds have namespaces.
type scopes struct {
	defined map[schema.GroupKind]bool // by the manifests; true: with namespaces
	cluster map[schema.GroupKind]bool // built in, without namespaces
	ask     func(schema.GroupKind) (bool, bool)
}

// newScopes also learns from the definitions among the objects.
func newScopes(objects []object, ask func(schema.GroupKind) (bool, bool)) scopes {
	s := scopes{defined: map[schema.GroupKind]bool{}, cluster: clusterKinds(), ask: ask}
	for _, o := range objects {
		if o.content["kind"] != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(o.content, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.content, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(o.content, "spec", "scope")
		s.defined[schema.GroupKind{Group: group, Kind: kind}] = scope == "Namespaced"
	}
	return s
}

// place gives an object the namespace, if it has none and its kind has one. It takes the namespace from an object whose
// kind has none, as kubectl ignores it. It says whether the kind is known.
func (s scopes) place(u *unstructured.Unstructured, namespace string) bool {
	namespaced, known := s.namespaced(u.GroupVersionKind().GroupKind())
	switch {
	case known && !namespaced:
		unstructured.RemoveNestedField(u.Object, "metadata", "namespace")
	case known && u.GetNamespace() == "" && namespace != "":
		u.SetNamespace(namespace)
	}
	return known
}

func (s scopes) namespaced(kind schema.GroupKind) (namespaced, known bool) {
	if namespaced, ok := s.defined[kind]; ok {
		return namespaced, true
	}
	if s.cluster[kind] {
		return false, true
	}
	if isBuiltIn(kind.Group) {
		return true, true
	}
	if s.ask == nil {
		return false, false
	}
	return s.ask(kind)
}

// isBuiltIn says whether the kinds of a group come with Kubernetes. Groups below k8s.io are those of SIGs as well, so
// that only those are named here that every API server has.
func isBuiltIn(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy", "admissionregistration.k8s.io", "apiextensions.k8s.io",
		"apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io",
		"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io",
		"internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io",
		"scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}

// clusterKinds are the built-in kinds without namespaces.
func clusterKinds() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for group, names := range map[string]string{
		"": "ComponentStatus Namespace Node PersistentVolume",
		"admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration " +
			"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
		"apiextensions.k8s.io":         "CustomResourceDefinition",
		"apiregistration.k8s.io":       "APIService",
		"authentication.k8s.io":        "SelfSubjectReview TokenReview",
		"authorization.k8s.io":         "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
		"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle",
		"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
		"internal.apiserver.k8s.io":    "StorageVersion",
		"networking.k8s.io":            "IPAddress IngressClass ServiceCIDR",
		"node.k8s.io":                  "RuntimeClass",
		"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding",
		"resource.k8s.io":              "DeviceClass DeviceTaintRule ResourceSlice",
		"scheduling.k8s.io":            "PriorityClass",
		"storage.k8s.io":               "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
		"storagemigration.k8s.io":      "StorageVersionMigration",
	} {
		for _, kind := range strings.Fields(names) {
			kinds[schema.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	return kinds
}
