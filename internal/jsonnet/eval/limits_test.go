package eval_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
)

// generous is how long a stopped evaluation may take in a test; the benchmark shows what it really takes.
const generous = 5 * time.Second

func reason(err error) jsonnet.Reason {
	var je *jsonnet.Error
	if errors.As(err, &je) {
		return je.Reason
	}
	return ""
}

// runaways never end by themselves, or not soon.
var runaways = map[string]string{
	"tail recursion":     `local f(x) = f(x + 1) tailstrict; f(0)`,
	"tail through or":    `local f(x) = x < 0 || f(x + 1) tailstrict; f(0)`,
	"nested loops":       `std.length([1 for a in std.range(1, 10000) for b in std.range(1, 10000) if a + b < 0])`,
	"foldl":              `local r = std.range(1, 100000); [std.foldl(function(a, x) a + x, r, 0) for y in r]`,
	"fibonacci":          `local f(n) = if n < 2 then n else f(n - 1) + f(n - 2); f(60)`,
	"sort":               `std.sort([(x * 7919) % 1000003 for x in std.range(1, 5000000)])`,
	"sum":                `local a = std.range(1, 1000000); std.sum([std.sum(a) for x in std.range(1, 100000)])`,
	"format":             `std.length([std.format('%050d %s %f', [x, x, x]) for x in std.range(1, 10000000)])`,
	"join":               `local s = std.repeat('x', 1000000); [std.length(std.join(s, [std.toString(x)  for x in std.range(1, 100)])) for y in std.range(1, 100000)]`,
	"equality":           `local a = std.range(1, 1000000); local b = std.range(1, 1000000); [a == b for x in std.range(1, 100000)]`,
	"comparison":         `local a = std.range(1, 1000000); local b = std.range(1, 1000000); [a < b for x in std.range(1, 100000)]`,
	"hash":               `local s = std.repeat('0123456789', 10000000); [std.sha512(s) for x in std.range(1, 100000)]`,
	"manifest":           `local a = std.range(1, 1000000); [std.length(std.manifestJsonEx(a, '  ')) for x in std.range(1, 100000)]`,
	"parse":              `local s = '[' + std.join(',', [std.toString(x) for x in std.range(1, 300000)]) + ']'; [std.length(std.parseJson(s)) for x in std.range(1, 100000)]`,
	"parse yaml":         `local s = std.join('', ['a%d: [1, 2, {b: c}]\n' % x for x in std.range(1, 30000)]); [std.length(std.parseYaml(s)) for x in std.range(1, 100000)]`,
	"sets":               `local a = std.range(1, 1000000); [std.length(std.setUnion(a, a)) for x in std.range(1, 100000)]`,
	"objects":            `local r = std.range(1, 1000); [std.length(std.foldl(function(o, x) o + { [std.toString(x % 100)]: x }, r, {})) for a in r for b in r]`,
	"output":             `[[x * y for y in std.range(1, 3000)] for x in std.range(1, 3000000)]`,
	"string building":    `local r = std.range(1, 1000); [std.length(std.foldl(function(a, x) std.substr(a + 'é', 0, 100000), r, std.repeat('é', 100000))) for a in r]`,
	"replace":            `local s = std.repeat('ab', 10000000); [std.length(std.strReplace(s, 'a', 'cc')) for x in std.range(1, 10000)]`,
	"split":              `local s = std.repeat('a,', 1000000); [std.length(std.split(s, ',')) for x in std.range(1, 10000)]`,
	"find in string":     `local s = std.repeat('a', 10000000); [std.length(std.findSubstr('ab', s)) for x in std.range(1, 10000)]`,
	"object asserts":     `local o = { assert std.length(std.range(1, 1000000)) > 0, a: 1 }; [(o + { b: x }).a for x in std.range(1, 1000000)]`,
	"merge":              `local o = { ['k%d' % x]: x for x in std.range(1, 10000) }; std.foldl(function(a, x) std.mergePatch(a, o), std.range(1, 1000000), {})`,
	"strip":              `local s = std.repeat('b', 1000000), c = std.repeat('a', 1000000) + 'b'; [std.length(std.stripChars(s, c)) for x in std.range(1, 10000)]`,
	"find a long text":   `std.findSubstr(std.repeat('a', 30000000) + 'b', std.repeat('a', 150000000))`,
	"long keys":          `local o = { [std.repeat('1', 10000000)]: 1 }; [std.length(std.manifestYamlDoc(o, quote_keys=false)) for x in std.range(1, 1000)]`,
	"large objects":      `[std.length({ ['k%d' % ((i * 7919) % 1000003)]: i for i in std.range(1, 100000) }) for x in std.range(1, 1000)]`,
	"trim":               `local s = std.repeat('\u00a0', 1000000); [std.length(std.trim(s)) for x in std.range(1, 10000)]`,
	"count in a text":    `local s = std.repeat('ab', 10000000); [std.length(std.split(s, 'abc')) + std.length(std.splitLimitR(s, 'abc', 5)) for x in std.range(1, 10000)]`,
	"non-ASCII indexing": `local s = std.repeat('é', 1000000); std.foldl(function(a, i) if s[i % 1000000] == 'x' then a + 1 else a, std.flatMap(function(x) std.range(1, 100), std.range(1, 10000)), 0)`,
}

