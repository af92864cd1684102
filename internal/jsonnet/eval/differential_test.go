package eval_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
)

// agree evaluates with both evaluators and compares. The reference can be neither stopped nor bounded, so it only gets
// what our own evaluator ends with, and only what it may judge: it counts frames of its standard library, and crashes
// where we report an error.
func agree(t *testing.T, e jsonnet.Evaluator, job jsonnet.Job) (compared, same bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	job.MaxMemory = 256 << 20
	_, err := e.Evaluate(ctx, job)
	switch reason(err) {
	case jsonnet.EvaluationTimeout, jsonnet.EvaluationMemoryExceeded, jsonnet.StackExceeded:
		return false, true
	default:
	}
	got, want := own(e, job), reference(job)
	if strings.Contains(got.Error, "internal error") {
		t.Errorf("program:\n%s\ngot %s", job.Entry.Content, got.Error)
	}
	if strings.HasPrefix(want.Error, "(CRASH)") || strings.Contains(want.Error, "max stack frames exceeded") ||
		strings.Contains(want.Error, "max manifest depth exceeded") {
		return false, true
	}
	for range 5 {
		// go-jsonnet forces the arguments of a tail-strict call in random order.
		if !cmp.Equal(want, got) {
			want = reference(job)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("program:\n%s\n(-want +got):\n%s", job.Entry.Content, diff)
		return true, false
	}
	return true, true
}

func TestEvaluate_AgreesOnGeneratedPrograms(t *testing.T) {
	e := eval.New(eval.Options{ProgramCacheBytes: -1})
	programs := 4000
	if testing.Short() {
		programs = 500
	}
	compared, failed := 0, 0
	for seed := range programs {
		g := newGenerator(uint64(seed))
		program := g.expr("any", 2+seed%4)
		asked, same := agree(t, e, jsonnet.Job{Entry: source("generated", program), MaxStack: 200})
		if asked {
			compared++
		}
		if !same {
			if failed++; failed > 10 {
				break
			}
		}
	}
	t.Logf("%d of %d programs were compared", compared, programs)
}

func TestEvaluate_FailsInOrderUnderTightLimits(t *testing.T) {
	memory := &pool{left: 64 << 20, low: 64 << 20}
	e := eval.New(eval.Options{ProgramCacheBytes: -1, Memory: memory})
	failures := map[jsonnet.Reason]int{}
	for seed := range 3000 {
		g := newGenerator(uint64(seed) + 1_000_000)
		program := fmt.Sprintf("local big = std.range(1, %d); [std.length(big), %s]", g.r.IntN(40000), g.expr("any", 2+seed%5))
		ctx, cancel := context.WithCancel(context.Background())
		if seed%3 == 0 {
			go cancel()
		}
		_, err := e.Evaluate(ctx, jsonnet.Job{
			Entry: source("generated", program), MaxStack: 1 + g.r.IntN(60), MaxMemory: int64(g.r.IntN(1 << 20)),
		})
		cancel()
		if err != nil {
			failures[reason(err)]++
			if reason(err) == "" || strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s\ngot %v", program, err)
			}
		}
	}
	t.Log(failures)
	if memory.left != 64<<20 {
		t.Errorf("%d bytes were not given back", 64<<20-memory.left)
	}
}

var tokens = regexp.MustCompile(`[a-zA-Z_$][a-zA-Z_0-9]*|[0-9.]+|"[^"\n]*"|'[^'\n]*'|\s+|.`)

// mutate changes some tokens of a program.
func mutate(r *rand.Rand, program string) string {
	parts := tokens.FindAllString(program, -1)
	if len(parts) == 0 {
		return program
	}
	for range 1 + r.IntN(3) {
		i, j := r.IntN(len(parts)), r.IntN(len(parts))
		switch r.IntN(5) {
		case 0:
			parts[i] = ""
		case 1:
			parts[i] = parts[j]
		case 2:
			parts[i], parts[j] = parts[j], parts[i]
		case 3:
			parts[i] += " " + parts[j]
		case 4:
			odd := []string{"null", "self", "1", "-1", "[]", "{}", `"a"`, "true", "0", "::", "+", "super", "tailstrict", "std"}
			parts[i] = odd[r.IntN(len(odd))]
		}
	}
	return strings.Join(parts, "")
}

// corpus reads the smaller programs of go-jsonnet's test data.
func corpus(tb testing.TB) (dir string, programs map[string]string) {
	tb.Helper()
	dir = moduleDir(tb)
	files, _ := filepath.Glob(filepath.Join(dir, "testdata", "*.jsonnet"))
	programs = map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if len(b) < 4000 {
			programs["testdata/"+strings.TrimSuffix(filepath.Base(file), ".jsonnet")] = string(b)
		}
	}
	return dir, programs
}

func TestEvaluate_AgreesOnMutatedTestdata(t *testing.T) {
	e := eval.New(eval.Options{ProgramCacheBytes: -1, Natives: testNatives()})
	dir, programs := corpus(t)
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	compared, total, failed := 0, 0, 0
	for round := range rounds {
		for name, program := range programs {
			r := rand.New(rand.NewPCG(uint64(round), uint64(len(name))))
			job := jsonnet.Job{
				Entry: source(name, mutate(r, program)), Importer: newTreeImporter(dir), External: testExternal, MaxStack: 200,
			}
			total++
			asked, same := agree(t, e, job)
			if asked {
				compared++
			}
			if !same {
				if failed++; failed > 10 {
					t.FailNow()
				}
			}
		}
	}
	t.Logf("%d of %d programs were compared", compared, total)
}

// FuzzEvaluate_AgreesWithGoJsonnet takes any text.
func FuzzEvaluate_AgreesWithGoJsonnet(f *testing.F) {
	dir, programs := corpus(f)
	for _, program := range programs {
		f.Add(program)
	}
	e := eval.New(eval.Options{ProgramCacheBytes: -1, Natives: testNatives()})
	f.Fuzz(func(t *testing.T, program string) {
		if len(program) > 4000 || strings.Count(program, "[")+strings.Count(program, "(")+strings.Count(program, "{") > 500 {
			return // what the source limits are for
		}
		agree(t, e, jsonnet.Job{
			Entry: source("testdata/fuzz", program), Importer: newTreeImporter(dir), External: testExternal, MaxStack: 200,
		})
	})
}

// FuzzEvaluate_AgreesOnGrammar takes seeds of the program generator.
func FuzzEvaluate_AgreesOnGrammar(f *testing.F) {
	e := eval.New(eval.Options{ProgramCacheBytes: -1})
	f.Add(uint64(1), 5)
	f.Fuzz(func(t *testing.T, seed uint64, depth int) {
		if depth < 0 || depth > 7 {
			return
		}
		agree(t, e, jsonnet.Job{Entry: source("generated", newGenerator(seed).expr("any", depth)), MaxStack: 200})
	})
}
