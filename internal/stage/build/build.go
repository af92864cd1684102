package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/lru"
)

// Input is all that objects are made from.
type Input struct {
	Files   artifact.Files
	Path    string // directory in Files
	Patches []kustomize.Patch
	// Substitute has the values of ${variables}. nil leaves ${…} as it is; a map without entries fills in the defaults that
	// are in the manifests, ${variable:=default}.
	Substitute map[string]string
	Secrets    []string // values that errors must not show
	// Namespace is what objects without one get, where their kind has namespaces.
	Namespace string
	// Namespaced tells of kinds that are neither built into Kubernetes nor defined by the same manifests. Objects of kinds
	// that it does not know either, or of any such kind where it is nil, stay as they are.
	Namespaced func(kind schema.GroupKind) (namespaced, known bool)
}

// Options are what a Builder is made of.
type Options struct {
	MaxObjects int   // of one build; zero is 50,000
	MaxBytes   int64 // of the objects of one build as JSON; zero is 256 MiB
	Concurrent int   // kustomize builds at a time; zero is 2
	CacheBytes int64 // of objects that are kept by input; zero is 128 MiB, a negative number keeps none
}

// Defaults of Options.
const (
	defaultMaxObjects = 50_000
	defaultMaxBytes   = 256 << 20
	defaultConcurrent = 2
	defaultCacheBytes = 128 << 20
	defaultPortion    = 250
)

// Builder builds. It can be used concurrently.
type Builder struct {
	limits  limits
	portion int           // objects that are patched together
	slots   chan struct{} // of those who use kustomize
	large   chan struct{} // of the one who reads a large file
	lock    chan struct{} // of the one whose turn it is in kustomize's library, which has a lock of its own
	kept    *lru.Cache[string, []*unstructured.Unstructured]

	mu      sync.Mutex
	flights map[string]*flight
}