func TestEvaluate_StopsRunaways(t *testing.T) {
	e := eval.New(eval.Options{})
	for name, program := range runaways {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 60*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := e.Evaluate(ctx, jsonnet.Job{Entry: source("runaway", program), MaxMemory: 512 << 20})
			took := time.Since(start)
			switch got := reason(err); {
			case got != jsonnet.EvaluationTimeout:
				t.Errorf("got %v (%v), want %s", err, got, jsonnet.EvaluationTimeout)
			case took > generous:
				t.Errorf("stopped after %v", took)
			default:
				t.Logf("%s stopped %v late", name, took-60*time.Millisecond)
			}
		})
	}
}

func TestEvaluate_DoesNotWaitForTheParser(t *testing.T) {
	e := eval.New(eval.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	slow := "[" + strings.Repeat("[x+1],", 40_000) + "]"
	job := jsonnet.Job{Entry: source("slow", slow)}
	_, err := e.Evaluate(ctx, job)
	if got := reason(err); got != jsonnet.EvaluationTimeout {
		t.Errorf("got %.200v (%s)", err, got)
	}
	defer e.Evaluate(context.Background(), job) // leaves no parser running beside the next test
	if took := time.Since(start); took > generous {
		t.Errorf("stopped after %v", took)
	}
}

func TestEvaluate_ReportsTheCauseOfItsCancellation(t *testing.T) {
	e := eval.New(eval.Options{})
	job := jsonnet.Job{Entry: source("loop", runaways["tail recursion"])}

	ctx, cancel := context.WithCancelCause(context.Background())
	stopped := context.AfterFunc(ctx, func() {})
	defer stopped()
	go cancel(errors.New("shutting down"))
	_, err := e.Evaluate(ctx, job)
	if got, want := reason(err), jsonnet.EvaluationUnavailable; got != want || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("got %v (%s), want %s", err, got, want)
	}

	own := &jsonnet.Error{Reason: jsonnet.EvaluationTimeout, Message: "took too long"}
	ctx, cancel = context.WithCancelCause(context.Background())
	go cancel(own)
	_, err = e.Evaluate(ctx, job)
	if reason(err) != own.Reason || !strings.Contains(err.Error(), own.Message) {
		t.Errorf("got %v, want the cause", err)
	}
}

