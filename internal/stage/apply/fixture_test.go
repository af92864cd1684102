package apply_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// requests counts what is sent to the API server, discovery aside.
type requests struct {
	next http.RoundTripper
	mu   sync.Mutex
	seen []string
}

func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.Contains(request.URL.Path, "/namespaces/") || request.URL.Query().Has("fieldManager") ||
		request.URL.Query().Has("labelSelector") {
		r.mu.Lock()
		r.seen = append(r.seen, request.Method)
		r.mu.Unlock()
	}
	return r.next.RoundTrip(request)
}

// take returns how many requests there were of each method since it was called last.
func (r *requests) take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := map[string]int{}
	for _, method := range r.seen {
		counts[method]++
	}
	r.seen = nil
	return counts
}

// site is a stage of a StageSet on a real API server, with an inventory in memory.
type site struct {
	*kubetest.Env
	cluster  cluster.Cluster
	requests *requests
	applier  *apply.Applier
	owner    inventory.Owner
	stage    string
	recorded map[inventory.ID]inventory.Entry
	policy   *stagesv1.ConflictPolicy
	adopt    []types.NamespacedName
	others   []types.NamespacedName // StageSets that exist beside this
	intended map[inventory.ID]types.UID
	most     int
	secrets  []string
}

func newSite(t testing.TB) *site {
	t.Helper()
	env := kubetest.Start(t)
	s := &site{
		Env: env, applier: apply.NewApplier(0), stage: "web", recorded: map[inventory.ID]inventory.Entry{},
		owner: inventory.Owner{Namespace: env.Namespace, Name: "shop", UID: "11111111-2222-3333-4444-555555555555"},
	}
	s.act(t, env.Config, "the controller")
	return s
}

// sibling is another StageSet in the same namespace.
func (s *site) sibling(name, stage string) *site {
	other := *s
	other.owner.Name, other.stage = name, stage
	other.recorded = map[inventory.ID]inventory.Entry{}
	other.others = []types.NamespacedName{{Namespace: s.owner.Namespace, Name: s.owner.Name}}
	return &other
}

