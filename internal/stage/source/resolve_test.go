package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }

func publishedAs(revision string) *fluxmeta.Artifact {
	return &fluxmeta.Artifact{
		Path: "p", URL: "http://x/" + revision, Revision: revision, Digest: "sha256:" + strings.Repeat("a", 64),
		LastUpdateTime: metav1.Now(),
	}
}

func external(name, revision string, back *fluxmeta.NamespacedObjectKindReference) *sourcev1.ExternalArtifact {
	a := &sourcev1.ExternalArtifact{ObjectMeta: named(name)}
	a.Spec.SourceRef = back
	if revision != "" {
		a.Status.Artifact = publishedAs(revision)
	}
	return a
}

func snippet(name string) *fluxmeta.NamespacedObjectKindReference {
	return &fluxmeta.NamespacedObjectKindReference{APIVersion: "render.stagewright.dev/v1", Kind: "JsonnetSnippet", Name: name}
}

func objects() []client.Object {
	git := &sourcev1.GitRepository{ObjectMeta: named("git")}
	git.Status.Artifact = publishedAs("git@1")
	git.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "GitOperationFailed"}}
	oci := &sourcev1.OCIRepository{ObjectMeta: named("oci")}
	oci.Status.Artifact = publishedAs("oci@1")
	bucket := &sourcev1.Bucket{ObjectMeta: named("bucket")}
	bucket.Status.Artifact = publishedAs("bucket@1")
	bucket.Spec.Suspend = true
	suspended := &sourcev1.GitRepository{ObjectMeta: named("suspended")}
	suspended.Spec.Suspend = true
	without := external("without-digest", "x@1", nil)
	without.Status.Artifact.Digest = ""
	nowhere := external("without-url", "x@1", nil)
	nowhere.Status.Artifact.URL = ""
	elsewhere := external("elsewhere", "evil@1", snippet("app"))
	elsewhere.Namespace = "evil"
	elsewhere.Spec.SourceRef.Namespace = "shop"
	leaving := external("leaving", "old@1", snippet("app"))
	leaving.DeletionTimestamp, leaving.Finalizers = &metav1.Time{Time: metav1.Now().Time}, []string{"example.com/held"}
	own := external("app", "app@1", snippet("app"))
	own.Spec.SourceRef.Namespace = "shop"
	other := snippet("app")
	other.APIVersion = "other.example.com/v1"
	older := snippet("old-version")
	older.APIVersion = "render.stagewright.dev/v1alpha1"
	return []client.Object{
		git, oci, bucket, suspended, without, nowhere, elsewhere, leaving, own,
		&sourcev1.GitRepository{ObjectMeta: named("fresh")},
		external("plain", "plain@1", nil), external("other-group", "other@1", other), external("versions", "versions@1", older),
		external("two-b", "b@1", snippet("two")), external("two-a", "a@1", snippet("two")), external("young", "", snippet("young")),
	}
}

