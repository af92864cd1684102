package operator

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/jsonnet/bundle"
	"github.com/stagewright/stagewright/internal/jsonnet/eval"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/render/storage"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // what is wrong is in conditions, which tests look at
	os.Exit(m.Run())
}

// rig is an operator for one namespace of the control plane, with a store that is served and a server of archives.
type rig struct {
	*kubetest.Env
	engine   *jsonnet.Engine
	local    *storage.Local
	served   *httptest.Server
	archives *kubetest.Archives
	calls    *calls
	options  Options
	selector labels.Selector // of start
}

// account is the ServiceAccount of the tests' snippets, which has the role that the documentation shows.
const account = "shop"

func tenantRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{sourcev1.GroupVersion.Group}, Resources: []string{"gitrepositories", "ocirepositories", "buckets"}, Verbs: []string{"get"}},
		{APIGroups: []string{sourcev1.GroupVersion.Group}, Resources: []string{"externalartifacts"}, Verbs: []string{"get", "create", "patch", "delete"}},
		{APIGroups: []string{sourcev1.GroupVersion.Group}, Resources: []string{"externalartifacts/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{renderv1.GroupVersion.Group}, Resources: []string{"jsonnetlibraries"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"get", "watch"}},
	}
}

// newRig prepares everything and starts nothing.
func newRig(t testing.TB, changes ...func(*Options)) *rig {
	t.Helper()
	e := kubetest.Start(t, renderv1.AddToScheme)
	r := &rig{Env: e, archives: kubetest.NewArchives(t), calls: &calls{}}
	r.engine = newEngine(r.engineLimits())
	local, err := storage.OpenLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Close() })
	r.local = local
	r.served = httptest.NewServer(storage.Handler(local, slog.New(slog.DiscardHandler)))
	t.Cleanup(r.served.Close)
	e.NewTenant(t, account, tenantRules()...)
	r.options = Options{
		Evaluator: r.engine,
		Tenants:   r.tenants(t),
		Sources:   load.New(load.Options{Fetcher: artifact.NewFetcher(kubetest.FastFetches())}, bundle.Of),
		Spec:      SpecPolicy{NoCrossNamespaceRefs: true, DefaultServiceAccount: account},
		Publish: Publishing{
			Store: r.calls.store(local), BaseURL: r.served.URL, GCGrace: 5 * time.Minute, MaxWithdrawWait: time.Hour,
		},
		Recheck: time.Second,
	}
	for _, change := range changes {
		change(&r.options)
	}
	return r
}

func newEngine(limits jsonnet.Limits) *jsonnet.Engine {
	return jsonnet.NewEngine(jsonnet.Config{Evaluator: eval.New(eval.Options{}), Limits: limits})
}

func (r *rig) tenants(t testing.TB) Tenants {
	t.Helper()
	clients, err := tenant.NewClients(tenant.Options{Base: r.calls.config(r.Config), Issuer: r.Client})
	if err != nil {
		t.Fatal(err)
	}
	return tenant.NewPool(clients, r.Scheme, r.Client.RESTMapper())
}

// start runs the operator in a manager of its own until the test ends or stop is called.
func (r *rig) start(t testing.TB, namespaces ...string) (stop func()) {
	t.Helper()
	config := r.calls.config(r.Config)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: r.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Cache: CacheOptions(r.selector, append(namespaces, r.Namespace)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Setup(mgr, r.options); err != nil {
		t.Fatal(err)
	}
	return kubetest.RunManager(t, mgr)
}

// snippet is one with files and nothing else.
func snippet(name string, files map[string]string, changes ...func(*renderv1.JsonnetSnippet)) *renderv1.JsonnetSnippet {
	s := &renderv1.JsonnetSnippet{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Files = files
	for _, change := range changes {
		change(s)
	}
	return s
}

type texts = map[string]string

func main(text string) texts { return texts{"main.jsonnet": text} }

func library(name string, files texts) *renderv1.JsonnetLibrary {
	return &renderv1.JsonnetLibrary{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: renderv1.JsonnetLibrarySpec{Files: files}}
}

// awaitReason waits until the Ready condition of the present generation has a reason, and returns its message.
func (r *rig) awaitReason(t testing.TB, s *renderv1.JsonnetSnippet, reason string) string {
	t.Helper()
	message := ""
	r.Await(t, s, func() error {
		ready := meta.FindStatusCondition(s.Status.Conditions, "Ready")
		if ready == nil || ready.Reason != reason || ready.ObservedGeneration != s.Generation {
			return fmt.Errorf("Ready is %+v at generation %d, want reason %s", ready, s.Generation, reason)
		}
		message = ready.Message
		return nil
	})
	return message
}

// awaitEvent waits for an event about an object.
func (r *rig) awaitEvent(t testing.TB, object client.Object, kind, reason string) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		var events eventsv1.EventList
		if err := r.Client.List(ctx, &events, client.InNamespace(r.Namespace)); err != nil {
			return err
		}
		var seen []string
		for _, e := range events.Items {
			if e.Regarding.Name == object.GetName() {
				if e.Reason == reason && e.Type == kind {
					return nil
				}
				seen = append(seen, e.Type+" "+e.Reason)
			}
		}
		return fmt.Errorf("the events are %v, want %s %s", seen, kind, reason)
	})
}

