package kubetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// maxLine bounds a line of a log in bytes.
const maxLine = 1 << 20

// Process is the test's own binary, started again as the program that it tests. Its servers are known from what it logs.
type Process struct {
	*exec.Cmd
	exited chan struct{} // closed when it has; ended is how
	ended  error

	mu        sync.Mutex
	addresses map[string]string // by server
	log       []string
}

// StartProcess starts one, whose environment is the test's with some variables more, and waits until some servers are bound.
// It is killed with the test, if it still runs then, and its log is shown when the test has failed.
func StartProcess(t testing.TB, args, environment []string, servers ...string) *Process {
	t.Helper()
	// It is killed in a cleanup: those that come before it may still need it.
	command := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...) //nolint:gosec // the test's own binary
	p := &Process{Cmd: command, exited: make(chan struct{}), addresses: map[string]string{}}
	p.Env = append(os.Environ(), environment...)
	p.WaitDelay = 10 * time.Second
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			p.read(lines.Bytes())
		}
		p.ended = p.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("the log of process %d:\n%s", p.Process.Pid, p.Log())
		}
	})
	Eventually(t, func(context.Context) error {
		if p.Exited() {
			t.Fatalf("it ended: %v\n%s", p.ended, p.Log())
		}
		for _, server := range servers {
			if p.Address(server) == "" {
				return fmt.Errorf("its server %s is not bound", server)
			}
		}
		return nil
	})
	return p
}

func (p *Process) read(line []byte) {
	var parsed struct{ Msg, Server, Address string }
	p.mu.Lock()
	defer p.mu.Unlock()
	if json.Unmarshal(line, &parsed) == nil && parsed.Msg == "serving" {
		p.addresses[parsed.Server] = parsed.Address
	}
	p.log = append(p.log, string(line))
}

// Log is what it has written to standard error.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

// Address is where a server listens; empty while it does not.
func (p *Process) Address(server string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addresses[server]
}

// Get asks one of its servers.
func (p *Process) Get(ctx context.Context, server, path string) (code int, body string, err error) {
	return Get(ctx, "http://"+p.Address(server)+path)
}

// Get asks a server for what is at a URL.
func Get(ctx context.Context, url string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// Shows waits until a path answers with a code and a text, and returns the answer.
func (p *Process) Shows(t testing.TB, server, path string, code int, text string) (answer string) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		got, body, err := p.Get(ctx, server, path)
		if err != nil {
			return err
		}
		if got != code || !strings.Contains(body, text) {
			return fmt.Errorf("%s is %d %s, want %d and %q", path, got, body, code, text)
		}
		answer = body
		return nil
	})
	return answer
}

// Exited says whether it has ended.
func (p *Process) Exited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Stop tells it to end, and waits until it has, which is to be without an error.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
		if p.ended != nil {
			t.Errorf("it ended with %v", p.ended)
		}
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
}
