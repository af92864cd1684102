package eval_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/jsonnet/eval/vm"
)

// deep is data with 100,000 levels that was built without recursion.
const deep = `local list = std.foldl(function(a, x) [a], std.range(1, 100000), []);
local other = std.foldl(function(a, x) [a], std.range(1, 100000), []);
local tree = std.foldl(function(a, x) { a: a }, std.range(1, 100000), {});
local tree2 = std.foldl(function(a, x) { a: a }, std.range(1, 100000), {});
`

func TestEvaluate_NeverOverflowsTheGoStack(t *testing.T) {
	e := eval.New(eval.Options{})
	programs := map[string]string{
		"recursion":            `local f(n) = 1 + f(n + 1); f(0)`,
		"mutual recursion":     `local f(n) = [g(n)][0], g(n) = { a: f(n) }.a; f(0)`,
		"recursion in objects": `local o = { a: self.b, b: self.c, c: { x: $.a }.x }; o.a`,
		"recursion in super":   `local f(o) = f(o { a+: super.a }) + 1; f({ a: 1 })`,
		"recursive default":    `local f(n, m=f(n)) = m; f(1)`,
		"recursive thunk":      `local a = a + 1; a`,
		"recursion by map":     `local f(x) = std.map(f, [x])[0]; f(1)`,
		"recursion by sort":    `local f(x) = std.sort([1, 2], f); f(1)`,
		"recursion by fold":    `local f(a, x) = std.foldl(f, [1], a); f(1, 1)`,
		"recursion by assert":  `local f(x) = { assert f(x).a == 1, a: 1 }; f(1).a`,
		"recursion by format":  `local f(x) = '%s' % f(x); f(1)`,
		"recursion by name":    `local f(x) = { [f(x)]: 1 }; f(1)`,
		"recursion, or":        `local f(x) = f(x) || true; f(1)`,
		"thunk chain":          `std.foldl(function(a, x) [a[0] + 1], std.range(1, 1000000), [0])[0]`,
		"field chain":          `std.foldl(function(a, x) { v: a.v + 1 }, std.range(1, 1000000), { v: 0 }).v`,
		"plus chain":           `std.foldl(function(a, x) a { v+: 1 }, std.range(1, 100000), { v: 0 }).v`,
		"super chain":          `std.foldl(function(a, x) a { v: super.v + 1 }, std.range(1, 100000), { v: 0 }).v`,
		"closure chain":        `std.foldl(function(f, x) function(y) f(y) + 1, std.range(1, 1000000), function(y) y)(0)`,
		"deep result":          deep + `list`,
		"deep object result":   deep + `tree`,
		"deep string":          deep + `std.toString(list)`,
		"deep JSON":            deep + `std.manifestJsonEx(tree, ' ')`,
		"deep YAML":            deep + `std.manifestYamlDoc(list)`,
		"deep TOML":            deep + `std.manifestTomlEx(tree, ' ')`,
		"deep Python":          deep + `std.manifestPython(list)`,
		"deep XML":             `std.manifestXmlJsonml(std.foldl(function(a, x) ['a', a], std.range(1, 100000), 'b'))`,
		"deep equality":        deep + `list == other`,
		"deep object equality": deep + `tree == tree2`,
		"deep comparison":      deep + `list < other`,
		"deep flatten":         deep + `std.flattenDeepArray(list)`,
		"deep join":            `std.deepJoin(std.foldl(function(a, x) [a], std.range(1, 100000), 'b'))`,
		"deep prune":           deep + `std.prune(list)`,
		"deep merge":           deep + `std.mergePatch(tree, tree2)`,
		"deep parse":           `std.parseJson(std.repeat('[', 9999) + std.repeat(']', 9999)) == 1 || std.parseJson(std.repeat('[', 1000000))`,
	}
	mayWork := map[string]bool{"deep parse": true, "deep merge": true}
	stack := watchStack(t)
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			job := jsonnet.Job{Entry: source("deep", program), MaxStack: 1 << 30, MaxMemory: 256 << 20}
			if name == "deep TOML" {
				job.MaxStack = 10_000 // its section names grow with the square of the depth
			}
			_, err := e.Evaluate(ctx, job)
			switch reason(err) {
			case jsonnet.StackExceeded:
			case jsonnet.EvaluationMemoryExceeded: // by the indentation of what is nested
			default:
				if !mayWork[name] {
					t.Errorf("got %.200v (%s), want %s", err, reason(err), jsonnet.StackExceeded)
				}
			}
			if err != nil && len(err.Error()) > 2000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
	most := stack()
	t.Logf("the Go stacks took at most %d MiB", most>>20)
	if most > 256<<20 {
		t.Errorf("the Go stacks took %d MiB", most>>20)
	}
}

