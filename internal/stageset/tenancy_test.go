package stageset

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// everything is the right to do everything in a namespace.
func everything() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
}

// may is the right to do something with some resources of the core and of apps.
func may(verbs string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"", "apps"}, Resources: resources, Verbs: strings.Fields(verbs)}
}

// revoke takes all rights from a tenant, and waits until the API server knows.
func (r *rig) revoke(t testing.TB, tenant *kubetest.Tenant) {
	t.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: tenant.Name, Namespace: r.Namespace}}
	if err := r.Client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	kubetest.Eventually(t, func(ctx context.Context) error {
		err := tenant.Client.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(r.Namespace))
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("the rights are not gone: %w", err)
		}
		return nil
	})
}

// ownRequests records what is asked with the controller's own identity, watches too. What is asked as a ServiceAccount goes
// by a transport of its own, which has no such recorder.
type ownRequests struct {
	mu   sync.Mutex
	seen []string
}

func (o *ownRequests) record(r *rig) {
	r.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			o.mu.Lock()
			o.seen = append(o.seen, request.Method+" "+request.URL.Path)
			o.mu.Unlock()
			return next.RoundTrip(request)
		})
	})
}

// others are the requests that are not about what the controller does by itself: its own kinds, sources, definitions of
// kinds, events, and which kinds there are.
func (o *ownRequests) others() []string {
	own := regexp.MustCompile(`^(` +
		`[A-Z]+ /apis/(stages\.stagewright\.dev|source\.toolkit\.fluxcd\.io)/.*` +
		`|GET /apis/apiextensions\.k8s\.io/v1/customresourcedefinitions(/.*)?` +
		`|(POST|PATCH) /apis/events\.k8s\.io/v1/namespaces/[^/]+/events(/.*)?` +
		`|GET /(api|apis)(/[^/]+)?|GET /apis/[^/]+/[^/]+` +
		`)$`)
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []string
	for _, what := range o.seen {
		if !own.MatchString(what) && !slices.Contains(found, what) {
			found = append(found, what)
		}
	}
	return found
}

func TestTenancy_NothingIsDoneAsTheControllerWhereAnAccountIsNamed(t *testing.T) {
	for name, on := range map[string]func(*stagesv1.StageSet){
		"by the StageSet": func(set *stagesv1.StageSet) { set.Spec.ServiceAccountName = "deployer" },
		"by its stages": func(set *stagesv1.StageSet) {
			for i := range set.Spec.Stages {
				set.Spec.Stages[i].ServiceAccountName = "deployer"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			own := &ownRequests{}
			own.record(r)
			r.NewTenant(t, "deployer", everything())
			r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "values"}, StringData: map[string]string{"size": "big"}})
			r.publish(t, "base", configMap("base", "${size}"), configMap("gone", "1"))
			r.publish(t, "app", deployment("web", 1))
			set := stageSet("shop", "base", "app")
			set.Spec.Stages[0].PostBuild = &stagesv1.PostBuild{SubstituteFrom: []stagesv1.SubstituteReference{{Kind: "Secret", Name: "values"}}}
			set.Spec.Stages[1].ReadyChecks = &stagesv1.ReadyChecks{
				Checks: []stagesv1.ObjectReference{{APIVersion: "v1", Kind: "Secret", Name: "values"}},
			}
			on(set)
			r.Create(t, set)
			r.start(t)
			r.awaitReason(t, set, stagesv1.ReasonSucceeded)
			// A prune, drift, a change of the variables, and the end.
			base := r.publish(t, "base", configMap("base", "${size}"))
			r.awaitApplied(t, set, "base", base)
			edit(t, r, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "base", Namespace: r.Namespace}}, func(c *corev1.ConfigMap) {
				c.Data["value"] = "wrong"
			})
			r.request(t, set)
			r.awaitValue(t, "base", "big")
			edit(t, r, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "values", Namespace: r.Namespace}}, func(s *corev1.Secret) {
				s.Data["size"] = []byte("small")
			})
			r.awaitValue(t, "base", "small") // the account's watch has told of it
			r.wantTornDown(t, set, own)
		})
	}
}

// wantTornDown deletes a StageSet, and wants its objects gone and nothing done as the controller itself.
func (r *rig) wantTornDown(t *testing.T, set *stagesv1.StageSet, own *ownRequests) {
	t.Helper()
	r.remove(t, set)
	if left := r.configMaps(t); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if others := own.others(); len(others) > 0 {
		t.Errorf("as the controller itself: %v", others)
	}
}

// awaitValue waits until an applied ConfigMap has a value.
func (r *rig) awaitValue(t testing.TB, name, want string) {
	t.Helper()
	kubetest.Eventually(t, func(context.Context) error {
		if got := r.configMaps(t)[name]; got != want {
			return fmt.Errorf("%s has %q, want %q", name, got, want)
		}
		return nil
	})
}

