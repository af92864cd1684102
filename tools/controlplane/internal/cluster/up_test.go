package cluster

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is for what takes seconds on an idle machine.
const patience = 3 * time.Minute

// TestUp_ProgramEnds: the error says which one, how, and what it wrote.
func TestUp_ProgramEnds(t *testing.T) {
	o := fake(t, `echo $$ >"$HOME/../$1.pid"; echo "flag is not good" >&2; exit 4`)
	err := up(t.Context(), o, io.Discard, func(string) { t.Error("it was ready") })
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"waiting for etcd", "etcd ended by itself (exit status 4)", "flag is not good"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
	checkGone(t, o)
}

func TestUp_ProgramIsNeverReady(t *testing.T) {
	o := fake(t, `echo $$ >"$HOME/../$1.pid"; echo "still thinking"; exec sleep 1000`)
	o.timeout = 500 * time.Millisecond
	err := up(t.Context(), o, io.Discard, func(string) { t.Error("it was ready") })
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"waiting for etcd", "time is up", "connection refused", "  still thinking"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
	checkGone(t, o)
}

// TestUp_IsStoppedWhileItStarts: an end that was asked for is no error, whenever it comes.
func TestUp_IsStoppedWhileItStarts(t *testing.T) {
	o := fake(t, `echo $$ >"$HOME/../$1.pid"; exec sleep 1000`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(pollInterval) {
			if content, err := os.ReadFile(pidFile(o)); err == nil && len(content) > 0 {
				break
			}
		}
		cancel()
	}()
	if err := up(ctx, o, io.Discard, func(string) { t.Error("it was ready") }); err != nil {
		t.Errorf("error = %v, want none", err)
	}
	checkGone(t, o)
}

// fake returns options whose programs are all one shell script, which gets the program's name as $1.
func fake(t *testing.T, script string) options {
	directory := t.TempDir()
	binary := filepath.Join(directory, "fake")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return options{binary: binary, directory: filepath.Join(directory, "data"), timeout: patience}
}

func pidFile(o options) string { return filepath.Join(filepath.Dir(o.directory), "etcd.pid") }

// checkGone fails when the directory or the fake etcd is still there.
func checkGone(t *testing.T, o options) {
	t.Helper()
	if _, err := os.Stat(o.directory); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	content, err := os.ReadFile(pidFile(o))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	if syscall.Kill(pid, 0) == nil {
		t.Errorf("process %d is still there", pid)
	}
}

// TestUp_EndsWithItsStandardInput starts the real programs, as another program would do that wants to be sure that
// nothing is left when it dies.
func TestUp_EndsWithItsStandardInput(t *testing.T) {
	binary, err := filepath.Abs("../../../../bin/controlplane")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(binary); err != nil {
		t.Skipf("it needs the real programs: run 'make controlplane' (%v)", err)
	}
	directory := filepath.Join(t.TempDir(), "data")
	command := exec.Command(binary, "up", "--directory", directory, "--nodes", "2")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr output
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	defer func() { _ = command.Process.Kill() }()

	for deadline := time.Now().Add(patience); stdout.String() == ""; time.Sleep(pollInterval) {
		if len(ended) > 0 || time.Now().After(deadline) {
			t.Fatalf("it is not ready:\n%s", stderr.String())
		}
	}
	config := filepath.Join(directory, "kubeconfig")
	if got, want := stdout.String(), "export KUBECONFIG='"+config+"'\n"; got != want {
		t.Errorf("stdout = %q, want %q", got, want)
	}
	nodes, err := exec.Command(binary, "kubectl", "--kubeconfig", config, "get", "nodes", "-o", "name").CombinedOutput()
	if got, want := string(nodes), "node/node-0\nnode/node-1\n"; got != want || err != nil {
		t.Errorf("kubectl says %q, %v, want %q", got, err, want)
	}

	_ = stdin.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v:\n%s", err, stderr.String())
		}
	case <-time.After(patience):
		t.Fatal("it goes on without its standard input")
	}
	if _, err := os.Stat(directory); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// output is a buffer that may be read while a process writes.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}
