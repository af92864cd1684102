package eval

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

func TestProgramBytes_AreAboutWhatAProgramOccupies(t *testing.T) {
	e := New(Options{ProgramCacheBytes: -1})
	var library strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&library, "withName%d(name):: self + { metadata+: { name: name, ['x' + name]: local y = name; y } },\n", i)
	}
	list := func(element string, n int) string { return "local f = 1; [" + strings.Repeat(element+",", n) + "]" }
	json := func(element string, n int) string { return "[" + strings.Repeat(element+",", n) + "1]" }
	for name, content := range map[string]string{
		"numbers":        list("1", 100_000),
		"fractions":      list("1234.5", 100_000),
		"strings":        list("''", 50_000),
		"arrays":         list("[]", 50_000),
		"empty objects":  list("{}", 50_000),
		"objects":        list("{ a: 1 }", 40_000),
		"self":           list("{ a: self.b, b: 1 }", 20_000),
		"functions":      list("function(x) x", 30_000),
		"calls":          list("f(1)", 30_000),
		"fields":         list("f.a", 40_000),
		"operators":      list("f + 1", 40_000),
		"conditionals":   list("if 1 then 2 else 3", 20_000),
		"locals":         list("local a = 1; a", 20_000),
		"comprehensions": list("[x for x in []]", 15_000),
		"std":            list("std.length(1)", 20_000),
		"library":        "{" + library.String() + "}",
		"numbers.json":   json("1", 100_000),
		"strings.json":   json(`""`, 50_000),
		"empty.json":     json("{}", 50_000),
		"objects.json":   json(`{"a": 1}`, 50_000),
	} {
		before := liveHeap()
		p, err := e.compile(&jsonnet.Source{Name: name, Content: content, Sum: sha256.Sum256([]byte(content))})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		occupied := liveHeap() - before
		if ratio := float64(occupied) / float64(p.Bytes); ratio < 0.5 || ratio > 1.2 {
			t.Errorf("%s: occupies %d bytes, which is %.2f of the estimate", name, occupied, ratio)
		}
		runtime.KeepAlive(p)
	}
}

// liveHeap is what the heap holds without garbage.
func liveHeap() int64 {
	var stats runtime.MemStats
	for range 2 { // the second one frees what finalizers and pools kept
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
