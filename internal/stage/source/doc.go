// Package source finds the artifacts that stages are made from: those of Flux's four kinds of sources, and those that
// producers of other kinds publish by an ExternalArtifact which points back at them.
package source
