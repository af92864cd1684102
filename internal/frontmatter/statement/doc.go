// Package statement is the model of a SQL statement with its settings, neutral as to the language that is generated
// from it: name, type, returning mode, repository and parameters, with the defaults of the project applied.
//
// It owns how these are derived from front matter, file name and folder. It must not know how findings are shown,
// which files there are, or what generated code looks like.
package statement
