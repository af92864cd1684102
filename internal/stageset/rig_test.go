package stageset

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// parallel is how many tests run at a time: they wait for the control plane far more than they compute.
const parallel = 10

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // what is wrong is in conditions, which tests look at
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// rig is a controller for one namespace of the control plane, with a server of archives.
type rig struct {
	*kubetest.Env
	archives *kubetest.Archives
	wire     *wire
	digests  sync.Map // of what is published, a string by its name
	options  Options
	logger   logr.Logger // of the manager; nothing is logged where none is set
}

// newRig prepares everything and starts nothing.
func newRig(t testing.TB, changes ...func(*Options)) *rig {
	t.Helper()
	r := &rig{Env: kubetest.Start(t, stagesv1.AddToScheme), archives: kubetest.NewArchives(t), wire: &wire{}}
	config := r.wire.config(r.Config)
	clients, err := tenant.NewClients(tenant.Options{Base: config, Issuer: r.Client})
	if err != nil {
		t.Fatal(err)
	}
	r.options = Options{
		Config: config, Tenants: clients,
		Artifacts: load.New(load.Options{Fetcher: artifact.NewFetcher(kubetest.FastFetches())}, load.AsIs),
	}
	for _, change := range changes {
		change(&r.options)
	}
	return r
}

// start runs the controller in a manager of its own until the test ends or stop is called.
func (r *rig) start(t testing.TB, namespaces ...string) (stop func()) {
	t.Helper()
	mgr, err := ctrl.NewManager(r.wire.config(r.Config), ctrl.Options{
		Scheme: r.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: r.logger,
		Cache: CacheOptions(append(namespaces, r.Namespace)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Setup(mgr, r.options); err != nil {
		t.Fatal(err)
	}
	return kubetest.RunManager(t, mgr)
}

// publish makes an ExternalArtifact of manifests, or replaces what it has.
func (r *rig) publish(t testing.TB, name string, manifests ...string) *sourcev1.ExternalArtifact {
	t.Helper()
	return r.announce(t, name, r.archives.AddFiles(t, map[string]string{"all.yaml": strings.Join(manifests, "\n---\n")}))
}

// digest is that of what a source publishes now.
func (r *rig) digest(name string) string {
	digest, _ := r.digests.Load(name)
	text, _ := digest.(string)
	return text
}

func (r *rig) announce(t testing.TB, name string, at *fluxmeta.Artifact) *sourcev1.ExternalArtifact {
	t.Helper()
	source := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.Namespace}}
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(source), source); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	} else if err != nil {
		r.Create(t, source)
	}
	r.digests.Store(name, at.Digest)
	before := source.DeepCopy()
	source.Status.Artifact = at
	meta.SetStatusCondition(&source.Status.Conditions, metav1.Condition{Type: "Ready", Status: "True", Reason: "Published"})
	if err := r.Client.Status().Patch(t.Context(), source, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	return source
}

// configMap is the manifest of one.
func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {value: %q}", name, value)
}

