package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// directoryOf returns a directory of snippets with one of them.
func directoryOf(t *testing.T, name, text string) string {
	t.Helper()
	directory := t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, name, "main.jsonnet"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return directory
}

// edit changes a snippet's file, past conflicts.
func (p *place) edit(t *testing.T, s *renderv1.JsonnetSnippet, text string) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		s.Spec.Files["main.jsonnet"] = text
		return p.Client.Update(ctx, s)
	})
}

// TestOperator_OutlivesTheAPIServer: rendering and storage go on, /operator tells, and work resumes without a restart of the
// process.
func TestOperator_OutlivesTheAPIServer(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"with an election": nil, "without": {"--leader-election=false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, g := newPlace(t).through(t)
			o := p.start(t, append(args, "--snippet-directory="+directoryOf(t, "http", "function(x) x"))...)
			s := snippet("hello", "1")
			p.Create(t, s)
			p.published(t, s)
			before := o.state(t, http.StatusOK, "reconciling")

			g.Shut()
			gone := o.state(t, http.StatusServiceUnavailable, "unreachable")
			if !gone.Since.After(before.Since) || !strings.Contains(gone.Reason, "the API server does not answer") {
				t.Errorf("before %+v, now %+v", before, gone)
			}
			if code, body, err := o.Get(t.Context(), "jsonnet", "/jsonnet/http?x=1"); err != nil || code != http.StatusOK {
				t.Errorf("rendering over HTTP: %d %s %v", code, body, err)
			}
			if code, _, err := kubetest.Get(t.Context(), s.Status.ArtifactURL); err != nil || code != http.StatusOK {
				t.Errorf("the artifact: %d %v", code, err)
			}
			o.probe(t, "/ready", http.StatusOK)
			kubetest.Eventually(t, func(context.Context) error { // so that the work resumes with another manager
				if state := o.state(t, http.StatusServiceUnavailable, "unreachable"); time.Since(gone.Since) < 12*time.Second {
					return fmt.Errorf("%+v", state)
				}
				return nil
			})

			p.edit(t, s, "2")
			g.Open(t)
			after := o.state(t, http.StatusOK, "reconciling")
			p.published(t, s)
			if after.Starts <= before.Starts {
				t.Errorf("%d managers were started, before it was %d", after.Starts, before.Starts)
			}
			o.Stop(t)
		})
	}
}

// TestOperator_StartsWithoutTheAPIServer: what needs no cluster is served; readiness is as the flag says.
func TestOperator_StartsWithoutTheAPIServer(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args  []string
		ready int
	}{
		"once":  {[]string{"--readiness-requires-operator=once"}, http.StatusServiceUnavailable},
		"never": {[]string{"--readiness-requires-operator=never"}, http.StatusOK},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, g := newPlace(t).through(t)
			g.Shut()
			o := p.start(t, append(c.args, "--snippet-directory="+directoryOf(t, "http", "1"))...)
			o.state(t, http.StatusServiceUnavailable, "unreachable")
			for _, path := range []string{"/ready", "/start"} {
				o.probe(t, path, c.ready)
			}
			o.probe(t, "/live", http.StatusOK)
			if code, body, err := o.Get(t.Context(), "jsonnet", "/jsonnet/http"); err != nil || code != http.StatusOK {
				t.Errorf("rendering over HTTP: %d %s %v", code, body, err)
			}
			g.Open(t)
			o.state(t, http.StatusOK, "reconciling")
			o.probe(t, "/ready", http.StatusOK)
			g.Shut() // what was ready once stays in its Service
			o.state(t, http.StatusServiceUnavailable, "unreachable")
			o.probe(t, "/ready", http.StatusOK)
			o.Stop(t)
		})
	}
}

