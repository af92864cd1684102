// Package java generates Java repositories from statements: the model of statements becomes a view, in which every name
// and every type is decided, and templates turn the view into files.
//
// It owns the table of Java types with the calls that read and bind them. It reads no SQL beyond what the model has,
// and never writes a file.
package java
