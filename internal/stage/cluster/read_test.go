package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stage/cluster"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

func connect(t *testing.T, config *rest.Config, identity string) cluster.Cluster {
	t.Helper()
	c, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster.Cluster{Client: c, Identity: identity, Key: identity}
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func entry(namespace, name string) inventory.Entry {
	return inventory.Entry{ID: inventory.ID{Namespace: namespace, Name: name, Kind: "ConfigMap"}, Version: "v1"}
}

func names(found map[inventory.ID]inventory.Live) map[string]bool {
	got := map[string]bool{}
	for id := range found {
		got[id.Name] = true
	}
	return got
}

func TestSurvey_FindsWhatCarriesOurLabels(t *testing.T) {
	env := kubetest.Start(t)
	owner := inventory.Owner{Namespace: env.Namespace, Name: "shop", UID: "u"}
	rival := inventory.Owner{Namespace: env.Namespace, Name: "rival", UID: "v"}
	elsewhere := inventory.Owner{Namespace: "elsewhere", Name: "shop", UID: "w"}
	ours := configMap("ours", owner.Labels("web"))
	ours.Annotations = map[string]string{stagesv1.PruneAnnotation: "disabled", "large": strings.Repeat("x", 1000)}
	ours.Finalizers = []string{"example.com/hold"}
	env.Create(t, ours, configMap("theirs", rival.Labels("web")), configMap("elsewhere", elsewhere.Labels("web")), configMap("nobody", nil))
	t.Cleanup(func() {
		ours.Finalizers = nil
		if err := env.Client.Update(context.Background(), ours); err != nil {
			t.Error(err)
		}
	})
	found, err := cluster.Survey(t.Context(), connect(t, env.Config, "the controller"), owner, []cluster.Scope{
		{Kind: configMaps, Namespace: env.Namespace},
		{Kind: schema.GroupVersionKind{Group: "no.such.group", Version: "v1", Kind: "Thing"}, Namespace: env.Namespace},
		{Kind: schema.GroupVersionKind{Group: "apps", Version: "v7", Kind: "Deployment"}, Namespace: env.Namespace},
		{Kind: configMaps, Namespace: "there-is-no-such-namespace"},
		{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[inventory.ID]inventory.Live{entry(env.Namespace, "ours").ID: {
		UID: ours.UID, ResourceVersion: ours.ResourceVersion, Labels: ours.Labels, Finalizers: ours.Finalizers,
		Annotations: map[string]string{stagesv1.PruneAnnotation: "disabled"},
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func TestSurvey_WithoutTheRight(t *testing.T) {
	env := kubetest.Start(t)
	c := connect(t, env.NewTenant(t, "deployer").Config, "ServiceAccount shop/deployer")
	_, err := cluster.Survey(t.Context(), c, inventory.Owner{Namespace: env.Namespace, Name: "shop", UID: "u"}, []cluster.Scope{
		{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: env.Namespace},
	})
	var denied *cluster.DeniedError
	if !errors.As(err, &denied) {
		t.Fatalf("error %v, want a DeniedError", err)
	}
	want := "ServiceAccount shop/deployer may not list deployments.apps in namespace " + env.Namespace
	if denied.Error() != want {
		t.Errorf("error %q, want %q", denied, want)
	}
}

func TestSurvey_AccountThatIsGonePassesThrough(t *testing.T) {
	env := kubetest.Start(t)
	clients, err := tenant.NewClients(tenant.Options{Base: env.Config, Issuer: env.Client})
	if err != nil {
		t.Fatal(err)
	}
	// What the mapper asks for first is refused in the same way.
	c, err := client.NewWithWatch(clients.Config(tenant.Account{Namespace: env.Namespace, Name: "nobody"}), client.Options{Mapper: env.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = cluster.Survey(t.Context(), cluster.Cluster{Client: c, Identity: "nobody"}, inventory.Owner{Namespace: env.Namespace, Name: "shop", UID: "u"},
		[]cluster.Scope{{Kind: configMaps, Namespace: env.Namespace}})
	var missing *tenant.MissingError
	if !errors.As(err, &missing) {
		t.Errorf("error %v, want a MissingError", err)
	}
}

func TestLook_FindsSingleObjectsWhoseverTheyAre(t *testing.T) {
	env := kubetest.Start(t)
	full := connect(t, env.Config, "the controller")
	single := connect(t, env.NewTenant(t, "single", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"},
	}).Config, "ServiceAccount shop/single")
	var entries []inventory.Entry
	want := map[string]bool{}
	for i := range 24 {
		name := fmt.Sprintf("c%02d", i)
		entries = append(entries, entry(env.Namespace, name))
		if i%2 == 0 {
			env.Create(t, configMap(name, nil))
			want[name] = true
		}
	}
	env.Create(t, configMap("not-asked-for", nil))
	for name, test := range map[string]struct {
		cluster cluster.Cluster
		entries []inventory.Entry
		want    map[string]bool
	}{
		"few":                      {full, entries[:2], map[string]bool{"c00": true}},
		"many, by a list":          {full, entries, want},
		"many, where get must do":  {single, entries, want},
		"the same one twice":       {full, append(entries[:1:1], entries[0]), map[string]bool{"c00": true}},
		"none":                     {full, nil, map[string]bool{}},
		"one of a kind that isn't": {full, []inventory.Entry{{ID: inventory.ID{Namespace: env.Namespace, Name: "x", Group: "no.such", Kind: "Thing"}, Version: "v1"}}, map[string]bool{}},
	} {
		found, err := cluster.Look(t.Context(), test.cluster, test.entries)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, names(found)); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
	}
}

// pages is an API server that has so many objects, of which it gives two at a time.
func pages(t *testing.T, many int, fail func(page int) error) (cluster.Cluster, *int) {
	t.Helper()
	asked := 0
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			asked++
			if err := fail(asked); err != nil {
				return err
			}
			var options client.ListOptions
			options.ApplyOptions(opts)
			at := 0
			_, _ = fmt.Sscan(options.Continue, &at)
			page := list.(*metav1.PartialObjectMetadataList)
			for ; at < many && len(page.Items) < 2; at++ {
				page.Items = append(page.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: fmt.Sprint("c", at)}})
			}
			if at < many {
				page.Continue = fmt.Sprint(at)
			}
			return nil
		},
	})
	return cluster.Cluster{Client: c, Identity: "the controller"}, &asked
}

func TestSurvey_FollowsPages(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old")
	for name, test := range map[string]struct {
		fail  func(page int) error
		asked int
		err   error
	}{
		"to the end": {fail: func(int) error { return nil }, asked: 3},
		"from the start when the snapshot is gone": {fail: func(page int) error {
			if page == 2 {
				return expired
			}
			return nil
		}, asked: 5},
		"not for ever": {fail: func(int) error { return expired }, asked: 4, err: expired},
	} {
		t.Run(name, func(t *testing.T) {
			c, asked := pages(t, 5, test.fail)
			found, err := cluster.Survey(t.Context(), c, inventory.Owner{Namespace: "prod", Name: "shop", UID: "u"}, []cluster.Scope{{Kind: configMaps, Namespace: "prod"}})
			if !errors.Is(err, test.err) || err == nil && len(found) != 5 {
				t.Errorf("found %d, error %v", len(found), err)
			}
			if *asked != test.asked {
				t.Errorf("%d requests, want %d", *asked, test.asked)
			}
		})
	}
}

func TestLook_ListsAsLongAsItIsLessWork(t *testing.T) {
	none := func(int) error { return nil }
	for name, test := range map[string]struct {
		many  int
		fail  func(page int) error
		pages int
		want  int
		err   bool
	}{
		"all in some pages":         {many: 5, fail: none, pages: 3, want: 5},
		"too many others":           {many: 50, fail: none, pages: 3, want: 6},
		"the snapshot is gone":      {many: 5, fail: func(int) error { return apierrors.NewResourceExpired("too old") }, pages: 1},
		"no right to list":          {many: 5, fail: func(int) error { return apierrors.NewForbidden(schema.GroupResource{}, "", nil) }, pages: 1},
		"an API server that is sad": {many: 5, fail: func(int) error { return apierrors.NewInternalError(errors.New("sad")) }, pages: 1, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, asked := pages(t, test.many, test.fail)
			var single atomic.Int64
			c.Client = interceptor.NewClient(c.Client, interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					single.Add(1)
					return apierrors.NewNotFound(schema.GroupResource{}, "x")
				},
			})
			var entries []inventory.Entry
			for i := range 30 {
				entries = append(entries, entry("prod", fmt.Sprint("c", i)))
			}
			found, err := cluster.Look(t.Context(), c, entries)
			if (err != nil) != test.err || len(found) != test.want {
				t.Errorf("found %d, error %v", len(found), err)
			}
			if *asked != test.pages {
				t.Errorf("%d pages, want %d", *asked, test.pages)
			}
			rest := 30 - test.want // each is read by itself, unless the list was complete
			if test.err || name == "all in some pages" {
				rest = 0
			}
			if int(single.Load()) != rest {
				t.Errorf("%d single reads, want %d", single.Load(), rest)
			}
		})
	}
}

