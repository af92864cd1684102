// Package gate answers over HTTP whether a stage is ready, for tools that wait for it. Answers are made when a StageSet
// changes and kept ready, so that a request reads a map and copies some bytes.
//
// It reads StageSets from a cache and writes nothing. An answer has a phase and a revision and no message, because anybody
// may ask who reaches the port.
package gate
