package java

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stagewright/stagewright/internal/frontmatter/output"
)

// BenchmarkGenerate_TenThousandStatements generates 10,000 statements of 1,000 files: checking them, generating the code and
// comparing it with what is there. The goals are less than 3 s on two cores and 300 MB for the first run, and less than 1 s and no
// file written when nothing has changed; the numbers are printed, and nothing fails on them.
func BenchmarkGenerate_TenThousandStatements(b *testing.B) {
	dir := b.TempDir()
	writeFile(b, filepath.Join(dir, "frontmatter.yaml"), "sqlRoot: sql\njavaSources: [java]\nbasePackage: big\nddl: [schema.sql]\n")
	writeFile(b, filepath.Join(dir, "schema.sql"), "create table things (id bigint primary key, created_at timestamp with time zone not null);")
	writeFile(b, filepath.Join(dir, "java/big/Thing.java"), "package big;\npublic record Thing(long id, String name, java.time.OffsetDateTime createdAt) {}\n")
	var text strings.Builder
	for file := range 1000 {
		text.Reset()
		for n := range 10 {
			fmt.Fprintf(&text, "-- name: findThing%d_%d\n-- description: Finds things.\n-- resultRowType: big.Thing\n"+
				"SELECT t.id, t.name, t.created_at\n  FROM things t\n WHERE t.id = :id AND t.created_at > :createdAt AND t.note <> 'a; b :c';\n\n", file, n)
		}
		writeFile(b, filepath.Join(dir, fmt.Sprintf("sql/area%d/part%d.sql", file/20, file)), text.String())
	}
	folder := func() output.Folder {
		return output.Folder{Path: filepath.Join(b.TempDir(), "gen"), Project: "..", Header: Header}
	}
	write := func(b *testing.B, f output.Folder) int {
		files, findings := generated(b, dir)
		if findings != "" {
			b.Fatal(findings)
		}
		wanted := make([]output.File, 0, len(files))
		for _, file := range files {
			wanted = append(wanted, output.File(file))
		}
		plan, err := output.NewPlan(f, wanted)
		if err == nil {
			err = plan.Apply()
		}
		if err != nil {
			b.Fatal(err)
		}
		return len(plan.Changes)
	}
	var peak uint64
	measure := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapSys)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			write(b, folder())
			measure()
		}
		b.ReportMetric(float64(peak)/(1<<20), "MB-heap")
	})
	b.Run("nothing changed", func(b *testing.B) {
		f := folder()
		write(b, f)
		for b.Loop() {
			if n := write(b, f); n != 0 {
				b.Fatalf("%d files written", n)
			}
			measure()
		}
		b.ReportMetric(float64(peak)/(1<<20), "MB-heap")
	})
}

// BenchmarkGenerated_AgainstHandWritten runs generated code and JDBC written by hand in turns, each kind of calls in a process
// of its own, and reports how long the one takes for each second of the other. The goal is 1.05; nothing fails on it.
func BenchmarkGenerated_AgainstHandWritten(b *testing.B) {
	need(b, "javac", "openjdk-17-jdk-headless")
	need(b, filepath.Join(jars, "h2.jar"), "libh2-java")
	speed := []string{"-XX:+UseSerialGC", "-Xms512m", "-Xmx512m", "-Xmn384m", "-cp", compiled(b) + ":" + filepath.Join(jars, "h2.jar"), "test.run.Speed", "jdbc:h2:mem:speed", "sa"}
	for kind := range strings.FieldsSeq(run(b, "java", speed...)) {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				out := strings.TrimSpace(run(b, "java", slices.Concat(speed, []string{kind})...))
				value, err := strconv.ParseFloat(out, 64)
				if err != nil {
					b.Fatal(out)
				}
				b.ReportMetric(value, "/hand")
			}
		})
	}
}
