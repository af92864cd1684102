// Package ddl reads CREATE, ALTER and DROP TABLE into tables with their columns, and finds the tables that a statement
// names. Other statements are counted and left alone.
//
// It knows columns as the database declares them; which Java type belongs to a column is not its business, and it never
// reads a file.
package ddl
