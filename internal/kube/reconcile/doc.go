// Package reconcile is what all controllers of this module share around their steps: what a step may answer, the kinds
// of errors, how a list of steps is run, and the one exit that turns the end of a run into conditions, one status patch,
// an event and the time of the next run.
//
// A controller keeps the list of steps, a scope that they share and the reasons it gives. This package knows no kind of
// object, makes no decision for a controller and holds no worker while something is waited for.
package reconcile
