// Package gojsonnet is the evaluator of github.com/google/go-jsonnet behind jsonnet.Evaluator.
//
// Its virtual machine cannot be stopped, does not bound its memory, and an endless tail-strict recursion overflows the
// stack of the process. A job's context and memory limit therefore have no effect here; the caller answers in time
// and counts an evaluation as running until it has truly ended.
package gojsonnet
