package check

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// BenchmarkRun_TenThousandStatements checks 10,000 statements in 1,000 files. The goal is less than a second on two
// cores and less than 200 MB; the numbers are printed, and nothing fails on them.
func BenchmarkRun_TenThousandStatements(b *testing.B) {
	dir := b.TempDir()
	var text strings.Builder
	for file := range 1000 {
		text.Reset()
		for n := range 10 {
			fmt.Fprintf(&text, `-- name: findThing%d_%d
-- description: Finds things by their identity.
-- returning: single
-- parameters:
--   - name: id
--     type: long
--   - name: since
--     type: instant
SELECT t.id, t.name, t.created_at
  FROM things t -- the table
 WHERE t.id = :id AND t.created_at > :since AND t.note <> 'a; b :c';

`, file, n)
		}
		writeFile(b, filepath.Join(dir, fmt.Sprintf("area%d/part%d.sql", file/50, file)), text.String())
	}
	var peak uint64
	for b.Loop() {
		result, err := Run(b.Context(), Options{Paths: []string{dir}, Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapSys)
		if len(result.Diagnostics) != 0 || len(result.Files) != 1000 {
			b.Fatalf("%d diagnostics in %d files", len(result.Diagnostics), len(result.Files))
		}
	}
	b.ReportMetric(float64(peak)/(1<<20), "MB-heap")
}
