// Package format writes front matter in its canonical form: keys in the order of the table, two blanks of indentation
// for each level, one blank behind a colon. Scalars and comments stay as they are written.
//
// It works on the lines of the block, guided by the nodes, and never uses a YAML emitter. It must not touch SQL, decide
// what is an error, or read and write files.
package format
