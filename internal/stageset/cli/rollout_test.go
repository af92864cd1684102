package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/obs/obstest"
)

// place is a namespace with a tenant whose stages are published.
type place struct {
	*kubetest.Env
	archives *kubetest.Archives
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{kubetest.Start(t, stagesv1.AddToScheme), kubetest.NewArchives(t)}
	p.tenant(t, p.Namespace)
	return p
}

// tenant makes the account of the examples.
func (p *place) tenant(t *testing.T, namespace string) {
	t.Helper()
	text, err := os.ReadFile("../../../examples/stages/tenant-role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(strings.ReplaceAll(string(text), "team-a", namespace), "\n---\n")
	for i, object := range []client.Object{&corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		if err := yaml.UnmarshalStrict([]byte(documents[i]), object); err != nil {
			t.Fatal(err)
		}
		p.Create(t, object)
	}
}

// publish announces a manifest as an ExternalArtifact, or in place of the one before.
func (p *place) publish(t *testing.T, namespace, name, manifest string) (revision string) {
	t.Helper()
	source := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	if err := p.Client.Create(t.Context(), source); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	kubetest.Eventually(t, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(source), source); err != nil {
			return err
		}
		source.Status.Artifact = p.archives.AddFiles(t, map[string]string{"all.yaml": manifest})
		meta.SetStatusCondition(&source.Status.Conditions, metav1.Condition{Type: "Ready", Status: "True", Reason: "Published"})
		return p.Client.Status().Update(ctx, source)
	})
	return source.Status.Artifact.Revision
}

func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {state: %q}", name, value)
}

// set is a StageSet of two stages, made from ExternalArtifacts of their names.
func (p *place) set(namespace string) *stagesv1.StageSet {
	return &stagesv1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: namespace},
		Spec: stagesv1.StageSetSpec{ServiceAccountName: "stages-tenant", Stages: []stagesv1.Stage{
			{Name: "base", SourceRef: stagesv1.SourceReference{Name: "base"}},
			{Name: "app", SourceRef: stagesv1.SourceReference{Name: "app"}},
		}},
	}
}

// applied waits until the last stage is ready with a revision.
func (p *place) applied(t *testing.T, set *stagesv1.StageSet, revision string) {
	t.Helper()
	p.Await(t, set, func() error {
		if !meta.IsStatusConditionTrue(set.Status.Conditions, "Ready") || set.Status.Stages[1].AppliedRevision != revision {
			return fmt.Errorf("the status is %+v", set.Status)
		}
		return nil
	})
}

// TestProgram_RollsOutAndTells: objects, gate, metrics and spans of a rollout; what is a secret is in none of them.
func TestProgram_RollsOutAndTells(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	collector := obstest.Start(t, nil)
	const secret = "hunter2"
	p.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "values"}, StringData: map[string]string{"password": secret}})
	p.publish(t, p.Namespace, "base", configMap("base", "1"))
	revision := p.publish(t, p.Namespace, "app", configMap("app", "${password}"))
	set := p.set(p.Namespace)
	set.Spec.Stages[1].PostBuild = &stagesv1.PostBuild{SubstituteFrom: []stagesv1.SubstituteReference{{Kind: "Secret", Name: "values"}}}
	p.Create(t, set)
	c := start(t, p.Env, "--leader-elect", "--tracing-endpoint="+collector.Address, "--tracing-insecure")
	p.applied(t, set, revision)
	app := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: p.Namespace}}
	p.Await(t, app, func() error { return nil })
	if app.Data["state"] != secret {
		t.Errorf("the variable is %q", app.Data["state"])
	}
	gate := c.Shows(t, "gate", "/gate/"+p.Namespace+"/shop/app", http.StatusOK, fmt.Sprintf(`{"ready":true,"phase":"Ready","revision":%q}`, revision))
	var served string
	for _, line := range []string{
		`stageset_reconciles_total{reason="Succeeded"}`, `stageset_applied_objects_total{change="created"} 2`,
		fmt.Sprintf(`stageset_stage_ready{namespace=%q,stage="app",stageset="shop"} 1`, p.Namespace), "stageset_stage_duration_seconds_count 2",
		"stageset_waits 0", "stageset_watches ", "stageset_controller_starts_total 1", "workqueue_depth", "controller_runtime_reconcile_total",
		"leader_election_master_status", "rest_client_requests_total", "go_goroutines", "process_start_time_seconds",
	} {
		served = c.Shows(t, "metrics", "/metrics", http.StatusOK, line)
	}
	obstest.CompareMetrics(t, served, "../../../docs/reference/stageset-controller-metrics.md", "stageset_", 15)
	c.Stop(t) // which sends the rest of the spans

	if span, err := collector.Find("reconcile StageSet", nil); err != nil {
		t.Error(err)
	} else if len(span.GetAttributes()) < 3 {
		t.Errorf("the span has the attributes %v", span.GetAttributes())
	}
	for _, step := range []string{"resolve", "build", "roll", "settle"} {
		if _, err := collector.Find(step, nil); err != nil {
			t.Error(err)
		}
	}
	for _, span := range collector.Spans() {
		if strings.Contains(span.String(), secret) {
			t.Errorf("a secret in %s", span)
		}
	}
	if strings.Contains(c.Log()+gate+served+fmt.Sprint(set.Status), secret) {
		t.Error("a secret in the log, at the gate, in the metrics or in the status")
	}
}