func TestSurveyOf_ReadsAFewOneByOne(t *testing.T) {
	env := kubetest.Start(t)
	owner := inventory.Owner{Namespace: env.Namespace, Name: "shop", UID: "u"}
	rival := inventory.Owner{Namespace: env.Namespace, Name: "rival", UID: "v"}
	known := func(name string) inventory.Entry {
		e := entry(env.Namespace, name)
		e.UID = "seen-once"
		return e
	}
	env.Create(t, configMap("ours", owner.Labels("web")), configMap("theirs", rival.Labels("web")), configMap("nobody", nil), configMap("ahead", owner.Labels("web")))
	few := []inventory.Entry{known("ours"), known("theirs"), known("nobody"), known("gone"), entry(env.Namespace, "ahead")}
	many := slices.Clone(few)
	for i := range 10 {
		many = append(many, known(fmt.Sprint("gone", i)))
	}
	for name, test := range map[string]struct {
		entries []inventory.Entry
		want    map[string]bool
		lists   int64
	}{
		"few":  {few, map[string]bool{"ours": true}, 0},
		"many": {many, map[string]bool{"ours": true, "ahead": true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, env.Config, "the controller")
			var lists atomic.Int64
			c.Client = interceptor.NewClient(c.Client, interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
					lists.Add(1)
					return c.List(ctx, list, opts...)
				},
			})
			found, err := cluster.SurveyOf(t.Context(), c, owner, test.entries)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, names(found)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if lists.Load() != test.lists {
				t.Errorf("%d lists, want %d", lists.Load(), test.lists)
			}
		})
	}
}

