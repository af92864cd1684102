package health

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// fixture is a watcher that runs, and those whom it woke.
type fixture struct {
	*kubetest.Env
	*Watcher
	cluster cluster.Cluster
	user    types.NamespacedName

	mu    sync.Mutex
	wakes map[types.NamespacedName][]time.Time
}

// start returns a running watcher of the test's control plane, reached as config says; nil is directly.
func start(t testing.TB, e *kubetest.Env, config *rest.Config, o WatcherOptions) *fixture {
	t.Helper()
	f := &fixture{
		Env: e, cluster: clusterOf(t, e, config), user: types.NamespacedName{Namespace: e.Namespace, Name: "shop"},
		wakes: map[types.NamespacedName][]time.Time{},
	}
	o.Wake = func(user types.NamespacedName) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.wakes[user] = append(f.wakes[user], time.Now())
	}
	f.Watcher = NewWatcher(o)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = f.Start(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return f
}

func clusterOf(t testing.TB, e *kubetest.Env, config *rest.Config) cluster.Cluster {
	t.Helper()
	if config == nil {
		config = e.Config
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: e.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return cluster.Cluster{Client: c, Identity: "the test", Key: "test"}
}

func (f *fixture) owner() inventory.Owner {
	return inventory.Owner{Namespace: f.user.Namespace, Name: f.user.Name}
}

func (f *fixture) wait(targets ...Target) Wait {
	return Wait{Cluster: f.cluster, Owner: f.owner(), Targets: targets}
}

// look looks and fails the test on an error.
func (f *fixture) look(t testing.TB, wait Wait) Report {
	t.Helper()
	report, err := f.Look(t.Context(), f.user, wait)
	if err != nil {
		t.Fatalf("looking: %v", err)
	}
	return report
}

func (f *fixture) woken(user types.NamespacedName) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.wakes[user])
}

// lookUntil does what a controller does: it looks, and looks again only when it is woken, or when it was told to.
func (f *fixture) lookUntil(t testing.TB, wait Wait, until func(Report) bool) Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		before := f.woken(f.user)
		report := f.look(t, wait)
		if until(report) {
			return report
		}
		began := time.Now()
		for f.woken(f.user) == before && (report.Recheck == 0 || time.Since(began) < report.Recheck) {
			if !pause(ctx, 5*time.Millisecond) {
				t.Fatalf("nobody is woken; the last report is %+v", report)
			}
		}
	}
}

func isReady(r Report) bool { return r.Ready }

// awaitWake waits until a user was woken more often than before.
func (f *fixture) awaitWake(t testing.TB, before int) {
	t.Helper()
	kubetest.Eventually(t, func(context.Context) error {
		if f.woken(f.user) <= before {
			return errors.New("nobody was woken")
		}
		return nil
	})
}

// awaitOpen waits until all watches go on, so that a test can cut them.
func (f *fixture) awaitOpen(t testing.TB, p *proxy, watches int) {
	t.Helper()
	kubetest.Eventually(t, func(context.Context) error {
		if n := p.open(); n != watches {
			return fmt.Errorf("%d watches are open, want %d", n, watches)
		}
		return nil
	})
}

// object returns an object of the fixture's user.
func (f *fixture) object(kind schema.GroupVersionKind, name string, content map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: content}
	if object.Object == nil {
		object.Object = map[string]any{}
	}
	object.SetGroupVersionKind(kind)
	object.SetName(name)
	object.SetNamespace(f.Namespace)
	object.SetLabels(map[string]string{
		stagesv1.NameLabel: f.user.Name, stagesv1.NamespaceLabel: f.user.Namespace, stagesv1.StageLabel: "one",
	})
	return object
}

// targetOf is an object as a target, as it was applied.
func targetOf(object client.Object) Target {
	kind := object.GetObjectKind().GroupVersionKind()
	return Target{
		Entry: inventory.Entry{
			ID: inventory.ID{
				Namespace: object.GetNamespace(), Name: object.GetName(), Group: kind.Group, Kind: kind.Kind,
			},
			Version: kind.Version, UID: object.GetUID(),
		},
		Generation: object.GetGeneration(),
	}
}

