package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/stagewright/stagewright/internal/flags"
	"github.com/stagewright/stagewright/internal/kube/supervise"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
	"github.com/stagewright/stagewright/internal/obs"
	"github.com/stagewright/stagewright/internal/serving"
	"github.com/stagewright/stagewright/internal/stageset/admission"
	"github.com/stagewright/stagewright/internal/stageset/gate"
	"github.com/stagewright/stagewright/internal/stageset/metrics"
	"github.com/stagewright/stagewright/internal/stageset/validate"
	"github.com/stagewright/stagewright/internal/version"
)

// Of the servers, which have no flags for it.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = 10 * time.Second
	scrapeTime   = time.Minute
)

// Run is the stage controller. It returns the exit code when ctx ends or a signal has ended it.
func Run(ctx context.Context, args, env []string, _ io.Reader, stdout, stderr io.Writer) int {
	c := defaults()
	table := c.table()
	if err := table.Parse(args); err != nil {
		if flags.IsHelp(err) {
			return table.Report(stderr, defaults().table().WriteHelp(stdout))
		}
		return table.Misuse(stderr, err)
	}
	if c.process.version {
		_, err := fmt.Fprintln(stdout, version.String(program))
		return table.Report(stderr, err)
	}
	c.resolve(env)
	if err := c.validate(); err != nil {
		return table.Misuse(stderr, err)
	}
	logger := obs.NewLogger(stderr, c.process.logFormat, c.process.logLevel)
	p, err := c.assemble(ctx, logger)
	if err != nil {
		return table.Report(stderr, err)
	}
	return table.Report(stderr, p.Run(ctx))
}

// observation is how the process is looked into.
type observation struct {
	metrics  *metrics.Metrics
	requests *obs.Requests
	tracer   trace.Tracer
}

// assemble makes the program and binds its listeners, all of them before anything is served. What it has bound before an
// error is closed.
func (c *config) assemble(ctx context.Context, logger *slog.Logger) (*serving.Process, error) {
	made := metrics.New()
	tracing, err := obs.StartTracing(ctx, obs.TracingOptions{
		Endpoint: c.tracing.endpoint, Insecure: c.tracing.insecure, SampleRatio: c.tracing.sampleRatio,
		Service: program, Version: version.Version, Logger: logger, Failed: made.SpansLost,
	})
	if err != nil {
		return nil, fmt.Errorf("--tracing-endpoint: %w", err)
	}
	p := &serving.Process{
		Readiness: &serving.Readiness{}, Waits: true, Flush: tracing.Shutdown, Logger: logger,
	}
	a := &assembly{
		config: c, process: p, index: &gate.Index{}, logger: logger,
		observation: observation{metrics: made, requests: made.Requests(tracing.Tracer()), tracer: tracing.Tracer()},
	}
	if err := a.assemble(ctx); err != nil {
		return nil, errors.Join(err, serving.CloseAll(append(p.Answering, p.Probes)...))
	}
	c.warn(logger)
	return p, nil
}

// assembly is a process while it is made.
type assembly struct {
	*config
	process     *serving.Process
	index       *gate.Index
	observation observation
	logger      *slog.Logger
}

func (a *assembly) assemble(ctx context.Context) error {
	cl, err := a.connect(a.logger)
	if err != nil {
		return err
	}
	l, err := a.lease(cl.Namespace)
	if err != nil {
		return err
	}
	probe, err := cl.Probe()
	if err != nil {
		return err
	}
	if err := a.listenAll(ctx, cl); err != nil {
		return err
	}
	supervisor := supervise.New(supervise.Options{
		New: a.newManager(cl, l, a.index, a.observation), Probe: probe, Synced: a.process.Readiness.SetReady, Logger: a.logger,
		Name: "controller", Works: "StageSets are reconciled here",
	})
	a.observation.metrics.Controller(
		func() bool { return supervisor.State().Status == supervise.Reconciling },
		func() int { return supervisor.State().Starts },
	)
	a.process.Work = append(a.process.Work, supervisor.Run)
	return nil
}

// listenAll binds the servers. Every replica has all of them, whoever reconciles.
func (a *assembly) listenAll(ctx context.Context, cl *cluster) (err error) {
	if a.process.Probes, err = a.listen(ctx, serving.Options{
		Name: "probes", Address: a.serve.probes, Handler: probes(a.process.Readiness), WriteTimeout: writeTimeout,
	}, "health-probe-bind-address"); err != nil {
		return err
	}
	if a.serve.metrics != "0" {
		handler := a.observation.metrics.Registry.Handler(ctrlmetrics.Registry)
		if err := a.answer(ctx, serving.Options{
			Name: "metrics", Address: a.serve.metrics, Handler: handler, WriteTimeout: scrapeTime,
		}, "metrics-bind-address"); err != nil {
			return err
		}
	}
	if a.serve.gate != "" {
		handler := a.observation.requests.Observe("gate", gate.Handler(a.index))
		if err := a.answer(ctx, serving.Options{
			Name: "gate", Address: a.serve.gate, Handler: handler, WriteTimeout: writeTimeout,
		}, "gate-bind-address"); err != nil {
			return err
		}
	}
	if a.webhook.Enabled {
		return a.listenWebhook(ctx, cl)
	}
	return nil
}

func (a *assembly) listen(ctx context.Context, o serving.Options, flag string) (*serving.Server, error) {
	o.ReadTimeout, o.Logger = readTimeout, a.logger
	bound, err := serving.Listen(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("binding the %s server (--%s): %w", o.Name, flag, err)
	}
	return bound, nil
}

// answer binds a server that ends before the probes do.
func (a *assembly) answer(ctx context.Context, o serving.Options, flag string) error {
	bound, err := a.listen(ctx, o, flag)
	if err != nil {
		return err
	}
	a.process.Answering = append(a.process.Answering, bound)
	return nil
}

func (a *assembly) listenWebhook(ctx context.Context, cl *cluster) error {
	handler := admission.Handler(admission.Options{
		Rules:   validate.Rules{NoCrossNamespaceRefs: a.reconcile.noCrossNamespaceRefs},
		Observe: a.observation.metrics.Admission, Logger: a.logger,
	})
	bound, renew, err := a.webhook.Listen(ctx, webhookserve.Serving{
		Handler: a.observation.requests.Observe("webhook", handler), Cluster: cl.Config,
		Places:  a.places(a.webhook.ServiceNamespace, cl.Namespace),
		Observe: a.observation.metrics.Certificate, Logger: a.logger,
	})
	if err != nil {
		return err
	}
	a.process.Answering = append(a.process.Answering, bound)
	a.process.Work = append(a.process.Work, renew)
	return nil
}

// probes answers /healthz while the process lives, and /readyz from when its caches have been filled until it ends. An API
// server that does not answer later leaves it ready: gate and webhook do without.
func probes(readiness *serving.Readiness) http.Handler {
	tell := func(w http.ResponseWriter, code int, status string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, "{\"status\":%q}\n", status) // who asked may have left
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { tell(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		code, state := http.StatusServiceUnavailable, readiness.State()
		if state == serving.Ready {
			code = http.StatusOK
		}
		tell(w, code, string(state))
	})
	return mux
}
