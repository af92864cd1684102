// Package fairqueue is a work queue for controllers that shares their workers between groups, such as namespaces: no group,
// however much it asks for and however long that takes, holds all workers, and groups that wait take turns.
//
// It knows nothing of what is queued but its group.
package fairqueue
