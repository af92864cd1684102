package kubetest

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tokenSeconds is how long a tenant's token is valid: longer than any test.
const tokenSeconds = 3600

// Tenant is a ServiceAccount of the test's namespace and what it may do there.
type Tenant struct {
	Name   string
	Config *rest.Config // with a token of its own
	Client client.Client
}

// NewTenant makes a ServiceAccount that may do in the test's namespace what the rules say and nothing else; without
// rules, nothing. Role and RoleBinding have the same name.
func (e *Env) NewTenant(t testing.TB, name string, rules ...rbacv1.PolicyRule) *Tenant {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	e.Create(t, account)
	if len(rules) > 0 {
		e.Create(t,
			&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules},
			&rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: e.Namespace}},
			},
		)
	}
	seconds := int64(tokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if err := e.Client.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatalf("requesting a token for ServiceAccount %s: %v", name, err)
	}
	config := rest.AnonymousClientConfig(e.Config)
	config.QPS = e.Config.QPS
	config.BearerToken = request.Status.Token
	c, err := client.New(config, client.Options{Scheme: e.Scheme})
	if err != nil {
		t.Fatalf("making a client of tenant %s: %v", name, err)
	}
	return &Tenant{Name: name, Config: config, Client: c}
}