func TestTenancy_RecorderSeesWhatIsDoneAsTheController(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own := &ownRequests{}
	own.record(r)
	r.publish(t, "base", configMap("base", "1"))
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	if want := "PATCH /api/v1/namespaces/" + r.Namespace + "/configmaps/base"; !slices.Contains(own.others(), want) {
		t.Errorf("recorded are %v, want %s", own.others(), want)
	}
}

// denial is what an account must not do, and what its StageSet says about it.
type denial struct {
	rights []rbacv1.PolicyRule
	set    func(*stagesv1.StageSet)
	after  func(t *testing.T, r *rig, set *stagesv1.StageSet) // once it has succeeded with all rights; nil is from the start
	want   string                                             // of the message
}

func TestTenancy_AccessDeniedNamesVerbResourceAndIdentity(t *testing.T) {
	variables := func(set *stagesv1.StageSet) {
		set.Spec.Stages[0].PostBuild = &stagesv1.PostBuild{SubstituteFrom: []stagesv1.SubstituteReference{{Kind: "Secret", Name: "values", Optional: true}}}
	}
	for name, d := range map[string]denial{
		"apply": {rights: []rbacv1.PolicyRule{may("get list watch create", "configmaps")}, want: "may not patch configmaps in namespace"},
		"get":   {want: "may not get configmaps in namespace"},
		"list": {
			rights: []rbacv1.PolicyRule{may("get watch create patch", "configmaps")}, want: "may not list configmaps in namespace",
		},
		"delete": {
			rights: []rbacv1.PolicyRule{may("get list watch create patch", "configmaps")}, want: "may not delete configmaps in namespace",
			after: func(t *testing.T, r *rig, _ *stagesv1.StageSet) { r.publish(t, "base", configMap("other", "1")) },
		},
		"substituteFrom": {
			rights: []rbacv1.PolicyRule{may("get list watch create patch", "configmaps")}, set: variables, want: "may not get secrets",
		},
		"the kubeconfig": {
			rights: []rbacv1.PolicyRule{may("get list watch create patch", "configmaps")},
			set:    func(set *stagesv1.StageSet) { set.Spec.KubeConfig = secretRef("remote") }, want: "may not get secrets",
		},
		"the account of the stage": {
			rights: []rbacv1.PolicyRule{everything()}, want: "/weak may not get configmaps in namespace",
			set: func(set *stagesv1.StageSet) { set.Spec.Stages[0].ServiceAccountName = "weak" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.NewTenant(t, "weak")
			r.NewTenant(t, "deployer", d.rights...)
			r.publish(t, "base", configMap("base", "1"))
			set := stageSet("shop", "base")
			set.Spec.ServiceAccountName = "deployer"
			set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
			if d.set != nil {
				d.set(set)
			}
			r.Create(t, set)
			r.start(t)
			if d.after != nil {
				r.awaitReason(t, set, stagesv1.ReasonSucceeded)
				d.after(t, r, set)
			}
			message := r.awaitReason(t, set, stagesv1.ReasonAccessDenied)
			if !strings.Contains(message, "ServiceAccount "+r.Namespace+"/") || !strings.Contains(message, d.want) {
				t.Errorf("the message is %q, want an account and %q", message, d.want)
			}
			if set.Spec.KubeConfig != nil {
				return // what follows would be about the cluster that the Secret does not have
			}
			// With the rights it goes on by itself.
			for _, account := range []string{"weak", "deployer"} {
				r.grant(t, account)
			}
			r.awaitReason(t, set, stagesv1.ReasonSucceeded)
		})
	}
}

// grant gives an account all rights in the namespace.
func (r *rig) grant(t testing.TB, account string) {
	t.Helper()
	r.Create(t,
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "all-" + account}, Rules: []rbacv1.PolicyRule{everything()}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "all-" + account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "all-" + account},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: r.Namespace}},
		},
	)
}

func TestTenancy_AnAccountThatComesLaterAndIsMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("base", "1"))
	set := stageSet("shop", "base")
	set.Spec.ServiceAccountName = "deployer"
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
	r.Create(t, set)
	r.start(t)
	if message := r.awaitReason(t, set, stagesv1.ReasonAccessDenied); !strings.Contains(message, "ServiceAccount "+r.Namespace+"/deployer does not exist") ||
		strings.Contains(message, "https://") {
		t.Errorf("the message is %q", message)
	}
	r.NewTenant(t, "deployer", everything())
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer", Namespace: r.Namespace}}
	if err := r.Client.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	// The API server takes its tokens for a while after that. Each request has the controller look again.
	kubetest.Eventually(t, func(context.Context) error {
		r.request(t, set)
		if reason := reasonOf(set); reason != stagesv1.ReasonAccessDenied {
			return fmt.Errorf("the reason is %s", reason)
		}
		return nil
	})
	r.Create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer"}})
	base := r.publish(t, "base", configMap("base", "2"))
	r.awaitApplied(t, set, "base", base)
}

