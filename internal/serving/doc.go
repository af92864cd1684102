// Package serving is the life of a program that serves: listeners that are all bound before anything is answered, a state that
// the probes tell, and an end that first says so, then answers what was accepted, within a time.
//
// It knows nothing of what is served.
package serving
