package build

import (
	"context"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/stagewright/stagewright/internal/artifact"
)

// Input is all that objects are made from.
type Input struct {
	Files      artifact.Files
	Path       string // directory in Files
	Patches    []kustomize.Patch
	Substitute map[string]string // values of ${variables}; nil leaves ${…} as it is
	Secrets    []string          // values that errors must not show
	// Namespace is what objects without one get, where their kind has namespaces; Namespaced tells of kinds that are not
	// built in.
	Namespace string
}

// Options are what a Builder is made of.
type Options struct {
	MaxObjects int   // of one build; zero is 50,000
	MaxBytes   int64 // of the objects of one build as JSON; zero is 256 MiB
	Concurrent int   // kustomize builds at a time; zero is 2
	CacheBytes int64 // of objects that are kept by input; zero is 128 MiB, a negative number keeps none
}

// Builder builds. It can be used concurrently.
type Builder struct{}

// New returns a builder.
func New(o Options) *Builder { panic("not yet") }

// Build returns the objects in the order in which they are applied. They are shared with a cache: callers must not change
// them. Errors are an *Error that says in which file, or come from the context.
//
// key, where it is not empty, identifies the input: equal keys mean equal inputs, and the result of one is used for all.
func (b *Builder) Build(ctx context.Context, key string, in func(context.Context) (Input, error)) ([]*unstructured.Unstructured, error) {
	panic("not yet")
}

// Error says what is wrong with manifests. Trying again does not help.
type Error struct {
	File string // path in the artifact; empty when it is about the whole
	Err  error
}

func (e *Error) Error() string { panic("not yet") }
func (e *Error) Unwrap() error { return e.Err }