// act makes the site act with other credentials.
func (s *site) act(t testing.TB, config *rest.Config, identity string) {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	s.requests = &requests{}
	counted := s.requests
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		counted.next = next
		return counted
	})
	c, err := client.NewWithWatch(config, client.Options{Scheme: s.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	s.cluster = cluster.Cluster{Client: c, Identity: identity, Key: identity}
}

func (s *site) survey(t testing.TB, objects []*unstructured.Unstructured) map[inventory.ID]inventory.Live {
	t.Helper()
	var all []inventory.Entry
	for _, object := range objects {
		all = append(all, apply.EntryOf(object))
	}
	for _, e := range s.recorded {
		all = append(all, e)
	}
	live, err := cluster.Survey(t.Context(), s.cluster, s.owner, cluster.ScopesOf(all))
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// try is one step of a reconcile: survey, write ahead, apply, record.
func (s *site) try(t testing.TB, objects ...*unstructured.Unstructured) (apply.Result, error) {
	t.Helper()
	job := s.job(s.survey(t, objects), objects...)
	s.ahead(t, job)
	result, err := s.send(t, job)
	for _, outcome := range result.Outcomes {
		s.recorded[outcome.Entry.ID] = outcome.Entry
	}
	s.intended = map[inventory.ID]types.UID{}
	for _, e := range result.Intend {
		s.intended[e.ID] = e.UID
	}
	return result, err
}

// ahead records what is to be recorded before a job is sent.
func (s *site) ahead(t testing.TB, job apply.Job) {
	t.Helper()
	plan, err := s.applier.Plan(job)
	if err != nil {
		return // as is seen when it is sent
	}
	var recorded []inventory.Entry
	for _, e := range s.recorded {
		recorded = append(recorded, e)
	}
	for _, e := range plan.Ahead(recorded) {
		s.recorded[e.ID] = e
	}
}

// send applies a job, and records nothing.
func (s *site) send(t testing.TB, job apply.Job) (apply.Result, error) {
	t.Helper()
	plan, err := s.applier.Plan(job)
	if err != nil {
		return apply.Result{}, err
	}
	return plan.Apply(t.Context(), s.recorded)
}

// applyLate applies something else in the name of the site, in a later second, of which the site does not know. It is what a
// controller does that leads no more, or leads by now.
func (s *site) applyLate(t testing.TB, object *unstructured.Unstructured) {
	t.Helper()
	before := s.read(t, object).GetManagedFields()[0].Time
	other := s.sibling(s.owner.Name, s.stage)
	kubetest.Eventually(t, func(context.Context) error { // the API server keeps the second in which it was
		late := s.configMap(t, object.GetName(), time.Now().String())
		if _, err := other.send(t, other.job(other.survey(t, []*unstructured.Unstructured{late}), late)); err != nil {
			return err
		}
		if now := s.read(t, object).GetManagedFields()[0].Time; !now.After(before.Time) {
			return fmt.Errorf("it was sent at %s, as before", now)
		}
		return nil
	})
}

// job is a job with what the site knows.
func (s *site) job(live map[inventory.ID]inventory.Live, objects ...*unstructured.Unstructured) apply.Job {
	return apply.Job{
		Cluster: s.cluster, Owner: s.owner, Stage: s.stage, Objects: objects, Live: live,
		Policy: s.policy, Adopt: s.adopt, Intended: s.intended, Most: s.most, Secrets: s.secrets,
		Exists: s.exists(),
	}
}

// exists knows the StageSets beside the site, and more.
func (s *site) exists(more ...string) func(context.Context, types.NamespacedName) (bool, error) {
	return func(_ context.Context, name types.NamespacedName) (bool, error) {
		return slices.Contains(s.others, name) || slices.Contains(more, name.Name), nil
	}
}

func (s *site) apply(t testing.TB, objects ...*unstructured.Unstructured) apply.Result {
	t.Helper()
	result, err := s.try(t, objects...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// until applies until check returns nil, as a caller does that is woken again and again.
func (s *site) until(t testing.TB, objects []*unstructured.Unstructured, check func(apply.Result) error) {
	t.Helper()
	kubetest.Eventually(t, func(context.Context) error {
		result, err := s.try(t, objects...)
		if err != nil {
			return err
		}
		return check(result)
	})
}

// changes tells what became of objects, by name, with "drift" where it was that.
func changes(result apply.Result) map[string]string {
	found := map[string]string{}
	for _, outcome := range result.Outcomes {
		text := string(outcome.Change)
		if outcome.Drift {
			text += " drift"
		}
		found[outcome.Entry.ID.Name] = text
	}
	return found
}

func wantChanges(t *testing.T, result apply.Result, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, changes(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func wantRequests(t *testing.T, s *site, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, s.requests.take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// object reads a manifest; objects are in the site's namespace where they have none and are not cluster-wide.
func (s *site) object(t testing.TB, manifest string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		t.Fatal(err)
	}
	namespaced, err := s.Client.IsObjectNamespaced(object)
	if object.GetNamespace() == "" && (namespaced || err != nil) && object.GetKind() != "CustomResourceDefinition" {
		object.SetNamespace(s.Namespace)
	}
	return object
}

func (s *site) configMap(t testing.TB, name, value string) *unstructured.Unstructured {
	t.Helper()
	return s.object(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: %q, b: fixed}}", name, value))
}

// read returns the object as it is now.
func (s *site) read(t testing.TB, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(object.GroupVersionKind())
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(object), now); err != nil {
		t.Fatal(err)
	}
	return now
}

func wantError[E error](t *testing.T, err error) E {
	t.Helper()
	var found E
	if !errors.As(err, &found) {
		t.Fatalf("error %v, want a %T", err, found)
	}
	return found
}
