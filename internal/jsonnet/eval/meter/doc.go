// Package meter measures how much memory one evaluation holds.
//
// A Meter counts what is allocated and puts a weak pointer on one allocation in every few kilobytes. The weak pointers
// that the garbage collector has not cleared yet, each worth the bytes it stands for, are an unbiased estimate of what
// the evaluation still holds, with no walk of its values and no list of roots to keep. Only an evaluation whose estimate
// passes its budget pays for a collection that makes the estimate exact.
//
// The package knows nothing of Jsonnet.
package meter
