package objectwatch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// clients acts as accounts.
type clients struct {
	e       *kubetest.Env
	tenants *tenant.Clients
}

func (c clients) For(account tenant.Account) (client.WithWatch, error) {
	return client.NewWithWatch(c.tenants.Config(account), client.Options{Scheme: c.e.Scheme, Mapper: c.e.Client.RESTMapper()})
}

// fixture is a watcher that notes whom it wakes.
type fixture struct {
	*kubetest.Env
	watcher *objectwatch.Watcher
	mu      sync.Mutex
	woken   map[types.NamespacedName]int
}

func start(t *testing.T) *fixture {
	t.Helper()
	e := kubetest.Start(t)
	tenants, err := tenant.NewClients(tenant.Options{Base: e.Config, Issuer: e.Client})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Env: e, woken: map[types.NamespacedName]int{}}
	f.watcher = objectwatch.New(clients{e, tenants}, func(user types.NamespacedName) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.woken[user]++
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.watcher.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) user(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: f.Namespace, Name: name}
}

func (f *fixture) need(account, name, version string) objectwatch.Need {
	return objectwatch.Need{Version: version, Object: objectwatch.Object{
		Account: tenant.Account{Namespace: f.Namespace, Name: account}, Kind: objectwatch.ConfigMap, Namespace: f.Namespace, Name: name,
	}}
}

func (f *fixture) awaitWoken(t *testing.T, name string, times int) {
	t.Helper()
	kubetest.Eventually(t, func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if n := f.woken[f.user(name)]; n != times {
			return fmt.Errorf("%s was woken %d times, want %d", name, n, times)
		}
		return nil
	})
}

func (f *fixture) edit(t *testing.T, object *corev1.ConfigMap, value string) {
	t.Helper()
	object.Data = map[string]string{"key": value}
	if err := f.Client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func watcherRole() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"watch"}, ResourceNames: []string{"settings"}}
}

func TestWatch_WakesThoseWhoNeedTheObject(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.NewTenant(t, "shop", watcherRole())
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}
	f.Create(t, settings)
	for _, name := range []string{"a", "b"} {
		if !f.watcher.Set(f.user(name), []objectwatch.Need{f.need("shop", "settings", settings.ResourceVersion)}) {
			t.Error("the watch is said not to tell")
		}
	}
	if n := f.watcher.Len(); n != 1 {
		t.Errorf("%d watches, want one that is shared", n)
	}
	f.edit(t, settings, "2")
	f.awaitWoken(t, "a", 1) // once: what was read before is no news
	f.awaitWoken(t, "b", 1)

	f.watcher.Set(f.user("a"), nil)
	f.edit(t, settings, "3")
	f.awaitWoken(t, "b", 2)
	f.awaitWoken(t, "a", 1)
	if err := f.Client.Delete(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	f.awaitWoken(t, "b", 3)
	f.watcher.Set(f.user("b"), nil)
	if n := f.watcher.Len(); n != 0 {
		t.Errorf("%d watches are left that nobody needs", n)
	}
}

func TestWatch_TellsOfWhatHadGoneBeforeItBegan(t *testing.T) {
	t.Parallel()
	f := start(t)
	role := watcherRole()
	role.Verbs = append(role.Verbs, "get")
	f.NewTenant(t, "shop", role)
	f.watcher.Set(f.user("a"), []objectwatch.Need{f.need("shop", "settings", "1")})
	f.awaitWoken(t, "a", 1)
}

func TestWatch_WhereItIsForbiddenSaysSo(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.NewTenant(t, "shop")
	needs := []objectwatch.Need{f.need("shop", "settings", "1"), f.need("nobody", "settings", "1")}
	f.watcher.Set(f.user("a"), needs)
	kubetest.Eventually(t, func(context.Context) error {
		if f.watcher.Set(f.user("a"), needs[:1]) || f.watcher.Set(f.user("a"), needs) {
			return errors.New("the watch is said to tell")
		}
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.woken[f.user("a")] == 0 {
		t.Error("nobody was told that the watch does not tell")
	}
}

func TestWatch_IsBounded(t *testing.T) {
	t.Parallel()
	w := objectwatch.New(nil, nil) // not started: nothing is opened
	var needs []objectwatch.Need
	f := &fixture{Env: &kubetest.Env{Namespace: "shop"}}
	for i := range 300 {
		needs = append(needs, f.need("shop", fmt.Sprint(i), ""))
	}
	if w.Set(f.user("a"), needs) || w.Len() != 256 {
		t.Errorf("%d watches, want 256 and to be told that it is not all", w.Len())
	}
	if w.Set(f.user("a"), nil); w.Len() != 0 {
		t.Errorf("%d watches are left", w.Len())
	}
}
