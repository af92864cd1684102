// Bench measures the renderer and frontmatter, and prints tables. `make bench` runs it from the repository's root.
//
// It measures and never judges: a slow machine is no failure.
package main
