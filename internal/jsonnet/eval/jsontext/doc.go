// Package jsontext reads JSON documents into Jsonnet values and programs, without the Jsonnet parser.
//
// It accepts what is JSON by RFC 8259 and means the same in Jsonnet, and refuses everything else, so that the caller can
// turn to a slower reader with better messages.
package jsontext
