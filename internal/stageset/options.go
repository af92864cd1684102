package stageset

import (
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/rest"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// Observer is told what metrics count. Its methods are called from many goroutines and must not block.
type Observer interface {
	// ReconcileEnded is called once for each reconciliation with the reason of the Ready condition.
	ReconcileEnded(reason string, took time.Duration)
	// StageReady is told for each stage whether it is ready, whenever that was looked at.
	StageReady(namespace, stageset, stage string, ready bool)
	// StageTook is told how long a stage took in a run, from its first write until it was healthy.
	StageTook(namespace, stageset, stage string, took time.Duration)
	// Applied is told what became of objects: created, configured, …
	Applied(change string, n int)
	// Pruned is told how many objects were deleted.
	Pruned(n int)
	// DriftCorrected is told how many objects were as somebody else had made them.
	DriftCorrected(n int)
	// Watching is told, by each Setup, what counts the StageSets that wait, and the watches that they need.
	Watching(waits, watches func() int)
	// ForgetStage drops what is about a stage that a StageSet has no more.
	ForgetStage(namespace, stageset, stage string)
	// Forget drops what is about a StageSet that is gone.
	Forget(namespace, stageset string)
}

// Options are what Setup needs. Config, Tenants and Artifacts are required.
type Options struct {
	Config    *rest.Config // of the controller itself
	Tenants   *tenant.Clients
	Artifacts *load.Loader[artifact.Files]

	Concurrent           int // StageSets that are worked on at a time; 0 is DefaultConcurrent
	DefaultInterval      time.Duration
	NoCrossNamespaceRefs bool
	MaxTeardownWait      time.Duration
	ShardCap             int

	Tracer   trace.Tracer
	Observer Observer
	Now      func() time.Time // nil is time.Now
}

// Defaults of Options.
const (
	DefaultConcurrent      = 16
	DefaultInterval        = 10 * time.Minute
	DefaultMaxTeardownWait = time.Hour
	DefaultShardCap        = 5000
)

// complete checks what is required and fills in what is not.
func (o Options) complete() (Options, error) {
	switch {
	case o.Config == nil:
		return o, errors.New("setting up the controller: there is no API server")
	case o.Tenants == nil:
		return o, errors.New("setting up the controller: there are no tenant clients")
	case o.Artifacts == nil:
		return o, errors.New("setting up the controller: there is no loader of artifacts")
	}
	if o.Concurrent <= 0 {
		o.Concurrent = DefaultConcurrent
	}
	if o.DefaultInterval <= 0 {
		o.DefaultInterval = DefaultInterval
	}
	if o.MaxTeardownWait <= 0 {
		o.MaxTeardownWait = DefaultMaxTeardownWait
	}
	if o.ShardCap <= 0 {
		o.ShardCap = DefaultShardCap
	}
	if o.Tracer == nil {
		o.Tracer = noop.NewTracerProvider().Tracer("")
	}
	if o.Observer == nil {
		o.Observer = silent{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// silent is the observer where nobody asked for one.
type silent struct{}

func (silent) ReconcileEnded(string, time.Duration)            {}
func (silent) StageReady(string, string, string, bool)         {}
func (silent) StageTook(string, string, string, time.Duration) {}
func (silent) Applied(string, int)                             {}
func (silent) Pruned(int)                                      {}
func (silent) DriftCorrected(int)                              {}
func (silent) Watching(_, _ func() int)                        {}
func (silent) ForgetStage(string, string, string)              {}
func (silent) Forget(string, string)                           {}
