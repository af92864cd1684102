package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stagewright/stagewright/internal/flags"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/turns"
	"github.com/stagewright/stagewright/internal/jsonnet/files"
	"github.com/stagewright/stagewright/internal/obs"
	"github.com/stagewright/stagewright/internal/render/metrics"
	"github.com/stagewright/stagewright/internal/render/server"
	"github.com/stagewright/stagewright/internal/render/snippets"
	"github.com/stagewright/stagewright/internal/serving"
	"github.com/stagewright/stagewright/internal/version"
)

// maxTraceBytes bounds a std.trace message in the log.
const maxTraceBytes = 8 << 10

// Run is the renderer. It returns the exit code when ctx ends or a signal has ended it.
func Run(ctx context.Context, args, env []string, _ io.Reader, stdout, stderr io.Writer) int {
	c := defaults()
	table := c.table()
	if err := table.Parse(args); err != nil {
		if flags.IsHelp(err) {
			return table.Report(stderr, defaults().table().WriteHelp(stdout))
		}
		return table.Misuse(stderr, err)
	}
	if c.version {
		_, err := fmt.Fprintln(stdout, version.String("renderer"))
		return table.Report(stderr, err)
	}
	c.operator.resolve(env)
	variables, err := externals(c.snippets.externals, env)
	if err := errors.Join(c.validate(), err); err != nil {
		return table.Misuse(stderr, err)
	}
	logger := obs.NewLogger(stderr, c.logFormat, c.logLevel)
	r, err := c.assemble(ctx, variables, logger)
	if err != nil {
		return table.Report(stderr, err)
	}
	defer spareProcessors()()
	return table.Report(stderr, r.run(ctx))
}

// renderer is the running program.
type renderer struct {
	jsonnet, management *serving.Server
	gitops              *gitops // nil without operator mode
	tracing             *obs.Tracing
	readiness           *serving.Readiness
	waitsForOperator    bool // before it is ready
	shutdownDelay       time.Duration
	logger              *slog.Logger
	ballast             []byte // never touched: it takes addresses, not memory
}

// assemble makes the program and binds its listeners, all of them before anything is served.
func (c *config) assemble(ctx context.Context, variables map[string]string, logger *slog.Logger) (*renderer, error) {
	memory := planMemory(memoryLimit(logger))
	catalog, err := snippets.NewCatalog(files.NewStore(memory.files), snippets.Config{
		Files: c.snippets.files, Directories: c.snippets.directories, Libraries: c.snippets.libraries,
	})
	if err != nil {
		return nil, err
	}
	r := &renderer{
		readiness: &serving.Readiness{}, shutdownDelay: c.shutdownDelay, logger: logger,
		waitsForOperator: c.operator.enabled && c.operator.readinessRequires == "once",
		ballast:          make([]byte, memory.ballast),
	}
	observation, err := r.observe(ctx, c.operator.observe)
	if err != nil {
		return nil, err
	}
	engine := c.engine(memory, variables, observation.metrics, logger)
	endpoint := server.Endpoint{
		Path: strings.Trim(c.endpoint, "/"), Snippets: catalog, Evaluator: engine,
		CacheBytes: memory.representations, WriteTimeout: c.jsonnet.writeTimeout, Logger: logger,
	}
	if r.jsonnet, err = c.jsonnet.listen(ctx, "jsonnet", "", observation.requests.Observe("jsonnet", endpoint.Handler()), logger); err != nil {
		return nil, r.abandon(err)
	}
	var operatorState func() server.OperatorState
	if c.operator.enabled {
		if r.gitops, err = c.operator.assemble(ctx, shared{
			engine: engine, limits: c.limits, memory: memory, variables: slices.Sorted(maps.Keys(variables)),
			observation: observation, readiness: r.readiness, logger: logger,
		}); err != nil {
			return nil, r.abandon(err)
		}
		operatorState = r.gitops.state
	}
	r.management, err = c.management.listen(ctx, "management", "management-", server.Probes(r.readiness, operatorState, logger), logger)
	if err != nil {
		return nil, r.abandon(err)
	}
	c.warn(logger)
	return r, nil
}