// TestProgram_AnotherReplicaGoesOnWithARun: one reconciles and both serve; then that one is told to end while a stage waits.
func TestProgram_AnotherReplicaGoesOnWithARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.publish(t, p.Namespace, "base", configMap("base", "1"))
	revision := p.publish(t, p.Namespace, "app", configMap("app", "1"))
	outside := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "outside"}, Data: map[string]string{"state": "busy"}}
	set := p.set(p.Namespace)
	set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{
		Checks: []stagesv1.ObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "outside"}},
		Exprs:  []stagesv1.HealthExpressions{{APIVersion: "v1", Kind: "ConfigMap", Current: "data.state != 'busy'"}},
	}
	p.Create(t, outside, set)
	first := start(t, p.Env, "--leader-elect")
	first.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_waits 1\n")
	first.Shows(t, "gate", "/gate/"+p.Namespace+"/shop/base", http.StatusServiceUnavailable, `"phase":"Waiting"`)
	second := start(t, p.Env, "--leader-elect")
	second.Shows(t, "probes", "/readyz", http.StatusOK, "ready")
	second.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 0\n")
	second.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_waits 0\n")
	second.Shows(t, "gate", "/gate/"+p.Namespace+"/shop/base", http.StatusServiceUnavailable, `"phase":"Waiting"`)
	p.Await(t, set, func() error { return nil })
	run := set.Status.Run.ID

	told := time.Now()
	first.Stop(t)
	second.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 1\n")
	t.Logf("the other replica reconciles %s after the signal", time.Since(told).Round(time.Millisecond))
	second.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_waits 1\n")
	p.Await(t, outside, func() error {
		outside.Data["state"] = "done"
		return p.Client.Update(t.Context(), outside)
	})
	p.applied(t, set, revision)
	if set.Status.LastApplied.ID != run {
		t.Errorf("the run is %s, it was %s", set.Status.LastApplied.ID, run)
	}
	second.Shows(t, "gate", "/gate/"+p.Namespace+"/shop/app", http.StatusOK, `"ready":true`)
	second.Stop(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: leaseName}}
	p.Await(t, lease, func() error {
		if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
			return fmt.Errorf("the lease is still held by %s", *holder)
		}
		return nil
	})
}

