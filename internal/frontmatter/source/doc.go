// Package source turns the text of an .sql file into statements: positions, lexing by dialect, the front matter block
// above each statement and the parameters inside it.
//
// It knows how SQL is written down and where things are, and never changes a byte: the tokens of a file, joined, are
// the file. It must not know what the keys of front matter mean (it is told which words are keys), what YAML is, or
// what is generated from a statement.
package source