// abandon closes what was bound before an error.
func (r *renderer) abandon(err error) error {
	errs := []error{err, serving.CloseAll(r.jsonnet)}
	if r.gitops != nil {
		errs = append(errs, serving.CloseAll(r.gitops.servers...), r.gitops.close())
	}
	return errors.Join(errs...)
}

// observe makes metrics and tracing.
func (r *renderer) observe(ctx context.Context, o observeConfig) (observation, error) {
	made := metrics.New()
	tracing, err := obs.StartTracing(ctx, obs.TracingOptions{
		Endpoint: o.tracingEndpoint, Insecure: o.tracingInsecure, SampleRatio: o.sampleRatio,
		Service: "renderer", Version: version.Version, Logger: r.logger, Failed: made.SpansLost,
	})
	if err != nil {
		return observation{}, fmt.Errorf("--tracing-endpoint: %w", err)
	}
	r.tracing = tracing
	return observation{metrics: made, requests: made.Requests(tracing.Tracer()), tracer: tracing.Tracer()}, nil
}

// engine makes the one that all evaluations share.
func (c *config) engine(memory memoryPlan, variables map[string]string, m *metrics.Metrics, logger *slog.Logger) *jsonnet.Engine {
	engine := jsonnet.NewEngine(jsonnet.Config{
		Evaluator: m.Evaluator(eval.New(eval.Options{
			ProgramCacheBytes: memory.programs, Memory: memory.pool(), Turns: turns.New(runtime.GOMAXPROCS(0)),
		})),
		Limits: jsonnet.Limits{
			Timeout:       c.limits.timeout,
			MaxConcurrent: c.limits.maxConcurrent,
			MaxStack:      c.limits.maxStack,
			MaxMemory:     int64(c.limits.maxMemory),
			CacheBytes:    memory.results,
		},
		External: bindings(variables),
		Trace:    traceTo(logger),
	})
	m.Engine(c.limits.maxConcurrent, engine.Counters)
	return engine
}

// warn tells what is probably not meant, but may be right a moment later.
func (c *config) warn(logger *slog.Logger) {
	if len(c.snippets.files)+len(c.snippets.directories) == 0 && !c.operator.enabled {
		logger.Warn("nothing to serve: neither --snippet nor --snippet-directory is given")
	}
	for _, set := range []struct {
		flag  string
		paths []string
	}{
		{"snippet", c.snippets.files}, {"snippet-directory", c.snippets.directories}, {"library-path", c.snippets.libraries},
	} {
		for _, path := range set.paths {
			info, err := os.Stat(path)
			switch isFile := set.flag == "snippet"; {
			case err != nil:
				logger.Warn("not there yet; it is looked for again with each request", "flag", "--"+set.flag, "path", path)
			case isFile && info.IsDir():
				logger.Warn("this is a directory; to serve its subdirectories use --snippet-directory", "flag", "--snippet", "path", path)
			case !isFile && !info.IsDir():
				logger.Warn("this is not a directory; to serve a file use --snippet", "flag", "--"+set.flag, "path", path)
			}
		}
	}
}

func bindings(variables map[string]string) map[string]jsonnet.Binding {
	bound := make(map[string]jsonnet.Binding, len(variables))
	for name, value := range variables {
		bound[name] = jsonnet.Binding{Kind: jsonnet.BindString, Text: value}
	}
	return bound
}

// traceTo logs what snippets write with std.trace; they asked for it.
func traceTo(logger *slog.Logger) func(jsonnet.TraceMessage) {
	return func(m jsonnet.TraceMessage) {
		if len(m.Text) > maxTraceBytes {
			m.Text = strings.ToValidUTF8(m.Text[:maxTraceBytes], "") + "…"
		}
		logger.Info("trace", "file", m.File, "line", m.Line, "message", m.Text)
	}
}

func (s serverConfig) listen(
	ctx context.Context, name, prefix string, handler http.Handler, logger *slog.Logger,
) (*serving.Server, error) {
	bound, err := serving.Listen(ctx, serving.Options{
		Name: name, Address: net.JoinHostPort(strings.Trim(s.address, "[]"), s.port), Handler: handler,
		ReadTimeout: s.readTimeout, WriteTimeout: s.writeTimeout, Logger: logger,
	})
	if err != nil {
		return nil, fmt.Errorf("binding the %s server (--%slisten-address, --%sport): %w", name, prefix, prefix, err)
	}
	return bound, nil
}
