package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// runaways are programs that would never end, or never fit.
var runaways = map[string]string{
	"endless-loop":       "local f(x) = f(x + 1) tailstrict; f(0)",
	"endless-recursion":  "local f(x) = 1 + f(x + 1); f(0)",
	"string-by-doubling": "std.length(std.foldl(function(s, x) s + s, std.range(1, 34), 'x'))",
	"huge-array":         "std.length(std.makeArray(2000000000, function(i) i))",
	"deep-comprehension": "std.length([a + b + c + d for a in std.range(1, 1000) for b in std.range(1, 1000) for c in std.range(1, 1000) for d in std.range(1, 1000)])",
}

// neighbours measures what somebody's runaways do to somebody else's healthy snippet, which is evaluated for every
// request. The renderer is a process of its own here, so that its memory and its processor time can be told.
func neighbours(ctx context.Context, o options, out io.Writer) error {
	p, err := startRenderer(ctx, o)
	if err != nil {
		return err
	}
	defer p.stop()
	healthy := loadOptions{address: p.address, duration: o.duration, connections: 16, rate: 200, target: target(measured[0], false)}
	idle, err := load(ctx, healthy)
	if err != nil {
		return err
	}
	healthy.target = func(n int64) string { return target(measured[0], false)(n + 1_000_000) }
	crowded, err := p.besideHonestLoad(ctx, healthy)
	if err != nil {
		return err
	}
	healthy.target = func(n int64) string { return target(measured[0], false)(n + 2_000_000) }
	endRunaways := p.loops(ctx, slices.Sorted(maps.Keys(runaways))...)
	busy, err := load(ctx, healthy)
	asked := endRunaways()
	if err != nil {
		return err
	}
	before := p.processorTime()
	time.Sleep(100 * time.Millisecond) // what is measured is the processor time in it
	after := p.processorTime()

	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "A healthy snippet, evaluated 200 times per second\tp50\tp99\tmax\t")
	for _, row := range []struct {
		beside string
		took   latencies
	}{{"alone", idle}, {"on busy processors, beside 3 clients of a cached snippet", crowded}, {"beside 5 kinds of runaways", busy}} {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t\n", row.beside, row.took.percentile(0.5), row.took.percentile(0.99), row.took.percentile(1))
	}
	if err := flush(table, out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d runaway requests were answered; the process took at most %s, and in the 100 ms after the last one ended %s of processor time\n\n",
		asked, bytes(p.peakMemory()), after-before)
	return err
}

// besideHonestLoad measures what sharing two processors costs with nothing hostile: other programs keep all of them busy,
// and as many clients as there are runaways that fail at once ask for a cached snippet in loops.
func (p *child) besideHonestLoad(ctx context.Context, healthy loadOptions) (latencies, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range runtime.NumCPU() {
		spinner := exec.CommandContext(ctx, "sh", "-c", "while kill -0 $PPID; do i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; done")
		if err := spinner.Start(); err != nil {
			return latencies{}, err
		}
		defer func() { _ = spinner.Wait() }() // it was killed
	}
	defer cancel() // before the waiting
	endLoops := p.loops(ctx, "hello", "hello", "hello")
	defer endLoops()
	return load(ctx, healthy)
}

// child is a renderer in a process of its own.
type child struct {
	command *exec.Cmd
	address string
	scratch string
}

func startRenderer(ctx context.Context, o options) (*child, error) {
	scratch, err := os.MkdirTemp("", "stagewright-bench")
	if err != nil {
		return nil, err
	}
	p := &child{scratch: scratch}
	for name, text := range runaways {
		directory := filepath.Join(scratch, "snippets", name)
		if err := os.MkdirAll(directory, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(directory, "main.jsonnet"), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	binary := filepath.Join(scratch, "renderer")
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/renderer").CombinedOutput(); err != nil { //nolint:gosec // our own program
		return nil, fmt.Errorf("building the renderer: %w: %s", err, output)
	}
	p.command = exec.CommandContext(ctx, binary, "--port=0", "--management-port=0", "--shutdown-delay=0", //nolint:gosec // our own program
		"--evaluation-timeout=500ms", "--max-evaluation-memory=64MiB", "--max-concurrent-evals=100", "--log-level=info",
		"--snippet-directory="+filepath.Join(scratch, "snippets"), "--snippet-directory="+filepath.Join(o.examples, "snippets"))
	stderr, err := p.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stderr)
	for p.address == "" && lines.Scan() {
		var line struct{ Msg, Server, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" && line.Server == "jsonnet" {
			p.address = line.Address
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
	if p.address == "" {
		return nil, fmt.Errorf("the renderer does not serve")
	}
	return p, nil
}

func (p *child) stop() {
	_ = p.command.Process.Signal(os.Interrupt)
	_ = p.command.Wait()
	_ = os.RemoveAll(p.scratch)
}

// loops asks for each snippet in a loop, until the returned function is called, which says how often.
func (p *child) loops(ctx context.Context, names ...string) (end func() int) {
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	var mu sync.Mutex
	answered := 0
	for _, name := range names {
		loops.Go(func() {
			for ctx.Err() == nil {
				request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, "http://"+p.address+"/jsonnet/"+name, nil)
				if err != nil {
					return
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				mu.Lock()
				answered++
				mu.Unlock()
			}
		})
	}
	return func() int {
		cancel()
		loops.Wait()
		return answered
	}
}

// processorTime is what the process has used so far, in steps of 10 ms.
func (p *child) processorTime() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const utime, stime = 11, 12 // counted behind the name
	ticks := 0
	for _, field := range []string{fields[utime], fields[stime]} {
		n, _ := strconv.Atoi(field)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// peakMemory is the most memory the process has had, in bytes.
func (p *child) peakMemory() float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.ParseFloat(strings.Fields(after + " 0")[0], 64)
	return kib * 1024
}
