package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GetConditions returns the conditions of the StageSet.
func (in *StageSet) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the StageSet.
func (in *StageSet) SetConditions(conditions []metav1.Condition) { in.Status.Conditions = conditions }

// SetObservedGeneration notes the generation that the conditions are about.
func (in *StageSet) SetObservedGeneration(generation int64) {
	in.Status.ObservedGeneration = generation
}

// SetLastHandledReconcileRequest notes the request that was handled last.
func (in *StageSet) SetLastHandledReconcileRequest(token string) {
	in.Status.LastHandledReconcileAt = token
}