func TestDenied(t *testing.T) {
	id := inventory.ID{Namespace: "prod", Name: "web", Group: "apps", Kind: "Deployment"}
	forbidden := func(message string, details *metav1.StatusDetails) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message, Details: details,
		}}
	}
	deployments := &metav1.StatusDetails{Group: "apps", Kind: "deployments", Name: "web"}
	for name, test := range map[string]struct {
		err  error
		want string // empty where it is no matter of rights
	}{
		"a right that is missing": {
			err:  forbidden(`deployments.apps "web" is forbidden: User "system:serviceaccount:prod:robot" cannot create resource "deployments" in API group "apps" in the namespace "prod"`, deployments),
			want: "robot may not create deployments.apps in namespace prod (Deployment prod/web)",
		},
		"a right that is missing, without details": {
			err:  forbidden(`User "robot" cannot patch resource "deployments"`, nil),
			want: "robot may not patch deployments.apps in namespace prod (Deployment prod/web)",
		},
		"rights that cannot be given to others": {
			err:  forbidden(`roles.rbac.authorization.k8s.io "x" is forbidden: user "robot" (groups=["a"]) is attempting to grant RBAC permissions not currently held: {...}`, &metav1.StatusDetails{Group: "rbac.authorization.k8s.io", Kind: "roles"}),
			want: "robot may not escalate roles.rbac.authorization.k8s.io in namespace prod (Deployment prod/web)",
		},
		"a quota":     {err: forbidden(`pods "x" is forbidden: exceeded quota: none, requested: pods=1`, nil)},
		"a policy":    {err: forbidden(`pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged`, nil)},
		"a webhook":   {err: forbidden(`admission webhook "x" denied the request: you cannot do this`, nil)},
		"a namespace": {err: forbidden(`cannot create resource`, &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}})},
		"a conflict":  {err: apierrors.NewConflict(schema.GroupResource{}, "x", errors.New("changed"))},
		"another":     {err: errors.New("cannot patch resource")},
	} {
		t.Run(name, func(t *testing.T) {
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
			c := cluster.Cluster{Client: fake.NewClientBuilder().WithRESTMapper(mapper).Build(), Identity: "robot"}
			got := cluster.Denied(test.err, c, id, "v1")
			var denied *cluster.DeniedError
			if errors.As(got, &denied) != (test.want != "") || test.want != "" && denied.Error() != test.want {
				t.Errorf("error %q, want %q", got, test.want)
			}
			if !errors.Is(got, test.err) {
				t.Error("what the API server said is lost")
			}
		})
	}
}
