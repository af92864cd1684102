package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// asRenderer makes the test binary be the renderer.
const asRenderer = "STAGEWRIGHT_TEST_AS_RENDERER"

func TestMain(m *testing.M) {
	renderer := func() {
		os.Exit(Run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(asRenderer) != "" {
		renderer()
	}
	testscript.Main(m, map[string]func(){"renderer": renderer})
}

// TestScripts runs the program as a user would. Two free ports are in $PORT and $MANAGEMENT_PORT.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"PORT", "MANAGEMENT_PORT"} {
				port, err := freePort()
				if err != nil {
					return err
				}
				env.Setenv(name, port)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"get":    get,
			"status": status,
			"exits":  exits,
		},
	})
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// get URL prints the response's body; with "!" it expects a status other than 200.
func get(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: get URL")
	}
	response, err := http.Get(args[0])
	ts.Check(err)
	defer response.Body.Close()
	_, err = io.Copy(ts.Stdout(), response.Body)
	ts.Check(err)
	if neg == (response.StatusCode == http.StatusOK) {
		ts.Fatalf("GET %s: status %d", args[0], response.StatusCode)
	}
}

// status URL CODE waits until the URL answers with the code; CODE 0 stands for no answer.
func status(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: status URL CODE")
	}
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		got = "0"
		if response, err := http.Get(args[0]); err == nil {
			_ = response.Body.Close()
			got = fmt.Sprint(response.StatusCode)
		}
		if got == args[1] {
			return
		}
	}
	ts.Fatalf("GET %s: status %s, want %s", args[0], got, args[1])
}

// exits CODE ARGS runs the renderer and expects its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("renderer", args[1:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("renderer %s: %v, want exit code %s", args[1:], err, args[0])
	}
	if got := fmt.Sprint(exit.ExitCode()); got != args[0] {
		ts.Fatalf("renderer %s: exit code %s, want %s", args[1:], got, args[0])
	}
}

// process is a renderer in a process of its own.
type process struct {
	*exec.Cmd
	address string // of the Jsonnet server
	exited  chan error
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	args = append([]string{"--port=0", "--management-port=0"}, args...)
	p := &process{Cmd: exec.Command(os.Args[0], args...), exited: make(chan error, 1)}
	p.Env = append(os.Environ(), asRenderer+"=1")
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	addresses := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var line struct{ Msg, Server, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" && line.Server == "jsonnet" {
				addresses <- line.Address
			}
		}
		p.exited <- p.Wait()
	}()
	t.Cleanup(func() { _ = p.Process.Kill() })
	select {
	case p.address = <-addresses:
	case err := <-p.exited:
		t.Fatalf("the renderer ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("the renderer does not serve")
	}
	return p
}

// TestShutdown_LosesNoRequest: clients keep asking while the process shuts down, until they have noticed, as a load
// balancer does. They do not retry.
func TestShutdown_LosesNoRequest(t *testing.T) {
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "a.jsonnet"), []byte("function(x) x"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := start(t, "--snippet="+filepath.Join(directory, "a.jsonnet"), "--shutdown-delay=1s")

	var noticed atomic.Bool
	var answered, closed atomic.Int64
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := 0; !noticed.Load(); n++ {
				c, err := dial(p.address)
				if err != nil {
					t.Errorf("connecting: %v", err)
					return
				}
				for !noticed.Load() {
					target := fmt.Sprintf("/jsonnet/%s/a.jsonnet?x=%d", directory, i*1000+n%50)
					ended, err := c.ask(target)
					if err != nil {
						t.Errorf("request %d: %v", answered.Load(), err)
						return
					}
					if answered.Add(1); ended {
						closed.Add(1)
						break
					}
				}
				_ = c.Close()
			}
		})
	}
	waitUntil(t, func() bool { return answered.Load() > 200 })
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return closed.Load() > 50 })
	noticed.Store(true)
	clients.Wait()
	if err := <-p.exited; err != nil {
		t.Errorf("the renderer ended with %v", err)
	}
	t.Logf("%d requests were answered, %d of them while it shut down", answered.Load(), closed.Load())
}

type tcpClient struct {
	net.Conn
	reader *bufio.Reader
}

func dial(address string) (*tcpClient, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &tcpClient{connection, bufio.NewReader(connection)}, connection.SetDeadline(time.Now().Add(30 * time.Second))
}

// ask sends a request and says whether the server ends the connection after it.
func (c *tcpClient) ask(target string) (ended bool, err error) {
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target); err != nil {
		return false, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("status %d", response.StatusCode))
	}
	return response.Close, err
}

func waitUntil(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) || t.Failed() {
			t.Error("waited in vain")
			return
		}
	}
}

func TestShutdown_SecondSignalEndsTheDelay(t *testing.T) {
	p := start(t, "--shutdown-delay=10m")
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		if err := p.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if s == syscall.SIGTERM {
			select {
			case err := <-p.exited:
				t.Fatalf("ended at once: %v", err)
			case <-time.After(200 * time.Millisecond): // nothing to poll for: that it goes on is the point
			}
		}
	}
	select {
	case err := <-p.exited:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the second signal did not end the delay")
	}
}

// TestRun_EndsWithItsContext, and warns about what is not there.
func TestRun_EndsWithItsContext(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, []string{"--port=0", "--management-port=0", "--shutdown-delay=0", "--snippet=/nowhere/x.jsonnet"}, nil,
			strings.NewReader(""), io.Discard, writerFunc(func(p []byte) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				return log.Write(p)
			}))
	}()
	waitUntil(t, func() bool { mu.Lock(); defer mu.Unlock(); return strings.Count(log.String(), "serving") == 2 })
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	for line := range strings.Lines(log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not a line of JSON: %s", line)
		}
	}
	if !strings.Contains(log.String(), "not there yet") {
		t.Errorf("no warning about a snippet that does not exist:\n%s", log.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
