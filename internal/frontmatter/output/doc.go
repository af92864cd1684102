// Package output keeps a folder of generated files as a run wants it: it compares, writes and removes them, and knows by
// a manifest which files are its own.
//
// It knows nothing of what the files hold but their first line.
package output