// shops defines a kind Shop in a group of the test's own. Its objects have a status.
func shops(t testing.TB, e *kubetest.Env) schema.GroupVersionKind {
	t.Helper()
	kind := schema.GroupVersionKind{Group: e.Namespace + ".example.com", Version: "v1", Kind: "Shop"}
	define(t, e, kind)
	return kind
}

func define(t testing.TB, e *kubetest.Env, kind schema.GroupVersionKind) *unstructured.Unstructured {
	t.Helper()
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	status := map[string]any{
		"type": "object", "x-kubernetes-preserve-unknown-fields": true,
		"properties": map[string]any{
			"observedGeneration": map[string]any{"type": "integer"},
			"conditions":         map[string]any{"type": "array", "items": open},
		},
	}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "shops." + kind.Group},
		"spec": map[string]any{
			"group": kind.Group, "scope": "Namespaced",
			"names": map[string]any{"kind": kind.Kind, "listKind": kind.Kind + "List", "plural": "shops", "singular": "shop"},
			"versions": []any{map[string]any{
				"name": kind.Version, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": open, "status": status},
				}},
			}},
		},
	}}
	e.Create(t, definition)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = client.IgnoreNotFound(e.Client.Delete(ctx, definition))
	})
	kubetest.Eventually(t, func(ctx context.Context) error { // it is served a little later than it is established
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		return e.Client.List(ctx, list, client.InNamespace(e.Namespace))
	})
	return definition
}

// setReady sets the Ready condition of an object.
func setReady(t testing.TB, e *kubetest.Env, object *unstructured.Unstructured, ready metav1.ConditionStatus, message string) {
	t.Helper()
	if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	setStatus(t, e, object, map[string]any{
		"observedGeneration": object.GetGeneration(),
		"conditions":         []any{map[string]any{"type": "Ready", "status": string(ready), "reason": "Test", "message": message}},
	})
}

func setStatus(t testing.TB, e *kubetest.Env, object *unstructured.Unstructured, status map[string]any) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		if err := e.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		object.Object["status"] = status
		return e.Client.Status().Update(ctx, object)
	})
}

// proxy stands between a watcher and the API server, counts, and can get in the way.
type proxy struct {
	server *httptest.Server
	config *rest.Config

	mu      sync.Mutex
	counts  map[string]int                   // of requests by verb: list, watch, get
	watches int                              // that are open
	hook    func(verb string) *metav1.Status // before a request is passed on; an answer ends it
}

func newProxy(t testing.TB, e *kubetest.Env) *proxy {
	t.Helper()
	upstream, err := url.Parse(e.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(e.Config)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p := &proxy{counts: map[string]int{}}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, forward)
	}))
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
	})
	p.config = &rest.Config{Host: p.server.URL, QPS: -1}
	return p
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	verb := verbOf(r)
	p.mu.Lock()
	p.counts[verb]++
	hook := p.hook
	p.mu.Unlock()
	if hook != nil {
		if answer := hook(verb); answer != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(int(answer.Code))
			_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, answer.Reason, answer.Code)
			return
		}
	}
	if verb == "watch" {
		p.add(1)
		defer p.add(-1)
	}
	next.ServeHTTP(w, r)
}

func verbOf(r *http.Request) string {
	query := r.URL.Query()
	switch {
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		return "watch"
	case query.Has("labelSelector") || query.Has("fieldSelector"):
		return "list"
	default:
		return "get"
	}
}

func (p *proxy) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watches += n
}

func (p *proxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watches
}

func (p *proxy) count(verb string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[verb]
}

func (p *proxy) set(hook func(verb string) *metav1.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// exprs are expressions for a kind.
func exprs(kind schema.GroupVersionKind, current string) stagesv1.HealthExpressions {
	version, name := kind.ToAPIVersionAndKind()
	return stagesv1.HealthExpressions{APIVersion: version, Kind: name, Current: current}
}

// reporting are schemas of kinds that all report, or all do not.
type reporting bool

func (r reporting) ReportsGeneration(context.Context, schema.GroupVersionKind) (bool, error) {
	return bool(r), nil
}

// failing are schemas that cannot be read.
type failing struct{}

func (failing) ReportsGeneration(context.Context, schema.GroupVersionKind) (bool, error) {
	return false, errors.New("no")
}
