// Package files finds and reads the files of Jsonnet programs inside directories they are confined to.
//
// A Root is such a directory; nothing outside it can be reached through it, by "..", by an absolute path or by a
// symbolic link. A Store reads regular files through Roots and remembers their contents, so that asking again costs a
// stat. A Program is an entry file with the roots it may import from; it implements jsonnet.Workspace.
package files
