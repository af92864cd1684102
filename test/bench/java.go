package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// What generated code is measured with, besides a JDK.
const (
	driver    = "/usr/share/java/h2.jar"
	generated = "internal/frontmatter/java/testdata/behaviour"
)

// java measures the generator on a large project, and what it generates against JDBC written by hand.
func java(ctx context.Context, o options, out io.Writer) error {
	directory, err := os.MkdirTemp("", "bench-java-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }() // what is left is in the temporary directory
	program := filepath.Join(directory, "frontmatter")
	if _, err := tool(ctx, directory, "go", "build", "-o", program, "./cmd/frontmatter"); err != nil {
		return err
	}
	project := filepath.Join(directory, "project")
	if err := writeProject(project); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "Generating Java\tp50\tslowest\tmost memory\t")
	for _, way := range []struct {
		name      string
		forgotten []string // removed before each run
	}{
		{"for the first time", []string{"cache", "gen"}},
		{"nothing changed, no cache", []string{"cache"}},
		{"nothing changed", nil},
	} {
		times, memory, err := generations(ctx, o, program, directory, way.forgotten)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%d statements in %d files, %s\t%s\t%s\t%s\t\n", checkedFiles*checkedPerFile, checkedFiles, way.name,
			shown(times.percentile(0.5)), shown(times.percentile(1)), bytes(float64(memory)))
	}
	if err := flush(table, out); err != nil {
		return err
	}
	return speed(ctx, program, directory, out)
}

// generations runs the generator again and again, and returns its times and the most memory it had.
func generations(ctx context.Context, o options, program, directory string, forgotten []string) (times latencies, memory int64, err error) {
	for began := time.Now(); time.Since(began) < o.duration; {
		for _, name := range forgotten {
			if err := os.RemoveAll(filepath.Join(directory, name)); err != nil {
				return times, 0, err
			}
		}
		start := time.Now()
		command, err := tool(ctx, directory, program, "generate", "java", "--base-package", "bench", "--output", filepath.Join(directory, "gen"), filepath.Join(directory, "project"))
		if err != nil {
			return times, 0, err
		}
		times.sorted = append(times.sorted, time.Since(start))
		memory = max(memory, peak(command))
	}
	slices.Sort(times.sorted)
	return times, memory, nil
}

// tool runs a command to its end, with a cache in the directory.
func tool(ctx context.Context, directory, name string, args ...string) (*exec.Cmd, error) {
	var output strings.Builder
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // what the callers name
	command.Stdout, command.Stderr = &output, &output
	command.Env = os.Environ()
	if name != "go" { // which has a cache of its own
		command.Env = append(command.Env, "XDG_CACHE_HOME="+filepath.Join(directory, "cache"))
	}
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", name, err, &output)
	}
	return command, nil
}

// speed compiles generated code and JDBC written by hand, and compares them.
func speed(ctx context.Context, program, directory string, out io.Writer) error {
	_, noCompiler := exec.LookPath("javac")
	_, noDriver := os.Stat(driver)
	if errors.Join(noCompiler, noDriver) != nil {
		_, err := fmt.Fprintln(out, "Generated code is not measured: a JDK and H2 are needed; make deps installs them")
		return err
	}
	project, classes := filepath.Join(directory, "behaviour"), filepath.Join(directory, "classes")
	if err := os.CopyFS(project, os.DirFS(generated)); err != nil {
		return err
	}
	if _, err := tool(ctx, directory, program, "generate", "java", project); err != nil {
		return err
	}
	sources := ""
	err := filepath.WalkDir(project, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".java") {
			sources += path + "\n"
		}
		return err
	})
	if err != nil {
		return err
	}
	list := filepath.Join(directory, "sources")
	if err := os.WriteFile(list, []byte(sources), 0o600); err != nil {
		return err
	}
	if _, err := tool(ctx, directory, "javac", "-d", classes, "@"+list); err != nil {
		return err
	}
	return compare(ctx, classes, out)
}

// forks is how many processes measure a kind of calls: they differ in what the compiler of the JVM makes of one code.
const forks = 9

// compare measures every kind of calls that the program knows, each in processes of its own. The collector of garbage is a
// simple one with enough room, because what the default one does at its own times is more than what is looked for.
func compare(ctx context.Context, classes string, out io.Writer) error {
	run := func(args ...string) (string, error) {
		args = append([]string{
			"-XX:+UseSerialGC", "-Xms512m", "-Xmx512m", "-Xmn384m", "-cp", classes + ":" + driver,
			"test.run.Speed", "jdbc:h2:mem:speed", "sa",
		}, args...)
		measured := exec.CommandContext(ctx, "java", args...) //nolint:gosec // compiled above
		measured.Stderr = os.Stderr
		text, err := measured.Output()
		if err != nil {
			return "", fmt.Errorf("measuring generated code: %w", err)
		}
		return string(text), nil
	}
	kinds, err := run()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "Generated Java, H2 in memory, %d processes each\tof the time of JDBC by hand\tleast\tmost\t\n", forks)
	for kind := range strings.FieldsSeq(kinds) {
		var ratios []float64
		for range forks {
			text, err := run(kind)
			if err != nil {
				return err
			}
			ratio, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return fmt.Errorf("measuring generated code: %w", err)
			}
			ratios = append(ratios, ratio*100)
		}
		slices.Sort(ratios)
		fmt.Fprintf(table, "%s\t%.0f %%\t%.0f %%\t%.0f %%\t\n", strings.ReplaceAll(kind, "-", " "), ratios[forks/2], ratios[0], ratios[forks-1])
	}
	return flush(table, out)
}
