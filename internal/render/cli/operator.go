package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/kube/supervise"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
	"github.com/stagewright/stagewright/internal/objectstore"
	"github.com/stagewright/stagewright/internal/obs"
	"github.com/stagewright/stagewright/internal/render/admission"
	"github.com/stagewright/stagewright/internal/render/metrics"
	"github.com/stagewright/stagewright/internal/render/operator"
	"github.com/stagewright/stagewright/internal/render/server"
	"github.com/stagewright/stagewright/internal/render/storage"
	"github.com/stagewright/stagewright/internal/serving"
)

// Of the servers that have no flags for it.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = time.Minute
)

// shared is what the operator has in common with the renderer over HTTP.
type shared struct {
	engine      *jsonnet.Engine
	limits      limitConfig
	memory      memoryPlan
	variables   []string
	observation observation
	readiness   *serving.Readiness
	logger      *slog.Logger
}

// observation is how the process is looked into.
type observation struct {
	metrics  *metrics.Metrics
	requests *obs.Requests
	tracer   trace.Tracer
}

// gitops is what operator mode adds to the process.
type gitops struct {
	servers    []*serving.Server
	supervisor *supervise.Supervisor
	background []func(ctx context.Context)
	close      func() error // of the storage
}

// assemble makes operator mode and binds its listeners. What it has bound before an error is closed.
func (o *operatorConfig) assemble(ctx context.Context, s shared) (*gitops, error) {
	g := &gitops{close: func() error { return nil }}
	if err := g.assemble(ctx, o, s); err != nil {
		return nil, errors.Join(err, serving.CloseAll(g.servers...), g.close())
	}
	o.warn(s.logger)
	return g, nil
}

func (g *gitops) assemble(ctx context.Context, o *operatorConfig, s shared) error {
	c, err := o.connect(s.logger)
	if err != nil {
		return err
	}
	l, err := o.lease(c.Namespace)
	if err != nil {
		return err
	}
	store, err := g.openStore(o, s)
	if err != nil {
		return err
	}
	for _, listen := range []func() (*serving.Server, error){
		func() (*serving.Server, error) { return o.listenStorage(ctx, store, s) },
		func() (*serving.Server, error) { return o.listenMetrics(ctx, s) },
		func() (*serving.Server, error) { return g.listenWebhook(ctx, o, c, s) },
	} {
		bound, err := listen()
		if err != nil {
			return err
		}
		if bound != nil {
			g.servers = append(g.servers, bound)
		}
	}
	probe, err := c.Probe()
	if err != nil {
		return err
	}
	g.supervisor = supervise.New(supervise.Options{
		New: o.newManager(c, l, o.options(store, s)), Probe: probe, Synced: s.readiness.SetReady, Logger: s.logger,
		Works: "snippets are reconciled here",
	})
	s.observation.metrics.Operator(
		func() bool { return g.supervisor.State().Status == supervise.Reconciling },
		func() int { return g.supervisor.State().Starts },
	)
	return nil
}

// options are those of the controllers, but for what each manager has of its own.
func (o *operatorConfig) options(store storage.Store, s shared) operator.Options {
	rate, _ := o.publish.perSecond() // validated
	return operator.Options{
		Evaluator: newShare(s.engine, s.limits.maxConcurrent),
		Sources:   o.sources(s.memory),
		Spec: operator.SpecPolicy{
			DefaultServiceAccount: o.defaultServiceAccount,
			NoCrossNamespaceRefs:  o.noCrossNamespaceRefs,
			ExternalVariables:     s.variables,
		},
		Publish: operator.Publishing{
			Store:            store,
			BaseURL:          strings.TrimRight(o.storage.baseURL, "/"),
			MaxArtifactBytes: o.publish.maxArtifactBytes,
			GCGrace:          o.publish.artifactGCGrace,
			MaxWithdrawWait:  o.publish.maxWithdrawWait,
		},
		Rerender:   operator.Rate{PerSecond: rate, Burst: o.publish.rerenderBurst},
		Observe:    operator.Observation{Observer: s.observation.metrics, Tracer: s.observation.tracer},
		Concurrent: o.concurrent,
	}
}

// sources are loaded within the memory that the process has. One archive must not take all of it.
func (o *operatorConfig) sources(memory memoryPlan) *load.Loader[bundle.Files] {
	fetches := artifact.DefaultFetchOptions()
	fetches.MaxBytes = memory.archive(o.concurrent)
	fetches.Permit = o.permit()
	return load.New(load.Options{
		Fetcher: artifact.NewFetcher(fetches), HeldBytes: memory.unpacked, CacheBytes: memory.sources,
	}, bundle.Of)
}

// permit is artifact.PermitElsewhere. Where artifacts are published on this machine, as on a developer's, they are fetched
// from it.
func (o *operatorConfig) permit() func(netip.AddrPort) error {
	base, err := url.Parse(o.storage.baseURL)
	if err != nil {
		return artifact.PermitPublished // validated
	}
	host := base.Hostname()
	own, _ := netip.ParseAddr(host)
	if own.IsLoopback() || host == "localhost" {
		return artifact.PermitPublished
	}
	return artifact.PermitElsewhere
}

// mirrorDirectory is below the storage path. No namespace has such a name, so it cannot be taken for artifacts of the local
// backend.
const mirrorDirectory = ".mirror"