func TestEvaluate_RefusesMemoryBeforeItIsAllocated(t *testing.T) {
	const budget = 64 << 20
	e := eval.New(eval.Options{})
	programs := map[string]string{
		"string by doubling": `local d(s, n) = if n == 0 then s else d(s + s, n - 1) tailstrict; std.length(d('0123456789', 30))`,
		"range":              `std.length(std.range(1, 2000000000))`,
		"makeArray":          `std.length(std.makeArray(2000000000, function(i) i))`,
		"repeat string":      `std.length(std.repeat('0123456789', 1000000000))`,
		"repeat array":       `std.length(std.repeat([1, 2, 3], 1000000000))`,
		"comprehension":      `local r = std.range(1, 1000); std.length([a for a in r for b in r for c in r for d in r])`,
		"deep comprehension": `local r = std.range(1, 100); std.length([[[[[a + b + c + d for a in r] for b in r] for c in r] for d in r] for e in r][0])
			+ std.length([x for x in std.flattenDeepArray([[[[[a + b + c + d for a in r] for b in r] for c in r] for d in r] for e in r])])`,
		"join":              `local s = std.repeat('x', 1000000); std.length(std.join(s, std.makeArray(10000, function(i) s)))`,
		"format width":      `std.length('%*d' % [2000000000, 1])`,
		"array doubling":    `local d(a, n) = if n == 0 then a else d(a + a, n - 1) tailstrict; std.length(d([1], 40))`,
		"list":              `local f(l, n) = f([l, n], n + 1) tailstrict; f([], 0)`,
		"object chain":      `local f(o, n) = f({ next: o, n: n }, n + 1) tailstrict; f({}, 0)`,
		"inheritance chain": `local f(o, n) = f(o + { a: n }, n + 1) tailstrict; f({}, 0)`,
		"closures":          `local f(g, n) = f(function() g, n + 1) tailstrict; f(null, 0)`,
		"strings":           `std.length([std.toString(x) + 'abcdefghijklmnopqrstuvwxyz' for x in std.range(1, 100000000)])`,
		"flat strings":      `local a = std.map(function(x) std.toString(x) + 'abcdefghijklmnopqrstuvwxyz', std.range(1, 3000000)); std.length(std.join('', a))`,
		"object fields":     `{ ['k' + x]: x for x in std.range(1, 10000000) }`,
		"replace":           `std.length(std.strReplace(std.repeat('a', 10000000), 'a', '0123456789'))`,
		"utf8":              `std.length(std.encodeUTF8(std.repeat('a', 30000000)))`,
		"characters":        `std.length(std.stringChars(std.repeat('a', 30000000)))`,
		"split":             `std.length(std.split(std.repeat('a,', 30000000), ','))`,
		"output":            `std.makeArray(1000, function(i) std.repeat('x', 1000000))`,
		"manifest":          `local s = std.repeat('x', 1000000); std.length(std.manifestJsonEx(std.makeArray(1000, function(i) s), ''))`,
		"long names":        `std.length({ [std.repeat('x', 100000) + i]: 1 for i in std.range(1, 30000) })`,
		"many pieces":       `std.length(std.flatMap(function(c) std.repeat('x', 1000000), std.repeat('a', 3000)))`,
		"formats":           `std.length(std.format(std.repeat('%%', 5000000), []))`,
		"parts of texts":    `std.length(std.join('', [std.split(std.repeat('x', 1000000) + ',' + i, ',')[1] for i in std.range(1, 3000)] + [std.stripChars(std.repeat(' ', 1000000) + i, ' ') for i in std.range(1, 3000)]))`,
		"trimmed texts":     `local f(i) = std.trim(std.repeat(' ', 1000000) + i); local a = [f(i) for i in std.range(1, 1000)]; std.length(std.join('', a))`,
		"parts of JSON":     `local f(i) = std.parseJson(std.repeat(' ', 1000000) + '"a' + i + '"'); local a = [f(i) for i in std.range(1, 1000)]; std.length(std.join('', a))`,
		"names of objects":  `local big = { ['k' + i]: i for i in std.range(1, 20000) }; local l = [big { c: i } for i in std.range(1, 2000)]; std.foldl(function(a, x) a + std.length(x), l, 0)`,
		"fields of objects": `local big = { ['k' + i]: i for i in std.range(1, 20000) }; local l = [big { c: i } for i in std.range(1, 2000)]; std.foldl(function(a, x) a + x.k5, l, 0)`,
		"removed keys":      `local big = { ['k' + i]: i for i in std.range(1, 20000) }; local l = [std.objectRemoveKey(big, 'k1') for i in std.range(1, 2000)]; std.foldl(function(a, x) a + x.k5, l, 0)`,
		"objects":           `local o = [{ ['k' + i]: i for i in std.range(1, 20000) } for j in std.range(1, 200)]; std.foldl(function(a, x) a + x.k1, o, 0)`,
		"escapes":           `std.length(std.escapeStringXML(std.repeat('"', 20000000)))`,
		"not UTF-8":         `std.length(std.base64Decode(std.repeat('////', 8000000)))`,
		"parse":             `std.length(std.parseJson('[' + std.repeat('1,', 10000000) + '1]'))`,
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			peak := watchHeap(t)
			_, err := e.Evaluate(ctx, jsonnet.Job{Entry: source("big", program), MaxMemory: budget})
			most := peak()
			if got, want := reason(err), jsonnet.EvaluationMemoryExceeded; got != want {
				t.Errorf("got %v (%s), want %s", err, got, want)
			}
			if limit := int64(budget * 5 / 2); most > limit {
				t.Errorf("the heap grew by %d MiB with a budget of %d MiB", most>>20, int64(budget)>>20)
			}
			t.Logf("the heap grew by at most %d MiB", most>>20)
		})
	}
}

