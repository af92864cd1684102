// Package crdwatch tells when kinds that other programs define become available in a cluster and when they go away, so
// that a controller engages its watches of them without a restart, and starts where they are not installed. It also reads
// from their definitions what their status has.
//
// It needs the right to get, list and watch customresourcedefinitions. It does not know what is watched then.
package crdwatch
