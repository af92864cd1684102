package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second // for what takes milliseconds on an idle machine

// roleVariable makes the test binary play a child, or a supervisor with a child of its own.
const roleVariable = "SUPERVISE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case "sleep":
		select {}
	case "fail":
		fmt.Println("first line")
		fmt.Fprintln(os.Stderr, "cannot go on: no such thing")
		os.Exit(3)
	case "supervisor":
		superviseOne()
	default:
		panic("unknown role " + role)
	}
}

// superviseOne starts a child, tells its process id and waits to be killed.
func superviseOne() {
	group, ctx := NewGroup(context.Background())
	directory := os.Args[len(os.Args)-1]
	if err := group.Start(child(directory, "orphan", "sleep")); err != nil {
		panic(err)
	}
	fmt.Println(group.children[0].Process.Pid)
	<-ctx.Done()
}

func TestGroup_OneEndsAndAllAreStopped(t *testing.T) {
	group, ctx := NewGroup(t.Context())
	directory := t.TempDir()
	for _, process := range []Process{
		child(directory, "etcd", "sleep"), child(directory, "scheduler", "sleep"), child(directory, "apiserver", "fail"),
	} {
		if err := group.Start(process); err != nil {
			t.Fatal(err)
		}
	}
	await(t, ctx.Done())
	group.Stop()

	var ended *EndedError
	if !errors.As(context.Cause(ctx), &ended) {
		t.Fatalf("cause = %v, want an EndedError", context.Cause(ctx))
	}
	want := EndedError{Name: "apiserver", State: "exit status 3", Log: "  first line\n  cannot go on: no such thing"}
	if *ended != want {
		t.Errorf("ended = %+v, want %+v", *ended, want)
	}
	for _, process := range group.children {
		if alive(process.Process.Pid) {
			t.Errorf("process %d is still there", process.Process.Pid)
		}
	}
}

func TestGroup_StopIsNotAnEndByItself(t *testing.T) {
	group, ctx := NewGroup(t.Context())
	if err := group.Start(child(t.TempDir(), "etcd", "sleep")); err != nil {
		t.Fatal(err)
	}
	group.Stop()
	group.Stop() // twice does no harm
	if cause := context.Cause(ctx); !errors.Is(cause, ErrStopped) {
		t.Errorf("cause = %v, want ErrStopped", cause)
	}
	if err := group.Start(child(t.TempDir(), "late", "sleep")); !errors.Is(err, ErrStopped) {
		t.Errorf("starting after Stop: %v, want ErrStopped", err)
	}
}

func TestStart_ProgramIsMissing(t *testing.T) {
	group, _ := NewGroup(t.Context())
	defer group.Stop()
	process := child(t.TempDir(), "etcd", "sleep")
	process.Path = filepath.Join(t.TempDir(), "missing")
	if err := group.Start(process); err == nil || !strings.Contains(err.Error(), "starting etcd") {
		t.Errorf("error = %v, want one that names etcd", err)
	}
}

func TestTail_Shortens(t *testing.T) {
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	last := strings.Split(strings.TrimSpace(many.String()), "\n")[1000-tailLines:]
	cases := map[string]struct{ content, want string }{
		"nothing":            {"", ""},
		"no newline at end":  {"one\ntwo", "  one\n  two"},
		"a very long line":   {strings.Repeat("x", 1000), "  " + strings.Repeat("x", tailWidth) + "…"},
		"only the last ones": {many.String(), "  " + strings.Join(last, "\n  ")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Tail(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("tail = %q, want %q", got, c.want)
			}
		})
	}
}

func child(directory, name, role string) Process {
	return Process{
		Name: name, Path: os.Args[0], Log: filepath.Join(directory, name+".log"),
		Env: []string{roleVariable + "=" + role, "GOCOVERDIR=" + directory},
	}
}

func await(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("nothing happened for " + patience.String())
	}
}

// alive tells whether a process that this one has waited for is still there.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
