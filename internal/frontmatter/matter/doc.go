// Package matter gives front matter its meaning: the table of keys with their shapes, the reading of YAML into nodes
// with exact places, the comparison of nodes with shapes, and the JSON Schema made from the same table. It owns the
// table of the project file in the same way.
//
// It must not know SQL, files or Java: a rule that needs the statement below the front matter belongs to check.
package matter