// published fetches what the ExternalArtifact of a snippet announces, as a consumer does, and checks its digest.
func (r *rig) published(t testing.TB, s *renderv1.JsonnetSnippet) artifact.Files {
	t.Helper()
	announced := &sourcev1.ExternalArtifact{}
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(s), announced); err != nil {
		t.Fatal(err)
	}
	files, err := fetchArtifact(t.Context(), announced.Status.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func fetchArtifact(ctx context.Context, at *fluxmeta.Artifact) (artifact.Files, error) {
	if at == nil {
		return nil, fmt.Errorf("no artifact is announced")
	}
	archive, err := artifact.NewFetcher(kubetest.FastFetches()).Fetch(ctx, at.URL, at.Digest)
	if err != nil {
		return nil, err
	}
	return artifact.DefaultLimits().Unpack(strings.NewReader(string(archive)))
}

// awaitRendered waits until what a snippet has published has a text in it.
func (r *rig) awaitRendered(t testing.TB, s *renderv1.JsonnetSnippet, want string) {
	t.Helper()
	kubetest.Eventually(t, func(ctx context.Context) error {
		announced := &sourcev1.ExternalArtifact{}
		if err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Name}, announced); err != nil {
			return err
		}
		files, err := fetchArtifact(ctx, announced.Status.Artifact)
		if err != nil {
			return err
		}
		if got := string(files["rendered.json"]); !strings.Contains(got, want) {
			return fmt.Errorf("rendered %s, want %s", got, want)
		}
		return nil
	})
}

// gitRepository makes a source; without an artifact, one that is not ready.
func (r *rig) gitRepository(t testing.TB, name string, at *fluxmeta.Artifact) *sourcev1.GitRepository {
	t.Helper()
	repository := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Name: name}}
	repository.Spec.URL = "https://git.example.com/shop"
	repository.Spec.Interval = metav1.Duration{Duration: time.Hour}
	r.Create(t, repository)
	if at != nil {
		r.announce(t, repository, at)
	}
	return repository
}

func (r *rig) announce(t testing.TB, repository *sourcev1.GitRepository, at *fluxmeta.Artifact) {
	t.Helper()
	before := repository.DeepCopy()
	repository.Status.Artifact = at
	if err := r.Client.Status().Patch(t.Context(), repository, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func fromGit(name, path string) func(*renderv1.JsonnetSnippet) {
	return func(s *renderv1.JsonnetSnippet) {
		s.Spec.Files = nil
		s.Spec.SourceRef = &renderv1.SourceReference{Kind: "GitRepository", Name: name, Path: path}
	}
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

func clientKey(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

func (r *rig) awaitLibrary(t testing.TB, l *renderv1.JsonnetLibrary, reason string) {
	t.Helper()
	r.Await(t, l, func() error {
		ready := meta.FindStatusCondition(l.Status.Conditions, "Ready")
		if ready == nil || ready.Reason != reason {
			return fmt.Errorf("Ready is %+v, want reason %s", ready, reason)
		}
		return nil
	})
}

func (r *rig) engineLimits() jsonnet.Limits {
	return jsonnet.Limits{Timeout: 5 * time.Second, MaxConcurrent: 16, MaxStack: 500, MaxMemory: 64 << 20, CacheBytes: 16 << 20}
}

func (r *rig) accountNamed(name string) tenant.Account {
	return tenant.Account{Namespace: r.Namespace, Name: name}
}

// tenantNamed makes another account with the tests' role, for the snippet that it is given to.
func (r *rig) tenantNamed(t testing.TB, name string) func(*renderv1.JsonnetSnippet) {
	t.Helper()
	r.NewTenant(t, name, tenantRules()...)
	return func(s *renderv1.JsonnetSnippet) { s.Spec.ServiceAccountName = name }
}

// tenantIn makes the tests' account in another namespace.
func (r *rig) tenantIn(t testing.TB, namespace string) {
	t.Helper()
	other := *r.Env
	other.Namespace = namespace
	other.NewTenant(t, account, tenantRules()...)
}

// grant gives an account a role.
func (r *rig) grant(t testing.TB, name string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	r.Create(t,
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: r.Namespace}},
		})
}

func newServer(t testing.TB, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}
