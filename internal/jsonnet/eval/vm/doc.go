// Package vm holds Jsonnet's values and the machine that evaluates compiled programs.
//
// A program is an immutable tree of Nodes with resolved variable slots, shared by all evaluations of a file. A Machine
// is one evaluation: its call stack for limits and traces, its memory meter and its stop flag. Errors leave the machine
// as a panic that Run turns into a *jsonnet.Error, because in Jsonnet nothing catches an error but the caller of the
// whole evaluation.
//
// The package knows neither how programs are made (compile) nor what the standard library offers (std).
package vm
