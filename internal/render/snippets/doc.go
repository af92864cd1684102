// Package snippets finds the program that a request path names: a configured file by its verbatim path, or the
// main.jsonnet of a subdirectory of a configured directory. No name leads out of those.
package snippets
