package operator

import (
	"context"
	"errors"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/render/storage"
)

// Evaluator evaluates programs; *jsonnet.Engine is one.
type Evaluator interface {
	Evaluate(ctx context.Context, request jsonnet.Request) (*jsonnet.Result, error)
	// Version names everything besides a request that results depend on.
	Version() string
}

// Tenants gives clients that act as a ServiceAccount; *tenant.Pool is one.
type Tenants interface {
	For(account tenant.Account) (client.WithWatch, error)
}

// Observer is told what metrics count. Its methods are called from many goroutines and must not block.
type Observer interface {
	// ReconcileEnded is called once for each run with the kind of the object and the reason of its Ready condition.
	ReconcileEnded(kind, reason string, took time.Duration)
	// ArtifactPublished is called with the size of each tarball that was stored and announced.
	ArtifactPublished(bytes int64)
	// RetentionFailed is called when superseded artifacts could not be removed; it is tried again.
	RetentionFailed()
}

// Options are what Setup needs. Evaluator, Tenants, Sources and the fields of Publish that say so are required.
type Options struct {
	Evaluator Evaluator
	Tenants   Tenants
	Sources   *load.Loader[bundle.Files] // shared by all snippets: its limits are those of the process
	Spec      SpecPolicy
	Publish   Publishing
	Rerender  Rate
	Observe   Observation
	// Concurrent is how many snippets are worked on at a time; 0 is DefaultConcurrent.
	Concurrent int
	// Recheck is how often something is looked at again that no watch reports, such as a role or a ServiceAccount, or a
	// ConfigMap that may not be watched by a snippet without an interval; 0 is DefaultRecheck.
	Recheck time.Duration
	Now     func() time.Time // nil is time.Now
}

// SpecPolicy says which specs are accepted and how they are completed.
type SpecPolicy struct {
	DefaultServiceAccount string   // for snippets that name none; empty rejects these
	NoCrossNamespaceRefs  bool     // references to sources and libraries stay in the snippet's namespace
	ExternalVariables     []string // names that the command line and the environment have set
}

// Publishing says where artifacts go and for how long they stay.
type Publishing struct {
	Store            storage.Store // required
	BaseURL          string        // required: artifacts are at <BaseURL>/<namespace>/<name>/<revision>.tar.gz
	MaxArtifactBytes int64         // of a tarball; 0 is no limit but that of the archive format
	GCGrace          time.Duration // how long a superseded revision stays
	MaxWithdrawWait  time.Duration // how long a deleted snippet is kept because its artifact cannot be withdrawn
}

// Rate is the budget of evaluations of each snippet, a token bucket.
type Rate struct {
	PerSecond float64 // 0 or less is no limit
	Burst     int
}

// Observation is how the controllers are looked into. All of it is optional.
type Observation struct {
	Observer Observer
	Tracer   trace.Tracer
}

// Defaults of Options.
const (
	DefaultConcurrent = 8
	DefaultRecheck    = time.Minute
)

// complete checks what is required and fills in what is not.
func (o Options) complete() (Options, error) {
	switch {
	case o.Evaluator == nil:
		return o, errors.New("setting up the operator: there is no evaluator")
	case o.Tenants == nil:
		return o, errors.New("setting up the operator: there are no tenant clients")
	case o.Sources == nil:
		return o, errors.New("setting up the operator: there is no loader of sources")
	case o.Publish.Store == nil:
		return o, errors.New("setting up the operator: there is no store")
	}
	if base, err := url.Parse(o.Publish.BaseURL); err != nil || base.Host == "" {
		return o, errors.New("setting up the operator: the base URL of the storage is not a URL with a host")
	}
	if o.Observe.Observer == nil {
		o.Observe.Observer = silent{}
	}
	if o.Observe.Tracer == nil {
		o.Observe.Tracer = noop.NewTracerProvider().Tracer("")
	}
	if o.Concurrent <= 0 {
		o.Concurrent = DefaultConcurrent
	}
	if o.Recheck <= 0 {
		o.Recheck = DefaultRecheck
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// silent is the observer where nobody asked for one.
type silent struct{}

func (silent) ReconcileEnded(string, string, time.Duration) {}
func (silent) ArtifactPublished(int64)                      {}
func (silent) RetentionFailed()                             {}
