// Package examples holds snippets to learn from, and the test that keeps them true. README.md lists them.
package examples