// deployment is the manifest of one; with replicas it waits until pods run.
func deployment(name string, replicas int) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: main, image: nginx}]}`, name, replicas)
}

// stageSet is one whose stages are made from ExternalArtifacts of their names.
func stageSet(name string, stages ...string) *stagesv1.StageSet {
	set := &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, stage := range stages {
		set.Spec.Stages = append(set.Spec.Stages, stagesv1.Stage{Name: stage, SourceRef: stagesv1.SourceReference{Name: stage}})
	}
	return set
}

// awaitReason waits until the Ready condition of the present generation has a reason, and returns its message.
func (r *rig) awaitReason(t testing.TB, set *stagesv1.StageSet, reason string) string {
	t.Helper()
	message := ""
	r.Await(t, set, func() error {
		ready := meta.FindStatusCondition(set.Status.Conditions, "Ready")
		if ready == nil || ready.Reason != reason || ready.ObservedGeneration != set.Generation {
			return fmt.Errorf("Ready is %+v at generation %d, want reason %s; the run is %+v", ready, set.Generation, reason, set.Status.Run)
		}
		message = ready.Message
		return nil
	})
	return message
}

// awaitMessage waits until the Ready condition has a reason and a message with some words in it.
func (r *rig) awaitMessage(t testing.TB, set *stagesv1.StageSet, reason, words string) {
	t.Helper()
	r.Await(t, set, func() error {
		ready := meta.FindStatusCondition(set.Status.Conditions, "Ready")
		if ready == nil || ready.Reason != reason || !strings.Contains(ready.Message, words) {
			return fmt.Errorf("Ready is %+v, want reason %s and %q", ready, reason, words)
		}
		return nil
	})
}

// awaitApplied waits until a StageSet is Ready with what a source publishes now.
func (r *rig) awaitApplied(t testing.TB, set *stagesv1.StageSet, stage string, source *sourcev1.ExternalArtifact) {
	t.Helper()
	r.Await(t, set, func() error {
		ready := meta.FindStatusCondition(set.Status.Conditions, "Ready")
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != set.Generation {
			return fmt.Errorf("Ready is %+v; the run is %+v", ready, set.Status.Run)
		}
		for _, status := range set.Status.Stages {
			if status.Name == stage && status.AppliedRevision == source.Status.Artifact.Revision {
				return nil
			}
		}
		return fmt.Errorf("the stages are %+v, want %s", set.Status.Stages, source.Status.Artifact.Revision)
	})
}

// awaitEvent waits for an event about a StageSet.
func (r *rig) awaitEvent(t testing.TB, set *stagesv1.StageSet, kind, reason string) string {
	t.Helper()
	note := ""
	kubetest.Eventually(t, func(ctx context.Context) error {
		var events eventsv1.EventList
		if err := r.Client.List(ctx, &events, client.InNamespace(r.Namespace)); err != nil {
			return err
		}
		var seen []string
		for _, e := range events.Items {
			if e.Regarding.Name == set.Name {
				if e.Reason == reason && e.Type == kind {
					note = e.Note
					return nil
				}
				seen = append(seen, e.Type+" "+e.Reason)
			}
		}
		return fmt.Errorf("the events are %v, want %s %s", seen, kind, reason)
	})
	return note
}

// configMaps returns the values of the ConfigMaps of the namespace that a StageSet has applied, by name.
func (r *rig) configMaps(t testing.TB) map[string]string {
	t.Helper()
	var list corev1.ConfigMapList
	if err := r.Client.List(t.Context(), &list, client.InNamespace(r.Namespace), client.HasLabels{stagesv1.NameLabel}); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, item := range list.Items {
		found[item.Name] = item.Data["value"]
	}
	return found
}

// edit changes an object until nobody else changes it at the same time.
func edit[T client.Object](t testing.TB, r *rig, object T, change func(T)) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		if err := r.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return r.Client.Update(ctx, object)
	})
}

// wire counts what is asked of the API server, and can cut it off.
type wire struct {
	mu   sync.Mutex
	seen []string
	stop func(what string) error // asked before each request; nil lets all through
	lose func(what string) error // asked after each request, whose answer is lost with an error
}

func (w *wire) config(base *rest.Config) *rest.Config {
	config := rest.CopyConfig(base)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			what := request.Method + " " + request.URL.Path
			if request.URL.Query().Get("watch") == "" {
				w.mu.Lock()
				w.seen = append(w.seen, what)
				stop, lose := w.stop, w.lose
				w.mu.Unlock()
				if stop != nil {
					if err := stop(what); err != nil {
						return nil, err
					}
				}
				if lose != nil {
					return losing(next, request, what, lose)
				}
			}
			return next.RoundTrip(request)
		})
	})
	return config
}

// losing makes a request and may lose its answer.
func losing(next http.RoundTripper, request *http.Request, what string, lose func(string) error) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if lost := lose(what); lost != nil {
		_ = response.Body.Close()
		return nil, lost
	}
	return response, nil
}

// take returns the requests since it was called last.
func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

// quiet waits until nothing is asked any more, and forgets what was.
func (w *wire) quiet(t testing.TB) {
	t.Helper()
	const polls = 15 // of kubetest.Eventually
	calm := 0
	kubetest.Eventually(t, func(context.Context) error {
		if calm++; len(w.take()) > 0 {
			calm = 0
		}
		if calm < polls {
			return fmt.Errorf("requests do not end")
		}
		return nil
	})
}

func (w *wire) setStop(stop func(string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = stop
}

func (w *wire) setLose(lose func(string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose = lose
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
