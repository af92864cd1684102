// Package docs holds the documentation, and the test that runs the commands it shows. README.md is its index.
package docs