// watchStack measures the most that Go stacks take until the result is called.
func watchStack(t *testing.T) func() uint64 {
	t.Helper()
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.StackInuse)
			select {
			case <-done:
				result <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 { close(done); return <-result }
}

func TestEvaluate_CountsCallsAsGoJsonnetDoes(t *testing.T) {
	e := eval.New(eval.Options{})
	for _, depth := range []string{"10", "150", "480", "497", "498", "499", "500", "501", "2000"} {
		for _, body := range []string{
			`local f(n) = if n == 0 then 0 else 1 + f(n - 1); f(` + depth + `)`,
			`local f(n) = if n == 0 then [] else [f(n - 1)]; f(` + depth + `)`,
			`local f(n) = if n == 0 then {} else { a: f(n - 1) }; f(` + depth + `)`,
			`local f(n) = if n == 0 then 0 else f(n - 1) tailstrict; f(` + depth + `)`,
		} {
			job := jsonnet.Job{Entry: source("depth", body)}
			got, want := own(e, job), reference(job)
			if got.Output != want.Output || got.Error != want.Error {
				t.Errorf("%s: got %.100s%s, want %.100s%s", body, got.Output, got.Error, want.Output, want.Error)
			}
		}
	}
}

func TestEvaluate_TailStrictCallsTakeNoStack(t *testing.T) {
	e := eval.New(eval.Options{})
	programs := map[string]string{
		"conditional": `local f(n, a) = if n == 0 then a else f(n - 1, a + 1) tailstrict; f(1000000, 0)`,
		"local":       `local f(n, a) = local m = n - 1; if n == 0 then a else f(m, a + 1) tailstrict; f(1000000, 0)`,
		"mutual":      `local f(n, a) = if n == 0 then a else g(n - 1, a + 1) tailstrict, g(n, a) = if n == 0 then a else f(n - 1, a + 1) tailstrict; f(1000000, 0)`,
		"and":         `local f(n) = n == 0 || n > 0 && f(n - 1) tailstrict; if f(1000000) then 1000000 else 0`,
		"assert":      `local f(n, a) = assert n >= 0; if n == 0 then a else f(n - 1, a + 1) tailstrict; f(1000000, 0)`,
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			out, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: source("loop", program)})
			if err != nil || out != "1000000\n" {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}

func TestEvaluate_TakesLongSources(t *testing.T) {
	e := eval.New(eval.Options{})
	programs := map[string]struct{ program, want string }{
		"sum":             {"1" + strings.Repeat("+1", 19_999), "20000\n"},
		"concatenation":   {"std.length('a'" + strings.Repeat("+'a'", 19_998) + ")", "19999\n"},
		"array":           {"std.length([" + strings.Repeat("1,", 200_000) + "])", "200000\n"},
		"nested brackets": {"std.length(" + strings.Repeat("[", 900) + strings.Repeat("]", 900) + ")", "1\n"},
		"locals":          {strings.Repeat("local a = 1; ", 1500) + "a", "1\n"},
		"conditionals":    {strings.Repeat("if false then 1 else ", 2000) + "2", "2\n"},
	}
	for name, c := range programs {
		t.Run(name, func(t *testing.T) {
			out, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: source("long", c.program)})
			if err != nil || out != c.want {
				t.Errorf("got %q, %.200v", out, err)
			}
		})
	}
}

func TestEvaluate_RefusesSourcesTheParserCannotTake(t *testing.T) {
	e := eval.New(eval.Options{})
	const n = 100_000
	programs := map[string]string{
		"operators":    "1" + strings.Repeat("+1", n),
		"calls":        "local f = 1; f" + strings.Repeat("()", n),
		"fields":       "local f = 1; f" + strings.Repeat(".a", n),
		"braces":       "local f = 1; f" + strings.Repeat("{}", n),
		"logical":      "true" + strings.Repeat("&&true", n/2),
		"conditionals": strings.Repeat("if 1 then 1 else ", n/4) + "1",
		"asserts":      strings.Repeat("assert 1; ", n/4) + "1",
		"errors":       strings.Repeat("error ", n/4) + "1",
		"after a text": "|||\n  |||\n  '\n||| + 1" + strings.Repeat("+1", n),
		"after escape": `"\"" + '\'' + @"""" + @'''' + 1` + strings.Repeat("+1", n),
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			_, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: source("long", program)})
			var je *jsonnet.Error
			if !errors.As(err, &je) || je.Reason != jsonnet.EvaluationFailed || !je.Static || len(je.Frames) != 1 {
				t.Errorf("got %.200v", err)
			}
		})
	}
}