// A tenant may write StageSets and what its account may write, and nothing else may come of it.
func TestTenancy_NoOtherNamespaceIsReached(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := r.NewNamespace(t)
	victim := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "victim", Namespace: other, Labels: map[string]string{
		stagesv1.NameLabel: "shop", stagesv1.NamespaceLabel: r.Namespace, stagesv1.StageLabel: "base", // somebody was made to put them there
	}}, Data: map[string]string{"value": "theirs"}}
	r.Create(t, victim)
	r.NewTenant(t, "deployer", everything())
	r.publish(t, "base", configMap("own", "1"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: victim, namespace: "+other+"}\ndata: {value: mine}")
	set := stageSet("shop", "base")
	set.Spec.ServiceAccountName = "deployer"
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
	r.Create(t, set)
	r.start(t)
	message := r.awaitReason(t, set, stagesv1.ReasonAccessDenied)
	if !strings.Contains(message, "in namespace "+other) {
		t.Errorf("the message is %q", message)
	}
	// Without it, the tenant's own is applied, and the victim is none that was applied once.
	base := r.publish(t, "base", configMap("own", "2"))
	r.awaitApplied(t, set, "base", base)
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, set)
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(victim), victim); err != nil || victim.Data["value"] != "theirs" {
		t.Errorf("the other tenant's object is %v, %v", victim.Data, err)
	}
}

// hostile are specs and sources that are meant to harm others.
func hostile() map[string]func(t *testing.T, r *rig, set *stagesv1.StageSet) {
	long := strings.Repeat("a", 4000)
	return map[string]func(t *testing.T, r *rig, set *stagesv1.StageSet){
		"deep-yaml": func(t *testing.T, r *rig, set *stagesv1.StageSet) {
			r.publish(t, set.Name, "a: "+strings.Repeat("[", 100_000))
		},
		"aliases": func(t *testing.T, r *rig, set *stagesv1.StageSet) {
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\nx0: &x0 [1,1,1,1,1,1,1,1,1]\n"
			for i := range 12 {
				text += fmt.Sprintf("x%d: &x%d [*x%d,*x%d,*x%d,*x%d,*x%d,*x%d,*x%d,*x%d]\n", i+1, i+1, i, i, i, i, i, i, i, i)
			}
			r.publish(t, set.Name, text)
		},
		"own-kind": func(t *testing.T, r *rig, set *stagesv1.StageSet) { // it renders itself
			r.publish(t, set.Name, "apiVersion: stages.stagewright.dev/v1\nkind: StageSet\nmetadata: {name: "+set.Name+
				"}\nspec: {stages: [{name: one, sourceRef: {name: "+set.Name+"}}], timeout: 3m}")
		},
		"huge-expression": func(_ *testing.T, _ *rig, set *stagesv1.StageSet) {
			set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{Exprs: []stagesv1.HealthExpressions{{
				APIVersion: "v1", Kind: "ConfigMap", Current: "data.value.matches('(" + long[:2000] + "*)*b')",
			}}}
		},
		"no-such-kind-to-check": func(_ *testing.T, _ *rig, set *stagesv1.StageSet) {
			set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{Checks: []stagesv1.ObjectReference{{APIVersion: "no.such/v1", Kind: "Thing", Name: "x"}}}
		},
		"circle": func(_ *testing.T, _ *rig, set *stagesv1.StageSet) { dependsOn(set, set.Name) },
	}
}

func TestTenancy_AHostileSpecHarmsNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	for name, make := range hostile() {
		r.publish(t, name, configMap(name, "1"))
		set := stageSet(name, "one")
		set.Spec.Stages[0].SourceRef.Name = name
		set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
		make(t, r, set)
		if err := r.Client.Create(t.Context(), withNamespace(set, r.Namespace)); err != nil && !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.publish(t, "good", configMap("good", "1"))
	set := stageSet("good", "good")
	r.Create(t, set)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	good := r.publish(t, "good", configMap("good", "2"))
	r.awaitApplied(t, set, "good", good)
}

func withNamespace(set *stagesv1.StageSet, namespace string) *stagesv1.StageSet {
	set.Namespace = namespace
	return set
}

func TestAccountOfTheGone(t *testing.T) {
	stages := func(accounts ...string) []stagesv1.Stage {
		made := make([]stagesv1.Stage, 0, len(accounts))
		for _, account := range accounts {
			made = append(made, stagesv1.Stage{ServiceAccountName: account})
		}
		return made
	}
	for name, c := range map[string]struct {
		spec stagesv1.StageSetSpec
		want string
	}{
		"the StageSet's":                  {stagesv1.StageSetSpec{ServiceAccountName: "set", Stages: stages("a", "b")}, "set"},
		"that of the first stage":         {stagesv1.StageSetSpec{Stages: stages("a", "b")}, "a"},
		"the controller acts for a stage": {stagesv1.StageSetSpec{Stages: stages("a", "")}, ""},
		"nobody is named":                 {stagesv1.StageSetSpec{Stages: stages("", "")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := accountOfTheGone(&c.spec); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