func TestResolve(t *testing.T) {
	reader := fakeReader(t, interceptor.Funcs{})
	const render = "render.stagewright.dev/v1"
	for name, test := range map[string]struct {
		ref      stagesv1.SourceReference
		from     string
		revision string
		why      string // of a NotReadyError
	}{
		"external artifact by default":   {ref: stagesv1.SourceReference{Name: "plain"}, revision: "plain@1"},
		"another namespace":              {ref: stagesv1.SourceReference{Name: "plain", Namespace: "shop"}, from: "else", revision: "plain@1"},
		"the own namespace by default":   {ref: stagesv1.SourceReference{Name: "plain"}, from: "else", why: "ExternalArtifact else/plain: it does not exist"},
		"git, not ready":                 {ref: stagesv1.SourceReference{Kind: "GitRepository", Name: "git"}, revision: "git@1"},
		"git, another version":           {ref: stagesv1.SourceReference{APIVersion: "source.toolkit.fluxcd.io/v1beta2", Kind: "GitRepository", Name: "git"}, revision: "git@1"},
		"oci":                            {ref: stagesv1.SourceReference{Kind: "OCIRepository", Name: "oci"}, revision: "oci@1"},
		"bucket, suspended":              {ref: stagesv1.SourceReference{Kind: "Bucket", Name: "bucket"}, revision: "bucket@1"},
		"suspended without artifact":     {ref: stagesv1.SourceReference{Kind: "GitRepository", Name: "suspended"}, why: "GitRepository shop/suspended: it is suspended and has no artifact"},
		"no artifact yet":                {ref: stagesv1.SourceReference{Kind: "GitRepository", Name: "fresh"}, why: "GitRepository shop/fresh: it has no artifact yet"},
		"no digest":                      {ref: stagesv1.SourceReference{Name: "without-digest"}, why: "ExternalArtifact shop/without-digest: its artifact has no digest, without which it cannot be trusted"},
		"no URL":                         {ref: stagesv1.SourceReference{Name: "without-url"}, why: "ExternalArtifact shop/without-url: its artifact has no URL"},
		"producer":                       {ref: stagesv1.SourceReference{APIVersion: render, Kind: "JsonnetSnippet", Name: "app"}, revision: "app@1"},
		"producer, another version":      {ref: stagesv1.SourceReference{APIVersion: render, Kind: "JsonnetSnippet", Name: "old-version"}, revision: "versions@1"},
		"producer of another group":      {ref: stagesv1.SourceReference{APIVersion: "other.example.com/v2", Kind: "JsonnetSnippet", Name: "app"}, revision: "other@1"},
		"producer of two":                {ref: stagesv1.SourceReference{APIVersion: render, Kind: "JsonnetSnippet", Name: "two"}, why: "JsonnetSnippet shop/two: 2 ExternalArtifacts point back at it (two-a, two-b), and there must be one"},
		"producer without anything":      {ref: stagesv1.SourceReference{APIVersion: render, Kind: "JsonnetSnippet", Name: "none"}, why: "JsonnetSnippet shop/none: no ExternalArtifact in its namespace points back at it"},
		"producer that has not produced": {ref: stagesv1.SourceReference{APIVersion: render, Kind: "JsonnetSnippet", Name: "young"}, why: "JsonnetSnippet shop/young: it has no artifact yet"},
		"a name of Flux in another group": {
			ref: stagesv1.SourceReference{APIVersion: "example.com/v1", Kind: "GitRepository", Name: "git"},
			why: "GitRepository shop/git: no ExternalArtifact in its namespace points back at it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := test.from
			if from == "" {
				from = "shop"
			}
			got, err := Resolve(t.Context(), reader, from, test.ref)
			if test.why != "" {
				var notReady *NotReadyError
				if !errors.As(err, &notReady) || err.Error() != test.why {
					t.Errorf("%v (%T), want a NotReadyError %q", err, err, test.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := Artifact{
				Revision: test.revision, URL: "http://x/" + test.revision, Digest: "sha256:" + strings.Repeat("a", 64),
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestResolve_InvalidReference(t *testing.T) {
	for name, test := range map[string]struct {
		ref  stagesv1.SourceReference
		want string
	}{
		"no apiVersion":  {stagesv1.SourceReference{Kind: "JsonnetSnippet", Name: "app"}, "JsonnetSnippet shop/app: a source of a kind that is not Flux's needs its apiVersion"},
		"bad apiVersion": {stagesv1.SourceReference{APIVersion: "a/b/c", Kind: "JsonnetSnippet", Name: "app"}, `JsonnetSnippet shop/app: "a/b/c" is not an apiVersion`},
	} {
		_, err := Resolve(t.Context(), fakeReader(t, interceptor.Funcs{}), "shop", test.ref)
		if !errors.As(err, new(*InvalidError)) || err.Error() != test.want {
			t.Errorf("%s: %v (%T), want an InvalidError %q", name, err, err, test.want)
		}
	}
}

// TestResolve_OtherErrorsMayPass: they are neither of the two kinds.
func TestResolve_OtherErrorsMayPass(t *testing.T) {
	lost := errors.New("connection lost")
	reader := fakeReader(t, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return lost
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return lost
		},
	})
	for _, ref := range []stagesv1.SourceReference{
		{Name: "plain"}, {APIVersion: "render.stagewright.dev/v1", Kind: "JsonnetSnippet", Name: "app"},
	} {
		_, err := Resolve(t.Context(), reader, "shop", ref)
		if !errors.Is(err, lost) || errors.As(err, new(*NotReadyError)) || errors.As(err, new(*InvalidError)) {
			t.Errorf("%v, want that the connection is lost", err)
		}
	}
}

func TestKeysOf_AreThoseOfReferences(t *testing.T) {
	render := func(name string) stagesv1.SourceReference {
		return stagesv1.SourceReference{APIVersion: "render.stagewright.dev/v2", Kind: "JsonnetSnippet", Name: name}
	}
	evil := external("elsewhere", "", snippet("app"))
	evil.Namespace, evil.Spec.SourceRef.Namespace = "evil", "shop"
	for name, test := range map[string]struct {
		object client.Object
		want   []string
	}{
		"git":      {&sourcev1.GitRepository{ObjectMeta: named("a")}, []string{Key("shop", stagesv1.SourceReference{Kind: "GitRepository", Name: "a"})}},
		"oci":      {&sourcev1.OCIRepository{ObjectMeta: named("a")}, []string{Key("shop", stagesv1.SourceReference{Kind: "OCIRepository", Name: "a"})}},
		"bucket":   {&sourcev1.Bucket{ObjectMeta: named("a")}, []string{Key("other", stagesv1.SourceReference{Kind: "Bucket", Name: "a", Namespace: "shop"})}},
		"external": {external("a", "", nil), []string{Key("shop", stagesv1.SourceReference{Name: "a"})}},
		"produced": {external("a", "", snippet("app")), []string{Key("shop", stagesv1.SourceReference{Name: "a"}), Key("shop", render("app"))}},
		"of another namespace speaks for nobody here": {evil, []string{Key("evil", stagesv1.SourceReference{Name: "elsewhere"})}},
		"no source": {&sourcev1.HelmChart{ObjectMeta: named("a")}, nil},
	} {
		if d := cmp.Diff(test.want, KeysOf(test.object)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if a, b := Key("shop", render("app")), ProducerKey("shop", render("app")); a != b {
		t.Errorf("%s and %s are not the same", a, b)
	}
	seen := map[string]string{}
	for _, ref := range []stagesv1.SourceReference{
		{Name: "a"},
		{Name: "b"},
		{Name: "a", Namespace: "b"},
		{Kind: "Bucket", Name: "a"},
		render("a"), render("b"),
		{APIVersion: "example.com/v1", Kind: "JsonnetSnippet", Name: "a"},
		{APIVersion: "v1", Kind: "Bucket", Name: "a"},
	} {
		key := Key("shop", ref)
		if other, ok := seen[key]; ok {
			t.Errorf("%v and %s have one key", ref, other)
		}
		seen[key] = fmt.Sprint(ref)
	}
}

// TestResolve_FindsProducersInACache has the objects in an API server and the index in a real cache.
func TestResolve_FindsProducersInACache(t *testing.T) {
	env := kubetest.Start(t)
	kept, err := cache.New(env.Config, cache.Options{
		Scheme: env.Scheme, DefaultNamespaces: map[string]cache.Config{env.Namespace: {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.IndexField(t.Context(), &sourcev1.ExternalArtifact{}, ByProducer, IndexProducers); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- kept.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	a := external("published", "", snippet("app"))
	a.Namespace = env.Namespace
	env.Create(t, a)
	a.Status.Artifact = publishedAs("app@1")
	if err := env.Client.Status().Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	ref := stagesv1.SourceReference{APIVersion: "render.stagewright.dev/v1", Kind: "JsonnetSnippet", Name: "app"}
	kubetest.Eventually(t, func(ctx context.Context) error {
		got, err := Resolve(ctx, kept, env.Namespace, ref)
		if err == nil && got.Revision != "app@1" {
			err = fmt.Errorf("revision %q", got.Revision)
		}
		return err
	})
}

func fakeReader(t *testing.T, funcs interceptor.Funcs) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := sourcev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects()...).WithInterceptorFuncs(funcs).
		WithIndex(&sourcev1.ExternalArtifact{}, ByProducer, IndexProducers).Build()
}
