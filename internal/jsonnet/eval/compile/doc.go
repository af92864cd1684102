// Package compile turns go-jsonnet's desugared syntax tree into programs for package vm.
//
// It resolves every variable to a frame and a slot, calls of the standard library to native functions, tail calls, and
// the expressions that need no thunk. Chains of operators of any length compile to one node; what is nested too deeply
// is refused. The result is immutable.
//
// The package evaluates nothing.
package compile