// New returns a builder.
func New(o Options) *Builder {
	if o.MaxObjects == 0 {
		o.MaxObjects = defaultMaxObjects
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Concurrent == 0 {
		o.Concurrent = defaultConcurrent
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCacheBytes
	}
	return &Builder{
		limits:  limits{objects: o.MaxObjects, bytes: o.MaxBytes},
		portion: defaultPortion,
		slots:   make(chan struct{}, o.Concurrent),
		large:   make(chan struct{}, 1),
		lock:    make(chan struct{}, 1),
		kept:    lru.New[string, []*unstructured.Unstructured](o.CacheBytes),
		flights: map[string]*flight{},
	}
}

// Build returns the objects in the order in which they are applied. They are shared with a cache: callers must not change
// them. Errors are an *Error that says in which file, ErrBusy, or come from the context or from in.
//
// key, where it is not empty, identifies the input: equal keys mean equal inputs, and the result of one is used for all.
// in is called by whoever builds, with its own context.
func (b *Builder) Build(
	ctx context.Context, key string, in func(context.Context) (Input, error),
) ([]*unstructured.Unstructured, error) {
	if key == "" {
		made, err := b.make(ctx, in)
		return made.objects, err
	}
	for {
		if objects, ok := b.kept.Get(key); ok {
			return objects, nil
		}
		f, mine := b.board(key)
		if mine {
			return b.fly(ctx, key, f, in)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// What another one could not read, or had no time for, says nothing of this one: it tries itself.
		if f.err == nil || errors.As(f.err, new(*Error)) {
			return f.objects, f.err
		}
	}
}

// flight is a build that others wait for.
type flight struct {
	done    chan struct{} // closed when the rest is there
	objects []*unstructured.Unstructured
	err     error
}

// errUnfinished is that of a flight whose pilot is lost, by a panic.
var errUnfinished = errors.New("the build did not end")

func (b *Builder) board(key string) (f *flight, mine bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f, ok := b.flights[key]; ok {
		return f, false
	}
	f = &flight{done: make(chan struct{}), err: errUnfinished}
	b.flights[key] = f
	return f, true
}

func (b *Builder) fly(
	ctx context.Context, key string, f *flight, in func(context.Context) (Input, error),
) ([]*unstructured.Unstructured, error) {
	defer func() {
		b.mu.Lock()
		delete(b.flights, key)
		b.mu.Unlock()
		close(f.done)
	}()
	made, err := b.make(ctx, in)
	if err == nil && made.lasting {
		b.kept.Put(key, made.objects, made.weight)
	}
	f.objects, f.err = made.objects, err
	return f.objects, f.err
}

// result is what was made of an input.
type result struct {
	objects []*unstructured.Unstructured
	weight  int64 // about what they take in memory
	lasting bool  // the same input gives the same again
}

func (b *Builder) make(ctx context.Context, in func(context.Context) (Input, error)) (result, error) {
	input, err := in(ctx)
	if err != nil {
		return result{}, err
	}
	made, err := b.assemble(ctx, input)
	var wrong *Error
	if errors.As(err, &wrong) {
		return result{}, wrong.without(input.Secrets)
	}
	return made, err
}

func (b *Builder) assemble(ctx context.Context, in Input) (result, error) {
	directory, err := confined(in.Path)
	if err != nil {
		return result{}, &Error{Err: err}
	}
	c := &counter{limits: b.limits}
	found, err := b.collect(ctx, in, directory, c)
	if err != nil {
		return result{}, err
	}
	if in.Substitute != nil {
		if found, err = substitute(ctx, found, in.Substitute, c); err != nil {
			return result{}, err
		}
	}
	return settle(found, in, c)
}

// collect reads the objects as the files have them, patched.
func (b *Builder) collect(ctx context.Context, in Input, directory string, c *counter) ([]object, error) {
	layout, err := survey(in.Files, directory)
	if err != nil {
		return nil, err
	}
	if !layout.kustomized && len(layout.bases) == 0 && len(in.Patches) == 0 {
		if hasLarge(in.Files, layout.manifests) {
			select {
			case b.large <- struct{}{}:
				defer release(b.large)
			default:
				return nil, ErrBusy
			}
		}
		return readAll(ctx, in.Files, layout.manifests, c)
	}
	if err := acquire(ctx, b.slots); err != nil {
		return nil, err
	}
	defer release(b.slots)
	jobs, err := newKustomizeJobs(ctx, in, directory, layout, b.portion, c)
	if err != nil {
		return nil, err
	}
	var found []object
	for _, job := range jobs {
		if err := acquire(ctx, b.lock); err != nil {
			return nil, err
		}
		built, err := job.run(c)
		release(b.lock)
		if err != nil {
			return nil, err
		}
		found = append(found, built...)
	}
	return found, nil
}

// largeFile is from when on a file is read by one build at a time: a parsed file can take a hundred times its bytes.
const largeFile = 1 << 20

// hasLarge says whether a manifest is large.
func hasLarge(files artifact.Files, manifests []string) bool {
	return slices.ContainsFunc(manifests, func(name string) bool { return len(files[name]) > largeFile })
}

func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func release(slots chan struct{}) { <-slots }

// ErrBusy is that of large files while somebody else's are read. Trying again later helps.
var ErrBusy = errors.New("another large file is read now")

// ErrEncrypted is that of a file which is encrypted. It is never applied as it is.
var ErrEncrypted = errors.New("the file is encrypted with SOPS, and decryption is not configured; set spec.decryption")

// Error says what is wrong with manifests. Trying again does not help.
type Error struct {
	File string // path in the artifact; empty when it is about the whole
	Err  error
}

func (e *Error) Error() string {
	text := shorten(e.Err.Error())
	if e.File == "" {
		return text
	}
	return fmt.Sprintf("%s: %s", e.File, text)
}

func (e *Error) Unwrap() error { return e.Err }

// inFile says in which file, unless the error does.
func inFile(file string, err error) error {
	if errors.As(err, new(*Error)) {
		return err
	}
	return &Error{File: file, Err: err}
}

func wrong(file, format string, args ...any) error {
	return &Error{File: file, Err: fmt.Errorf(format, args...)}
}

// shorten makes one line of what a library says, which may quote a whole file.
func shorten(text string) string {
	const most = 1000
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
