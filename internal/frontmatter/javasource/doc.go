// Package javasource reads declarations from Java sources: records with their components, enums with their constants,
// nested types, and the methods that can build or convert a value. Names of types are resolved to qualified ones.
//
// It reads and never runs or compiles anything, looks at a file only when one of its classes is asked for, and skips
// bodies unread. It must not know SQL, front matter or what is generated.
package javasource
