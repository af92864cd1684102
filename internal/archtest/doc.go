// Package archtest holds the rules of who may import whom, as a test. The rules and their reasons are in
// ARCHITECTURE.md.
package archtest
