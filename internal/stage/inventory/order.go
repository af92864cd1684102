package inventory

import (
	"cmp"
	"strings"
)

// Wave is a part of a stage that is applied before the next one is begun.
type Wave int

// The waves.
const (
	Definitions Wave = iota // what other objects are made of or live in: CRDs, Namespaces
	Foundations             // what others are checked against when they are created: classes, accounts, roles, quotas
	Objects                 // all others
	Intercepts              // what stands between a request and the API server: webhook configurations
)

// Wave is the wave in which the object is applied.
func (id ID) Wave() Wave {
	switch {
	case id.Group == "apiextensions.k8s.io" && id.Kind == "CustomResourceDefinition",
		id.Group == "" && id.Kind == "Namespace":
		return Definitions
	case id.Group == "admissionregistration.k8s.io" && strings.HasSuffix(id.Kind, "WebhookConfiguration"):
		return Intercepts
	case strings.HasSuffix(id.Kind, "Class"),
		id.Group == "rbac.authorization.k8s.io" && (id.Kind == "Role" || id.Kind == "ClusterRole"),
		id.Group == "" && (id.Kind == "ServiceAccount" || id.Kind == "ResourceQuota" || id.Kind == "LimitRange"):
		return Foundations
	default:
		return Objects
	}
}

// rank orders kinds within a wave: what others refer to comes first.
func (id ID) rank() int {
	switch id.Kind {
	case "CustomResourceDefinition", "ClusterRole", "Role":
		return 0
	case "Namespace", "RoleBinding", "ClusterRoleBinding":
		return 1
	case "ConfigMap", "Secret":
		return 2
	case "PersistentVolume", "PersistentVolumeClaim", "Service":
		return 3
	case "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Pod":
		return 4
	default:
		return 5
	}
}

// CompareApply orders IDs as objects are applied. Deleting goes the other way.
func CompareApply(a, b ID) int {
	return cmp.Or(cmp.Compare(a.Wave(), b.Wave()), cmp.Compare(a.rank(), b.rank()), Compare(a, b))
}
