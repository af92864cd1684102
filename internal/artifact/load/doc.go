// Package load loads the files of Flux artifacts: fetched, verified, unpacked, and kept by their digest so that what has not
// changed is not fetched again.
//
// Its limits are those of the whole process: how much is held unpacked at a time, how much of that one namespace may have
// while others need some too, and how much stays when nobody uses it. It knows neither Kubernetes nor what files are for.
package load
