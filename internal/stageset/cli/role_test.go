package cli

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// controller is the ServiceAccount that a process runs as.
type controller struct {
	*place
	account string
	args    []string // of a process that runs as it
}

func newController(t *testing.T, p *place) *controller {
	t.Helper()
	account := p.NewTenant(t, "controller")
	config, err := clientcmd.LoadFromFile(os.Getenv(kubetest.KubeconfigVariable))
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &api.AuthInfo{Token: account.Config.BearerToken}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return &controller{p, account.Name, []string{"--kubeconfig=" + kubeconfig}}
}

// everywhere grants the account a role in the whole cluster. Names of the cluster are shared with other tests.
func (c *controller) everywhere(t *testing.T, rules []rbacv1.PolicyRule) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: c.account, Namespace: c.Namespace}},
	}
	c.Create(t, role, binding)
	t.Cleanup(func() {
		for _, object := range []client.Object{binding, role} {
			if err := c.Client.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		}
	})
}

// rules are those of a role of the repository.
func rules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	content, err := os.ReadFile("../../../config/rbac/stageset-controller-role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(content, role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// works leads, has its webhook trusted, rolls out as the tenant of the examples, prunes and tears down.
func (c *controller) works(t *testing.T) {
	t.Helper()
	port, flag := freePort(t)
	configuration := webhook(t, c.Env, port, nil)
	process := start(t, c.Env, append(c.args, "--leader-elect", "--enable-webhook", "--webhook-cert-mode=self-signed",
		"--webhook-validating-config-name="+configuration.Name, flag)...)
	kubetest.Eventually(t, func(ctx context.Context) error {
		return c.Client.Create(ctx, stageSet(c.Env, "probe"), client.DryRunAll)
	})
	c.publish(t, c.Namespace, "base", configMap("base", "1"))
	revision := c.publish(t, c.Namespace, "app", configMap("app", "1"))
	set := c.set(c.Namespace)
	c.Create(t, set)
	c.applied(t, set, revision)
	revision = c.publish(t, c.Namespace, "app", configMap("other", "2"))
	c.applied(t, set, revision)
	if err := c.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	c.AwaitGone(t, set)
	c.AwaitGone(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "base", Namespace: c.Namespace}})
	process.Stop(t)
	if strings.Contains(process.Log(), "forbidden") {
		t.Error("the log tells of something that is forbidden")
	}
}

// TestProgram_NeedsNoMoreThanItsRole: with the role that is generated from the code, and nothing else.
func TestProgram_NeedsNoMoreThanItsRole(t *testing.T) {
	t.Parallel()
	c := newController(t, newPlace(t))
	c.everywhere(t, rules(t))
	c.works(t)
}

// TestProgram_NeedsLittleOutsideOfItsNamespaces: with the role bound in the watched namespace alone, and the few rights on
// what belongs to no namespace.
func TestProgram_NeedsLittleOutsideOfItsNamespaces(t *testing.T) {
	t.Parallel()
	c := newController(t, newPlace(t))
	c.Create(t,
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: c.account}, Rules: rules(t)},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: c.account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: c.account},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: c.account, Namespace: c.Namespace}},
		})
	c.everywhere(t, []rbacv1.PolicyRule{
		{APIGroups: []string{"stages.stagewright.dev"}, Resources: []string{"imageverificationpolicies"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"validatingwebhookconfigurations"}, Verbs: []string{"get", "patch"}},
	})
	c.works(t)
}

// TestProgram_EndsWhenItIsToldTo, also while it has too few rights and its caches are never filled. It tells that it does
// not work.
func TestProgram_EndsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missing string
		args    []string
	}{
		"everything":              {"", nil},
		"policies":                {"imageverificationpolicies", nil},
		"policies, with a leader": {"imageverificationpolicies", []string{"--leader-elect"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withoutRightsOn(t, c.missing, c.args...)
		})
	}
}

func withoutRightsOn(t *testing.T, missing string, args ...string) {
	t.Helper()
	c := newController(t, newPlace(t))
	if missing != "" {
		c.everywhere(t, slices.DeleteFunc(rules(t), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, missing) }))
	}
	process := start(t, c.Env, append(args, c.args...)...)
	kubetest.Eventually(t, func(context.Context) error {
		if !strings.Contains(process.Log(), "cannot list resource") {
			return errors.New("the log does not tell what is not allowed")
		}
		return nil
	})
	process.Shows(t, "probes", "/readyz", http.StatusServiceUnavailable, "starting")
	process.Shows(t, "metrics", "/metrics", http.StatusOK, "stageset_controller_reconciling 0\n")
	began := time.Now()
	process.Stop(t)
	t.Logf("it has ended after %s", time.Since(began).Round(time.Millisecond))
}
