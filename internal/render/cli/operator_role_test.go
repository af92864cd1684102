package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// TestOperator_NeedsNoMoreThanItsRole: with the role that is generated from the code, and nothing else, it leads, has its
// webhook trusted, publishes as the tenant and withdraws.
func TestOperator_NeedsNoMoreThanItsRole(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	content, err := os.ReadFile("../../../config/rbac/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(content, role); err != nil {
		t.Fatal(err)
	}
	role.Name = p.Namespace // names of the cluster are shared with other tests
	account := p.NewTenant(t, "operator")
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: p.Namespace}},
	}
	p.Create(t, role, binding)
	t.Cleanup(func() {
		for _, err := range []error{p.Client.Delete(context.Background(), binding), p.Client.Delete(context.Background(), role)} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	config, err := clientcmd.LoadFromFile(p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &api.AuthInfo{Token: account.Config.BearerToken}
	}
	p.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, p.kubeconfig); err != nil {
		t.Fatal(err)
	}
	port := mustFreePort(t)
	configuration := p.webhook(t, port, nil)
	o := p.start(t, "--enable-webhook", "--webhook-cert-mode=self-signed", "--webhook-validating-config-name="+configuration.Name, "--webhook-port="+port)
	o.state(t, http.StatusOK, "reconciling")
	p.answers(t)
	s := snippet("hello", "1")
	p.Create(t, s)
	p.published(t, s)
	if err := p.Client.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p.AwaitGone(t, s)
	o.Stop(t)
}
