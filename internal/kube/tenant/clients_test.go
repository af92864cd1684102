package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/tenant"
)

func clientsOf(t *testing.T, e *kubetest.Env) *tenant.Clients {
	t.Helper()
	clients, err := tenant.NewClients(tenant.Options{Base: e.Config, Issuer: e.Client})
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

func clientOf(t *testing.T, e *kubetest.Env, clients *tenant.Clients, account tenant.Account) client.Client {
	t.Helper()
	c, err := client.New(clients.Config(account), client.Options{Scheme: e.Scheme, Mapper: e.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// whoAmI returns the UID of the identity that a client acts with.
func whoAmI(ctx context.Context, c client.Client) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	err := c.Create(ctx, review)
	return review.Status.UserInfo.UID, err
}

func TestClient_MayDoWhatItsAccountMay(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	e.NewTenant(t, "shop", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}})
	e.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}})
	c := clientOf(t, e, clientsOf(t, e), tenant.Account{Namespace: e.Namespace, Name: "shop"})
	key := client.ObjectKey{Namespace: e.Namespace, Name: "settings"}
	kubetest.Eventually(t, func(ctx context.Context) error { return c.Get(ctx, key, &corev1.ConfigMap{}) })
	if err := c.Get(t.Context(), key, &corev1.Secret{}); !apierrors.IsForbidden(err) {
		t.Errorf("reading a Secret: %v, want Forbidden", err)
	}
}

func TestClient_MissingAccountIsAnErrorOfItsOwn(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	c := clientOf(t, e, clientsOf(t, e), tenant.Account{Namespace: e.Namespace, Name: "nobody"})
	missing := new(tenant.MissingError)
	if _, err := whoAmI(t.Context(), c); !errors.As(err, &missing) {
		t.Errorf("%v, want a MissingError", err)
	}
}

func TestClient_FollowsAnAccountThatIsMadeAnew(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	e.NewTenant(t, "shop")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: e.Namespace}}
	if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(account), account); err != nil {
		t.Fatal(err)
	}
	old := account.UID
	clients := clientsOf(t, e)
	byName := clientOf(t, e, clients, tenant.Account{Namespace: e.Namespace, Name: "shop"})
	pinned := clientOf(t, e, clients, tenant.Account{Namespace: e.Namespace, Name: "shop", UID: old})
	for _, c := range []client.Client{byName, pinned} {
		if uid, err := whoAmI(t.Context(), c); err != nil || uid != string(old) {
			t.Fatalf("acting as %s, %v; want %s", uid, err, old)
		}
	}

	if err := e.Client.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	e.AwaitGone(t, account)
	again := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	e.Create(t, again)
	// The API server remembers for some seconds that a token was good.
	kubetest.Eventually(t, func(ctx context.Context) error {
		if uid, err := whoAmI(ctx, byName); err != nil || uid != string(again.UID) {
			return fmt.Errorf("acting as %s, %w; want %s", uid, err, again.UID)
		}
		return nil
	})
	kubetest.Eventually(t, func(ctx context.Context) error {
		missing := new(tenant.MissingError)
		if uid, err := whoAmI(ctx, pinned); !errors.As(err, &missing) || !missing.Replaced {
			return fmt.Errorf("acting as %s, %w; want a refusal", uid, err)
		}
		return nil
	})
	if uid, err := clients.UID(t.Context(), tenant.Account{Namespace: e.Namespace, Name: "shop"}); err != nil || uid != again.UID {
		t.Errorf("UID = %s, %v; want %s", uid, err, again.UID)
	}
}
