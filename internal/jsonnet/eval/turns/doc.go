// Package turns shares the processors between long evaluations and everything else.
//
// An evaluation that has run for some milliseconds becomes a long one. From then on it runs only while it has one of a
// fixed number of turns, hands it on after a moment when others wait, and runs on a thread of low priority. Short work is
// never behind long work: neither a short evaluation nor a request, a probe or the renewal of a lease.
//
// The package knows nothing of Jsonnet.
package turns
