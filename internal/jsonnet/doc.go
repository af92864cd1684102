// Package jsonnet evaluates Jsonnet for programs that serve other people's templates.
//
// The Engine owns the limits (time, stack, memory, concurrency, source size), the caches and the rule that a result is
// a pure function of the files an evaluation looked up, its variables and its arguments. Behind it stands an Evaluator,
// which knows the language and nothing else. Where files come from is the business of package files below.
//
// The package knows neither HTTP nor Kubernetes.
package jsonnet
