// Package supervise keeps a controller-runtime manager running inside a process that has other things to do: where the
// manager cannot start, dies or loses its lease, it is made anew with backoff, and never before everything of the last one
// has ended. It tells whether objects are reconciled now, and if not, why.
//
// It knows no kind and no controller.
package supervise
