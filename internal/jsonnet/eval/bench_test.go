package eval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
)

// services is the program that renders 60 services from a small library.
func services(tb testing.TB) jsonnet.Job {
	tb.Helper()
	b, err := os.ReadFile("testdata/services/main.jsonnet")
	if err != nil {
		tb.Fatal(err)
	}
	return jsonnet.Job{Entry: source("testdata/services/main.jsonnet", string(b)), Importer: newTreeImporter(".")}
}

// benchmarkJobs are the programs to compare speed by: ours and go-jsonnet's own.
func benchmarkJobs(tb testing.TB) map[string]jsonnet.Job {
	tb.Helper()
	dir := moduleDir(tb)
	files, err := filepath.Glob(filepath.Join(dir, "builtin-benchmarks", "*.jsonnet"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("listing benchmarks: %v", err)
	}
	jobs := map[string]jsonnet.Job{"services": services(tb)}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".jsonnet")
		jobs[name] = jsonnet.Job{Entry: source("builtin-benchmarks/"+name+".jsonnet", string(b)), Importer: newTreeImporter(dir)}
	}
	return jobs
}

func TestEvaluate_BenchmarkPrograms(t *testing.T) {
	e := eval.New(eval.Options{})
	for name, job := range benchmarkJobs(t) {
		t.Run(name, func(t *testing.T) {
			got := own(e, job)
			if got.Error != "" {
				t.Fatal(got)
			}
			if testing.Short() || name == "comparison2" || name == "foldl" || name == "reverse" {
				return // go-jsonnet takes seconds
			}
			if want := reference(job); want.Output != got.Output {
				t.Error("the output differs from go-jsonnet's")
			}
		})
	}
}

// BenchmarkEvaluate compares go-jsonnet with a fresh evaluator for each run (cold) and with one that has compiled the
// program (warm).
func BenchmarkEvaluate(b *testing.B) {
	for name, job := range benchmarkJobs(b) {
		b.Run(name+"/go-jsonnet", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				reference(job)
			}
		})
		b.Run(name+"/cold", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustEvaluate(b, eval.New(eval.Options{}), job)
			}
		})
		b.Run(name+"/warm", func(b *testing.B) {
			e := eval.New(eval.Options{})
			mustEvaluate(b, e, job)
			b.ReportAllocs()
			for b.Loop() {
				mustEvaluate(b, e, job)
			}
		})
	}
}

func mustEvaluate(b *testing.B, e *eval.Evaluator, job jsonnet.Job) {
	b.Helper()
	if _, err := e.Evaluate(context.Background(), job); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEvaluate_Cancellation shows how long a runaway lives on once it is cancelled.
func BenchmarkEvaluate_Cancellation(b *testing.B) {
	e := eval.New(eval.Options{})
	for name, program := range runaways {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			late, worst := time.Duration(0), time.Duration(0)
			for b.Loop() {
				ctx, cancel := context.WithCancelCause(context.Background())
				var at time.Time
				timer := time.AfterFunc(20*time.Millisecond, func() {
					at = time.Now()
					cancel(fmt.Errorf("benchmark"))
				})
				_, err := e.Evaluate(ctx, jsonnet.Job{Entry: source("runaway", program), MaxMemory: 512 << 20})
				<-ctx.Done()
				took := time.Since(at)
				late, worst = late+took, max(worst, took)
				timer.Stop()
				if err == nil {
					b.Fatal("the runaway ended by itself")
				}
			}
			b.ReportMetric(float64(late.Microseconds())/float64(b.N)/1000, "ms-late")
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
		})
	}
}
