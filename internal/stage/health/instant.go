package health

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Instant says whether objects of a kind are healthy as soon as they exist, so that nobody needs to look: those without a
// status that tells of health.
func (r *Rules) Instant(kind schema.GroupKind) bool {
	if r.covers(kind) {
		return false
	}
	switch kind.Group {
	case "":
		return kind.Kind == "ConfigMap" || kind.Kind == "Secret" || kind.Kind == "ServiceAccount" || kind.Kind == "LimitRange"
	case "rbac.authorization.k8s.io":
		return true
	case "networking.k8s.io":
		return kind.Kind == "NetworkPolicy"
	case "scheduling.k8s.io":
		return kind.Kind == "PriorityClass"
	case "storage.k8s.io":
		return kind.Kind == "StorageClass"
	default:
		return false
	}
}
