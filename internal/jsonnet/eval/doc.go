// Package eval is Stagewright's own Jsonnet evaluator.
//
// It implements jsonnet.Evaluator over go-jsonnet's parser: files are compiled once into programs that concurrent
// evaluations share, and each evaluation is a machine that can be stopped, and is bounded in call depth, Go stack and
// memory. Results and errors are those of go-jsonnet v0.22.0.
//
// The rooms below are compile (syntax tree to program), vm (values and machine), std (standard library), jsontext (JSON
// documents) and meter (memory).
package eval
