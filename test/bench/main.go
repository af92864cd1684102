package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/files"
	"github.com/stagewright/stagewright/internal/render/server"
	"github.com/stagewright/stagewright/internal/render/snippets"
	"github.com/stagewright/stagewright/internal/serving"
)

// snippet is an example with a parameter that makes each request a new one.
type snippet struct {
	size, name, parameter string
}

var measured = []snippet{
	{"small", "hello", "name"},
	{"large", "services", "version"},
}

type options struct {
	examples string
	duration time.Duration
	rate     int
	only     string
}

func main() {
	var o options
	flag.StringVar(&o.examples, "examples", "examples", "directory of the examples")
	flag.DurationVar(&o.duration, "duration", 3*time.Second, "of each measurement")
	flag.IntVar(&o.rate, "rate", 2000, "requests per second of the open-loop measurement")
	flag.StringVar(&o.only, "only", "", "what to measure: a program (renderer, frontmatter) or one of its parts (statements, java, engines, evaluations, requests, neighbours); everything without it")
	flag.Parse()
	if err := run(context.Background(), o, os.Stdout); err != nil {
		slog.Error("measuring", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores, %s for each measurement\n\n", runtime.Version(), runtime.NumCPU(), o.duration)
	for _, part := range []struct {
		program, name string
		measure       func(context.Context, options, io.Writer) error
	}{
		// First: what Linux calls the most memory of a process includes that of the process that started it.
		{"frontmatter", "statements", frontMatter},
		{"frontmatter", "java", java},
		{"renderer", "engines", engines},
		{"renderer", "evaluations", evaluations},
		{"renderer", "requests", requests},
		{"renderer", "neighbours", neighbours},
	} {
		if o.only != "" && o.only != part.program && o.only != part.name {
			continue
		}
		if err := part.measure(ctx, o, out); err != nil {
			return err
		}
	}
	return nil
}

// stack is what the renderer is made of, without a command line.
type stack struct {
	engine  *jsonnet.Engine
	catalog *snippets.Catalog
}

func newStack(o options) (*stack, error) {
	catalog, err := snippets.NewCatalog(files.NewStore(64<<20), snippets.Config{
		Directories: []string{filepath.Join(o.examples, "snippets")},
		Libraries:   []string{filepath.Join(o.examples, "lib")},
	})
	if err != nil {
		return nil, err
	}
	engine := jsonnet.NewEngine(jsonnet.Config{
		Evaluator: eval.New(eval.Options{}),
		Limits:    jsonnet.Limits{Timeout: time.Minute, MaxStack: 500, MaxMemory: 512 << 20, CacheBytes: 128 << 20},
	})
	return &stack{engine, catalog}, nil
}

func (s *stack) evaluate(ctx context.Context, sn snippet, argument string) (*jsonnet.Result, error) {
	program, err := s.catalog.Find(sn.name)
	if err != nil {
		return nil, err
	}
	arguments := map[string]jsonnet.Binding{}
	if argument != "" {
		arguments[sn.parameter] = jsonnet.Binding{Text: argument}
	}
	return s.engine.Evaluate(ctx, jsonnet.Request{Program: program, Arguments: arguments})
}

// evaluations measures without HTTP, one at a time.
func evaluations(ctx context.Context, o options, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "Evaluations\tresult\tper second\ttime\tallocations\tallocated\t")
	for _, sn := range measured {
		shared, err := newStack(o)
		if err != nil {
			return err
		}
		first, err := shared.evaluate(ctx, sn, "")
		if err != nil {
			return fmt.Errorf("evaluating %s: %w", sn.name, err)
		}
		for _, way := range []struct {
			name string
			once func(i int) error
		}{
			{"cold: nothing parsed", func(int) error {
				fresh, err := newStack(o)
				if err == nil {
					_, err = fresh.evaluate(ctx, sn, "")
				}
				return err
			}},
			{"new arguments: libraries parsed", func(i int) error {
				_, err := shared.evaluate(ctx, sn, fmt.Sprint(i))
				return err
			}},
			{"warm: files checked", func(int) error {
				_, err := shared.evaluate(ctx, sn, "")
				return err
			}},
		} {
			m, err := measure(o.duration, way.once)
			if err != nil {
				return fmt.Errorf("evaluating %s: %w", sn.name, err)
			}
			fmt.Fprintf(table, "%s, %s\t%s\t%.0f\t%s\t%.0f\t%s\t\n", sn.size, way.name, bytes(float64(len(first.JSON))),
				m.perSecond, m.each.Round(time.Microsecond), m.allocations, bytes(m.allocated))
		}
	}
	return flush(table, out)
}

// measurement is an average over many runs.
type measurement struct {
	perSecond, allocations, allocated float64
	each                              time.Duration
}

func measure(duration time.Duration, once func(i int) error) (measurement, error) {
	if err := once(0); err != nil {
		return measurement{}, err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	n := 0
	for time.Since(began) < duration {
		n++
		if err := once(n); err != nil {
			return measurement{}, err
		}
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	return measurement{
		perSecond:   float64(n) / took.Seconds(),
		each:        took / time.Duration(n),
		allocations: float64(after.Mallocs-before.Mallocs) / float64(n),
		allocated:   float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
	}, nil
}

// requests measures over HTTP on loopback; server and clients share the cores.
func requests(ctx context.Context, o options, out io.Writer) error {
	s, err := newStack(o)
	if err != nil {
		return err
	}
	logger := slog.New(slog.DiscardHandler)
	endpoint := server.Endpoint{Path: "jsonnet", Snippets: s.catalog, Evaluator: s.engine, CacheBytes: 64 << 20, Logger: logger}
	listening, err := serving.Listen(ctx, serving.Options{
		Name: "bench", Address: "127.0.0.1:0", Handler: endpoint.Handler(), Logger: logger,
	})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- listening.Serve() }()
	defer func() {
		_ = listening.Shutdown(ctx) // no request is left
		<-served
	}()
	if err := closedLoop(ctx, o, listening.Address(), out); err != nil {
		return err
	}
	return openLoop(ctx, o, listening.Address(), out)
}

func closedLoop(ctx context.Context, o options, address string, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "HTTP, as fast as it goes (4 connections)\tper second\tp50\tp99\tratio\t")
	for _, sn := range measured {
		var evaluated float64
		for _, warm := range []bool{false, true} {
			name := sn.size + ", evaluated each time"
			if warm {
				name = sn.size + ", unchanged"
			}
			l, err := load(ctx, loadOptions{
				address: address, duration: o.duration, connections: 4, target: target(sn, warm),
			})
			if err != nil {
				return fmt.Errorf("asking for %s: %w", sn.name, err)
			}
			ratio := ""
			if warm {
				ratio = fmt.Sprintf("%.0f x", l.perSecond()/evaluated)
			}
			evaluated = l.perSecond()
			fmt.Fprintf(table, "%s\t%.0f\t%s\t%s\t%s\t\n", name, l.perSecond(), l.percentile(0.5), l.percentile(0.99), ratio)
		}
	}
	return flush(table, out)
}

func openLoop(ctx context.Context, o options, address string, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "HTTP, %d per second, open loop\tanswered\tp50\tp99\tp99.9\tmax\t\n", o.rate)
	for _, sn := range measured {
		for _, coding := range []string{"identity", "gzip"} {
			l, err := load(ctx, loadOptions{
				address: address, duration: o.duration, connections: 64, rate: o.rate, coding: coding, target: target(sn, true),
			})
			if err != nil {
				return fmt.Errorf("asking for %s: %w", sn.name, err)
			}
			fmt.Fprintf(table, "%s, unchanged, %s\t%.0f\t%s\t%s\t%s\t%s\t\n", sn.size, coding, l.perSecond(),
				l.percentile(0.5), l.percentile(0.99), l.percentile(0.999), l.percentile(1))
		}
	}
	return flush(table, out)
}

// target is the request target of the n-th request.
func target(sn snippet, warm bool) func(n int64) string {
	return func(n int64) string {
		if warm {
			return "/jsonnet/" + sn.name
		}
		return fmt.Sprintf("/jsonnet/%s?%s=%d-%d", sn.name, sn.parameter, os.Getpid(), n)
	}
}

func flush(table *tabwriter.Writer, out io.Writer) error {
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

func bytes(n float64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", n/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", n/(1<<10))
	default:
		return fmt.Sprintf("%.0f B", n)
	}
}
