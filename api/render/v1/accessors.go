package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GetConditions returns the conditions of the snippet.
func (in *JsonnetSnippet) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the snippet.
func (in *JsonnetSnippet) SetConditions(conditions []metav1.Condition) {
	in.Status.Conditions = conditions
}

// SetObservedGeneration notes the generation that the conditions are about.
func (in *JsonnetSnippet) SetObservedGeneration(generation int64) {
	in.Status.ObservedGeneration = generation
}

// SetLastHandledReconcileRequest notes the request that was handled last.
func (in *JsonnetSnippet) SetLastHandledReconcileRequest(token string) {
	in.Status.LastHandledReconcileAt = token
}

// GetConditions returns the conditions of the library.
func (in *JsonnetLibrary) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the library.
func (in *JsonnetLibrary) SetConditions(conditions []metav1.Condition) {
	in.Status.Conditions = conditions
}

// SetObservedGeneration notes the generation that the conditions are about.
func (in *JsonnetLibrary) SetObservedGeneration(generation int64) {
	in.Status.ObservedGeneration = generation
}

// SetLastHandledReconcileRequest does nothing: a library is looked at whenever it changes, and does no work that could be
// asked for.
func (in *JsonnetLibrary) SetLastHandledReconcileRequest(string) {}
