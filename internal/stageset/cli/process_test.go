package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// process is a stage controller in a process of its own.
type process struct {
	*exec.Cmd
	exited chan struct{} // closed when it has; ended is how
	ended  error

	mu        sync.Mutex
	addresses map[string]string // by server
	log       []string
}

// start starts a stage controller for a namespace and waits until its servers are bound.
func start(t *testing.T, e *kubetest.Env, args ...string) *process {
	t.Helper()
	return startWith(t, e, nil, args...)
}

func startWith(t *testing.T, e *kubetest.Env, environment []string, args ...string) *process {
	t.Helper()
	args = append([]string{
		"--kubeconfig=" + os.Getenv(kubetest.KubeconfigVariable), "--watch-namespaces=" + e.Namespace,
		"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0", "--gate-bind-address=127.0.0.1:0",
		"--enable-webhook=false",
	}, args...)
	p := &process{Cmd: exec.Command(os.Args[0], args...), exited: make(chan struct{}), addresses: map[string]string{}}
	p.Env = append(os.Environ(), asProgram+"=1", "POD_NAMESPACE="+e.Namespace)
	p.Env = append(p.Env, environment...)
	p.WaitDelay = 10 * time.Second
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.read(lines.Bytes())
		}
		p.ended = p.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("the log of process %d:\n%s", p.Process.Pid, p.text())
		}
	})
	kubetest.Eventually(t, func(context.Context) error {
		select {
		case <-p.exited:
			t.Fatalf("it ended: %v\n%s", p.ended, p.text())
		default:
		}
		if p.address("probes") == "" || p.address("gate") == "" || p.address("metrics") == "" {
			return errors.New("it does not serve")
		}
		return nil
	})
	return p
}

func (p *process) read(line []byte) {
	var parsed struct{ Msg, Server, Address string }
	p.mu.Lock()
	defer p.mu.Unlock()
	if json.Unmarshal(line, &parsed) == nil && parsed.Msg == "serving" {
		p.addresses[parsed.Server] = parsed.Address
	}
	p.log = append(p.log, string(line))
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

func (p *process) address(server string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addresses[server]
}

// shows waits until a path answers with a code and a text, and returns the answer.
func (p *process) shows(t *testing.T, server, path string, code int, text string) (answer string) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address(server)+path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if response.StatusCode != code || !strings.Contains(string(body), text) {
			return fmt.Errorf("%s: %d, want %d and %q (%w)", path, response.StatusCode, code, text, err)
		}
		answer = string(body)
		return nil
	})
	return answer
}

// end tells the process to end and waits until it has.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
		if p.ended != nil {
			t.Errorf("it ended with %v", p.ended)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

func stageSet(e *kubetest.Env, name string) *stagesv1.StageSet {
	return &stagesv1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.Namespace},
		Spec:       stagesv1.StageSetSpec{Suspend: true, Stages: []stagesv1.Stage{{Name: "app", SourceRef: stagesv1.SourceReference{Name: "app"}}}},
	}
}
