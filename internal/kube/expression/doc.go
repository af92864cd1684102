// Package expression evaluates conditions that people write in CEL about objects of a cluster. The fields of the object are
// the variables (status, metadata, spec, data), and the functions are those that Flux offers, so that an expression means
// the same in both. What an evaluation may cost is limited.
//
// It reads nothing but the object that it is given.
package expression
