// Package admission is the validating webhook of StageSets. It refuses what package validate finds wrong, and warns of what
// this release does not act on.
//
// It decides by what it is sent alone, and never locks an object: a change that leaves the spec as it is passes, and so does
// everything about an object that is being deleted.
package admission