func TestEvaluate_ReadsATextOnce(t *testing.T) {
	e := eval.New(eval.Options{})
	job := jsonnet.Job{
		Entry:     source("texts", `std.foldl(function(n, s) n + std.length(s), [importstr 'data' for i in std.range(1, 100)], 0)`),
		Importer:  onlyImporter{source("data", strings.Repeat("\xff", 2<<20))},
		MaxMemory: 64 << 20,
	}
	peak := watchHeap(t)
	out, err := e.Evaluate(context.Background(), job)
	if most := peak(); most > 64<<20 {
		t.Errorf("the heap grew by %d MiB", most>>20)
	}
	if err != nil || out != "209715200\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestEvaluate_CountsProgramsThatItUses(t *testing.T) {
	e := eval.New(eval.Options{ProgramCacheBytes: -1})
	lib := "[" + strings.Repeat("{ a: 1 },", 20_000) + "]"
	texts := map[string]string{}
	var program strings.Builder
	for i := range 8 {
		name := strconv.Itoa(i)
		texts[name] = lib
		program.WriteString("std.length(import '" + name + "') + ")
	}
	_, err := e.Evaluate(context.Background(), jsonnet.Job{
		Entry: source("programs", program.String()+"0"), Importer: &files{texts: texts}, MaxMemory: 64 << 20,
	})
	if got, want := reason(err), jsonnet.EvaluationMemoryExceeded; got != want {
		t.Errorf("got %v (%s), want %s", err, got, want)
	}
}

// onlyImporter finds the same file everywhere.
type onlyImporter struct{ src *jsonnet.Source }

func (i onlyImporter) Import(context.Context, *jsonnet.Source, string) (*jsonnet.Source, error) {
	return i.src, nil
}

// watchHeap measures by how much the heap grows, garbage included, until the result is called.
func watchHeap(t *testing.T) func() int64 {
	t.Helper()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc))
			select {
			case <-done:
				result <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 { close(done); return <-result }
}

func TestEvaluate_LetsGarbagePass(t *testing.T) {
	e := eval.New(eval.Options{})
	programs := map[string]string{
		"of its own":       `std.foldl(function(a, x) std.length(std.range(1, 1000)) + std.length(std.repeat('x', 10000)), std.range(1, 50000), 0)`,
		"parts of a text":  `local s = std.repeat('x', 1000000); std.foldl(function(a, x) std.length(std.substr(s, 1, 900000)) - 889000, std.range(1, 2000), 0)`,
		"names of objects": `local o = { [std.repeat('x', 100000)]: 1 }; std.foldl(function(a, x) std.length(std.objectFields(o)[0]) - 89000, std.range(1, 20000), 0)`,
		"constant texts":   `std.foldl(function(a, x) std.length(std.repeat('0', 100)) + 10900, std.range(1, 500000), 0)`,
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			out, err := e.Evaluate(context.Background(), jsonnet.Job{Entry: source("garbage", program), MaxMemory: 32 << 20})
			if err != nil || out != "11000\n" {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}
