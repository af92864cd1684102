// Package gojsonnet is the evaluator of github.com/google/go-jsonnet behind jsonnet.Evaluator. It is the reference that
// tests and measurements compare with; no program uses it.
//
// Its virtual machine cannot be stopped, does not bound its memory, and an endless tail-strict recursion overflows the
// stack of the process: a job's context and memory limit have no effect here.
package gojsonnet