// openStore opens where artifacts are kept, and sweeps it where interrupted writes leave files behind.
func (g *gitops) openStore(o *operatorConfig, s shared) (storage.Store, error) {
	sweeper := &storage.Sweeper{
		Interval: o.storage.sweepInterval, MaxAge: o.storage.sweepMaxTmpAge, Logger: s.logger,
		Failed: s.observation.metrics.SweepFailed,
	}
	if o.storage.backend == "s3" {
		bucket, err := objectstore.Open(o.s3.objectStore())
		if err != nil {
			return nil, fmt.Errorf("--storage-backend=s3: %w", err)
		}
		g.background = append(g.background, func(ctx context.Context) { checkBucket(ctx, bucket, s.logger) })
		mirror, err := storage.OpenMirror(storage.MirrorOptions{
			Remote:    s.observation.metrics.Store(storage.NewS3(bucket)), // so that metrics are those of the object store
			Directory: filepath.Join(o.storage.path, mirrorDirectory), Logger: s.logger,
		})
		if err != nil {
			return nil, fmt.Errorf("--storage-path: %w", err)
		}
		g.close = mirror.Close
		sweeper.Mirror = mirror
		g.background = append(g.background, sweeper.Run)
		return mirror, nil
	}
	local, err := storage.OpenLocal(o.storage.path)
	if err != nil {
		return nil, fmt.Errorf("--storage-path: %w", err)
	}
	g.close = local.Close
	sweeper.Local = local
	g.background = append(g.background, sweeper.Run)
	return s.observation.metrics.Store(local), nil
}

// checkBucket warns early. The store may be there a moment later, so nothing ends because of it.
func checkBucket(ctx context.Context, bucket *objectstore.Bucket, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := bucket.Check(ctx); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		logger.Warn("the object store cannot be used now; it is tried again with each artifact", "error", err.Error())
	}
}

// listenStorage binds the server of the artifacts.
func (o *operatorConfig) listenStorage(ctx context.Context, store storage.Store, s shared) (*serving.Server, error) {
	base, err := url.Parse(o.storage.baseURL)
	if err != nil {
		return nil, errors.New("--storage-base-url is not a URL") // validated
	}
	handler := belowBase(base, storage.Handler(store, s.logger))
	return o.storage.server.listen(ctx, "storage", "storage-", s.observation.requests.Observe("storage", handler), s.logger)
}

// belowBase serves files below the path of the base URL, and without it, for proxies that take it away.
func belowBase(base *url.URL, files http.Handler) http.Handler {
	prefix := strings.TrimRight(base.Path, "/")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, prefix+"/"); ok {
			if _, err := storage.ParsePath(rest); err == nil { // else the namespace is called as the base path is
				inside := *r
				inside.URL = &url.URL{Path: "/" + rest} // however the base path is escaped
				r = &inside
			}
		}
		files.ServeHTTP(w, r)
	})
}

// listenMetrics binds the server of the metrics, unless there is to be none.
func (o *operatorConfig) listenMetrics(ctx context.Context, s shared) (*serving.Server, error) {
	if o.observe.metricsAddress == "0" {
		return nil, nil
	}
	bound, err := serving.Listen(ctx, serving.Options{
		Name: "metrics", Address: o.observe.metricsAddress, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, Logger: s.logger,
		Handler: s.observation.metrics.Registry.Handler(ctrlmetrics.Registry),
	})
	if err != nil {
		return nil, fmt.Errorf("binding the metrics server (--metrics-bind-address): %w", err)
	}
	return bound, nil
}

// listenWebhook binds the webhook's server, if there is to be one. Every replica has it, whoever reconciles.
func (g *gitops) listenWebhook(ctx context.Context, o *operatorConfig, c *cluster, s shared) (*serving.Server, error) {
	if !o.webhook.Enabled {
		return nil, nil
	}
	handler := admission.Handler(admission.Options{
		ExternalVariables: s.variables, NoCrossNamespaceRefs: o.noCrossNamespaceRefs,
		Observe: s.observation.metrics.Admission, Logger: s.logger,
	})
	given := o.webhook.ServiceNamespace
	if given == "" {
		given = o.leader.namespace
	}
	bound, renew, err := o.webhook.Listen(ctx, webhookserve.Serving{
		Handler: s.observation.requests.Observe("webhook", handler), Cluster: c.Config, Places: o.places(given, c.Namespace),
		Observe: s.observation.metrics.Certificate, Logger: s.logger,
	})
	if err != nil {
		return nil, err
	}
	g.background = append(g.background, renew)
	return bound, nil
}

// warn tells what is probably not meant, but may be right.
func (o *operatorConfig) warn(logger *slog.Logger) {
	if o.storage.backend == "local" && o.leader.enabled {
		logger.Warn("artifacts are kept in a local directory: with more than one replica, --storage-path has to be a volume that all "+
			"of them share, or --storage-backend s3", "path", o.storage.path)
	}
	if o.s3.anonymous && o.storage.backend == "s3" {
		logger.Warn("--s3-anonymous: requests to the object store are not signed; that is for tests and development")
	}
}

// state is what /operator answers.
func (g *gitops) state() server.OperatorState {
	state := g.supervisor.State()
	return server.OperatorState{
		Status: string(state.Status), Reason: state.Reason, Since: state.Since.UTC(), Starts: state.Starts, OK: state.Status.OK(),
	}
}
