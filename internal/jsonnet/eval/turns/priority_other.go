//go:build !linux

package turns

// lowerPriority does nothing: only Linux has priorities of threads that any process may lower.
func lowerPriority() {}