func TestEvaluate_SharesProgramsBetweenConcurrentEvaluations(t *testing.T) {
	e := eval.New(eval.Options{})
	job := services(t)
	want, err := e.Evaluate(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	literals := source("literals", `local s = 'ééé' + 'x', o = { 'é': s[1], b: self['é'], c:: std }; [o.b, std.length('日本語'), '日本語'[1], o == o { b: 'é' }, std.objectFieldsAll(o.c) == []]`)
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			if i%2 == 0 {
				if got, err := e.Evaluate(context.Background(), services(t)); err != nil || got != want {
					t.Errorf("evaluation %d: %v, same output: %v", i, err, got == want)
				}
				return
			}
			if _, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: literals}); err != nil {
				t.Errorf("evaluation %d: %v", i, err)
			}
		})
	}
	group.Wait()
}

func TestEvaluate_ManyAtTheLimitStayBounded(t *testing.T) {
	const budget, n = 24 << 20, 8
	e := eval.New(eval.Options{})
	// Each of these holds most of its budget for a while, and makes garbage on the way.
	programs := []string{
		`local f(l, n) = if n == 0 then std.length(l) else f([l, n], n - 1) tailstrict; f([], 100000000)`,
		`local f(o, n) = if n == 0 then 1 else f({ next: o, n: n, s: std.toString(n) }, n - 1) tailstrict; f({}, 100000000)`,
		`local f(s, n) = if n == 0 then s else f(s + 'abcdefghijklmnopqrstuvwxyz', n - 1) tailstrict; std.length(f('', 100000000))`,
		`std.length([std.toString(x) + y for x in std.range(1, 100000) for y in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm']])`,
	}
	peak := watchHeap(t)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			_, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: source("limit", programs[i%len(programs)]), MaxMemory: budget})
			if got, want := reason(err), jsonnet.EvaluationMemoryExceeded; got != want {
				t.Errorf("got %v (%s), want %s", err, got, want)
			}
		})
	}
	group.Wait()
	most := peak()
	t.Logf("the heap grew by at most %d MiB for %d budgets of %d MiB", most>>20, n, int64(budget)>>20)
	if limit := int64(n * budget * 3 / 2); most > limit {
		t.Errorf("the heap grew by %d MiB, more than %d MiB", most>>20, limit>>20)
	}
}

// pool is memory shared by all evaluations.
type pool struct {
	mu   sync.Mutex
	left int64
	low  int64
}

func (p *pool) Reserve(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.left {
		return false
	}
	p.left -= n
	p.low = min(p.low, p.left)
	return true
}

func (p *pool) Release(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += n
}

func TestEvaluate_TakesNoMoreThanTheProcessHas(t *testing.T) {
	memory := &pool{left: 32 << 20, low: 32 << 20}
	e := eval.New(eval.Options{Memory: memory})
	_, err := e.Evaluate(context.Background(), jsonnet.Job{
		Entry: source("list", `local f(l, n) = f([l, n], n + 1) tailstrict; f([], 0)`), MaxMemory: 512 << 20,
	})
	if got, want := reason(err), jsonnet.EvaluationUnavailable; got != want {
		t.Errorf("got %v (%s), want %s", err, got, want)
	}
	if memory.left != 32<<20 || memory.low > 8<<20 {
		t.Errorf("%d bytes are left, at the least %d were", memory.left, memory.low)
	}
	if _, err := e.Evaluate(context.Background(), services(t)); err != nil {
		t.Errorf("a small program gets %v", err)
	}
}

func TestEvaluate_TurnsPanicsIntoErrors(t *testing.T) {
	e := eval.New(eval.Options{Natives: map[string]*vm.Native{
		"panic": {Name: "panic", Fn: func(*vm.Machine, *vm.Pos, []vm.Value) vm.Value { panic("broken") }},
		"runtime": {Name: "runtime", Fn: func(_ *vm.Machine, _ *vm.Pos, args []vm.Value) vm.Value {
			return vm.Int(1 / len(args))
		}},
	}})
	for _, name := range []string{"panic", "runtime"} {
		_, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: source("x", `std.native('`+name+`')()`)})
		if err == nil || !strings.HasPrefix(err.Error(), "RUNTIME ERROR: internal error: ") || reason(err) != jsonnet.EvaluationFailed {
			t.Errorf("%s: got %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "goroutine") {
			t.Errorf("%s: the message has a Go stack trace", name)
		}
	}
	runtime.GC()
}