// TestProgram_OutlivesTheAPIServer: the gate answers as before, the process stays ready, and work resumes without a restart.
func TestProgram_OutlivesTheAPIServer(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"with an election": {"--leader-elect"}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			proxy := kubetest.NewProxy(t, os.Getenv(kubetest.KubeconfigVariable))
			p.publish(t, p.Namespace, "base", configMap("base", "1"))
			revision := p.publish(t, p.Namespace, "app", configMap("app", "1"))
			set := p.set(p.Namespace)
			p.Create(t, set)
			c := start(t, p.Env, append(args, "--kubeconfig="+proxy.Kubeconfig)...)
			p.applied(t, set, revision)
			gate := "/gate/" + p.Namespace + "/shop/app"
			answer := c.Shows(t, "gate", gate, http.StatusOK, revision)

			proxy.Shut()
			c.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 0\n")
			if during := c.Shows(t, "gate", gate, http.StatusOK, revision); during != answer {
				t.Errorf("during the outage the gate says %s, before %s", during, answer)
			}
			c.Shows(t, "probes", "/readyz", http.StatusOK, "ready")
			c.Shows(t, "probes", "/healthz", http.StatusOK, "alive")
			next := p.publish(t, p.Namespace, "app", configMap("app", "2"))
			proxy.Open(t)
			p.applied(t, set, next)
			c.Shows(t, "gate", gate, http.StatusOK, next)
			c.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 1\n")
			c.Stop(t)
		})
	}
}

// TestProgram_StartsWithoutTheAPIServer: it is not ready, answers that nothing is, and begins when there is one.
func TestProgram_StartsWithoutTheAPIServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	proxy := kubetest.NewProxy(t, os.Getenv(kubetest.KubeconfigVariable))
	proxy.Shut()
	c := start(t, p.Env, "--kubeconfig="+proxy.Kubeconfig)
	c.Shows(t, "probes", "/healthz", http.StatusOK, "alive")
	c.Shows(t, "probes", "/readyz", http.StatusServiceUnavailable, "")
	c.Shows(t, "gate", "/gate/"+p.Namespace+"/shop/app", http.StatusServiceUnavailable, `"ready":false`)
	p.publish(t, p.Namespace, "base", configMap("base", "1"))
	revision := p.publish(t, p.Namespace, "app", configMap("app", "1"))
	set := p.set(p.Namespace)
	p.Create(t, set)
	proxy.Open(t)
	p.applied(t, set, revision)
	c.Shows(t, "probes", "/readyz", http.StatusOK, "ready")
	c.Stop(t)
}

// TestProgram_WorksInItsNamespacesAlone, whether a flag or the environment names them; the flag wins.
func TestProgram_WorksInItsNamespacesAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	other := p.NewNamespace(t)
	p.tenant(t, other)
	for name, c := range map[string]struct{ flag, variable, works, rests string }{
		"environment": {"", p.Namespace, p.Namespace, other},
		"flag":        {other, p.Namespace, other, p.Namespace},
	} {
		t.Run(name, func(t *testing.T) {
			var sets []*stagesv1.StageSet
			var revision string
			for _, namespace := range []string{c.rests, c.works} {
				p.publish(t, namespace, "base", configMap("base", name))
				revision = p.publish(t, namespace, "app", configMap("app", name))
				set := p.set(namespace)
				set.Name = "shop-" + name
				p.Create(t, set)
				sets = append(sets, set)
			}
			process := startWith(t, p.Env, []string{watchVariable + "=" + c.variable}, "--watch-namespaces="+c.flag)
			p.applied(t, sets[1], revision)
			process.Shows(t, "gate", "/gate/"+c.works+"/"+sets[1].Name+"/app", http.StatusOK, revision)
			process.Shows(t, "gate", "/gate/"+c.rests+"/"+sets[0].Name+"/app", http.StatusServiceUnavailable, `"phase":""`)
			p.Await(t, sets[0], func() error { return nil })
			if len(sets[0].Finalizers) > 0 || len(sets[0].Status.Conditions) > 0 {
				t.Errorf("what is in another namespace has %v %+v", sets[0].Finalizers, sets[0].Status)
			}
			for _, set := range sets { // the next process works where this one did not
				if err := p.Client.Delete(t.Context(), set); err != nil {
					t.Fatal(err)
				}
				p.AwaitGone(t, set)
			}
			process.Stop(t)
		})
	}
}
