package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stagewright/stagewright/internal/frontmatter/cli"
	"github.com/stagewright/stagewright/internal/frontmatter/output"
)

// TestGenerate_KilledAnywhere kills the real program while it changes every file, again and again: with more and more files
// staged, and then with more and more of them in their places. Every file keeps its old or its new text, and the next run repairs what was left, whatever it is to generate.
func TestGenerate_KilledAnywhere(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "frontmatter")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../../cmd/frontmatter").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	project := filepath.Join(dir, "project")
	put(t, filepath.Join(project, "frontmatter.yaml"), "basePackage: a\noutput: gen\n")
	describe := func(description string, repositories int) {
		if err := os.RemoveAll(filepath.Join(project, "sql")); err != nil {
			t.Fatal(err)
		}
		for n := range repositories {
			put(t, filepath.Join(project, fmt.Sprintf("sql/r%d/x.sql", n)), "-- name: findX\n-- description: "+description+"\nSELECT 1;\n")
		}
	}
	run := func() {
		command := exec.CommandContext(t.Context(), program, "generate", "java", project)
		command.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	describe("Second.", 150)
	run()
	second := texts(t, project)
	describe("First.", 200)
	run()
	first := texts(t, project)
	killed, within := 0, 0
	describe("Second.", 150)
	const rounds = 24
	for round := range rounds {
		command := exec.CommandContext(t.Context(), program, "generate", "java", project)
		command.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		err := killWhen(command, ended, func() bool { return reached(project, round) })
		if err != nil {
			killed++
			if text := out.String(); text != "" {
				t.Fatalf("the run failed by itself: %s", text)
			}
		}
		got := texts(t, project)
		if err != nil && !cmp.Equal(got, first) && !cmp.Equal(got, second) {
			within++
		}
		for path, text := range got {
			if text != first[path] && text != second[path] {
				t.Fatalf("round %d: %s is neither old nor new:\n%s", round, path, text)
			}
		}
		if round%2 == 1 { // else the next run finds what two have left
			describe("First.", 200)
			run()
			if diff := cmp.Diff(first, texts(t, project)); diff != "" {
				t.Fatalf("round %d: not repaired (-want +got):\n%s", round, diff)
			}
			describe("Second.", 150)
		}
	}
	run()
	if diff := cmp.Diff(second, texts(t, project)); diff != "" {
		t.Errorf("not repaired (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(project, "gen/.frontmatter-staging")); err == nil {
		t.Error("the staging folder is still there")
	}
	t.Logf("%d of %d runs were killed, %d between the first and the last file", killed, rounds, within)
	if within == 0 {
		t.Error("no run was killed between the first and the last file")
	}
}

func TestGenerate_WhileAnotherRunWrites(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	project := t.TempDir()
	put(t, filepath.Join(project, "frontmatter.yaml"), "basePackage: a\noutput: gen\n")
	put(t, filepath.Join(project, "findX.sql"), "SELECT 1;\n")
	unlock, err := output.Folder{Path: filepath.Join(project, "gen")}.Lock()
	if err != nil {
		t.Fatal(err)
	}
	generate := func(flags ...string) (int, string) {
		var stderr bytes.Buffer
		code := cli.Run(t.Context(), append([]string{"generate", "java", project}, flags...), nil, strings.NewReader(""), io.Discard, &stderr)
		return code, stderr.String()
	}
	if code, text := generate(); code != 1 || !strings.Contains(text, "another run is writing there") || len(texts(t, project)) != 0 {
		t.Errorf("exit %d: %s", code, text)
	}
	if code, text := generate("--check"); code != 1 || !strings.Contains(text, "2 files to change") {
		t.Errorf("--check: exit %d: %s", code, text)
	}
	unlock()
	if code, text := generate(); code != 0 {
		t.Errorf("exit %d: %s", code, text)
	}
}

// killWhen kills a process as soon as something is so, and returns how the process has ended.
func killWhen(command *exec.Cmd, ended <-chan error, so func() bool) error {
	for {
		select {
		case err := <-ended:
			return err
		default:
			if so() {
				_ = command.Process.Kill() // it may have ended
				return <-ended
			}
		}
	}
}

// reached tells whether a run has got as far as a round wants it: the first eight while files are staged, the others while
// files take their places, of which there are more than 150.
func reached(project string, round int) bool {
	staging := filepath.Join(project, "gen/.frontmatter-staging")
	staged, err := os.ReadDir(filepath.Join(staging, "files"))
	if err != nil {
		return false
	}
	_, noted := os.Stat(filepath.Join(staging, "pending.json"))
	if round < 8 {
		return len(staged) >= round*20
	}
	return noted == nil && len(staged) <= 150-(round-8)*10
}

// texts returns the generated files of a project.
func texts(t *testing.T, project string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Join(project, "gen"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".frontmatter-staging" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".java") {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, project)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