// TestOperator_OneReplicaReconcilesAndBothServe, and the other one takes over when the first one is told to end.
func TestOperator_OneReplicaReconcilesAndBothServe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	http1, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	// The leader answers for a long while after it was told to end, as behind a load balancer.
	first := p.start(t, "--shutdown-delay=1m", "--storage-port="+http1)
	first.state(t, http.StatusOK, "reconciling")
	second := p.start(t)
	standby := second.state(t, http.StatusOK, "standby")
	second.probe(t, "/ready", http.StatusOK)

	s := snippet("hello", "1")
	p.Create(t, s)
	p.published(t, s) // through the second one, whose storage server has the port of the base URL
	_, file, _ := strings.Cut(s.Status.ArtifactURL, p.port)
	if code, _, err := first.Get(t.Context(), "storage", file); err != nil || code != http.StatusOK {
		t.Errorf("the artifact from the leader: %d %v", code, err)
	}
	if lease := p.lease(t); *lease.Spec.HolderIdentity == "" {
		t.Error("nobody holds the lease")
	}

	began := time.Now()
	if err := first.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	leading := second.state(t, http.StatusOK, "reconciling")
	t.Logf("the other replica took over %s after the signal", leading.Since.Sub(began).Round(time.Millisecond))
	if leading.Starts != standby.Starts {
		t.Errorf("it needed %d managers for that", leading.Starts)
	}
	if first.Exited() {
		t.Error("the first one has ended; it was to answer during its delay")
	}
	first.state(t, http.StatusServiceUnavailable, "stopped")
	p.edit(t, s, "2")
	p.published(t, s)
	first.Stop(t) // ends the delay
	second.Stop(t)
}

func (p *place) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "renderer-operator"}}
	p.Await(t, lease, func() error { return nil })
	return lease
}

// TestOperator_ThatLosesItsLeaseServesOn: somebody takes the lease away.
func TestOperator_ThatLosesItsLeaseServesOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.start(t, "--snippet-directory="+directoryOf(t, "http", "1"))
	before := o.state(t, http.StatusOK, "reconciling")
	steal := func(holder string) {
		kubetest.Eventually(t, func(ctx context.Context) error {
			lease := p.lease(t)
			seconds, now := int32(15), metav1.NowMicro()
			lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &holder, &seconds, &now
			return p.Client.Update(ctx, lease)
		})
	}
	steal("somebody else")
	kubetest.Eventually(t, func(ctx context.Context) error {
		if _, body, err := o.Get(ctx, "management", "/operator"); err != nil || strings.Contains(body, `"reconciling"`) {
			return errors.New("it reconciles without the lease")
		}
		return nil
	})
	if code, body, err := o.Get(t.Context(), "jsonnet", "/jsonnet/http"); err != nil || code != http.StatusOK {
		t.Errorf("rendering over HTTP: %d %s %v", code, body, err)
	}
	o.probe(t, "/ready", http.StatusOK)
	steal("") // given back
	if after := o.state(t, http.StatusOK, "reconciling"); after.Starts <= before.Starts {
		t.Errorf("before %+v, after %+v", before, after)
	}
	o.Stop(t)
}

// TestOperator_HostileSnippetsDoNotStopHTTP: more of them than there are workers and slots run into their limits, and a
// request over HTTP always finds room.
func TestOperator_HostileSnippetsDoNotStopHTTP(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.start(t, "--snippet-directory="+directoryOf(t, "http", "function(n) { a: [n + x for x in ['1', '2', '3']] }"),
		"--evaluation-timeout=1s", "--max-evaluation-memory=48MiB", "--max-concurrent-evals=4")
	hostile := map[string]*renderv1.JsonnetSnippet{}
	for name, runaway := range runaways {
		for i := range 3 {
			s := snippet(fmt.Sprintf("%s-%d", name, i), runaway.program)
			hostile[s.Name] = s
			p.Create(t, s)
		}
	}
	hostile["deep"] = snippet("deep", strings.Repeat("[", 40_000))
	p.Create(t, hostile["deep"])
	healthy := snippet("healthy", "{ a: 1 }")
	p.Create(t, healthy)

	slowest := time.Duration(0)
	left := func(ctx context.Context) error { // those that have not been told what is wrong with them
		for _, s := range hostile {
			if err := p.Client.Get(ctx, types.NamespacedName{Namespace: p.Namespace, Name: s.Name}, s); err != nil {
				return err
			}
			ready := meta.FindStatusCondition(s.Status.Conditions, renderv1.ReadyCondition)
			if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason == renderv1.ReasonEvaluationUnavailable {
				return fmt.Errorf("%s: %+v", s.Name, ready)
			}
		}
		return nil
	}
	n := 0
	kubetest.Eventually(t, func(ctx context.Context) error {
		began := time.Now()
		n++
		code, body, err := o.Get(ctx, "jsonnet", fmt.Sprintf("/jsonnet/http?n=%d", n))
		if err != nil || code != http.StatusOK {
			t.Fatalf("over HTTP: %d %s %v", code, body, err)
		}
		slowest = max(slowest, time.Since(began))
		return left(ctx)
	})
	t.Logf("%d requests over HTTP, the slowest %s", n, slowest)
	p.published(t, healthy)
	o.Stop(t)
}
