package health

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stage/cluster"
)

// TestLook_WatchIsForbidden: who may only read is looked at again and again.
func TestLook_WatchIsForbidden(t *testing.T) {
	t.Parallel()
	for name, verbs := range map[string][]string{"may-list": {"get", "list"}, "may-get": {"get"}, "may-watch": {"get", "watch"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := kubetest.Start(t)
			kind := shops(t, e)
			tenant := e.NewTenant(t, "deployer", rbacv1.PolicyRule{
				APIGroups: []string{kind.Group}, Resources: []string{"shops"}, Verbs: verbs,
			})
			f := start(t, e, tenant.Config, WatcherOptions{})
			shop := f.object(kind, "a", nil)
			f.Create(t, shop)
			setReady(t, e, shop, metav1.ConditionFalse, "closed")
			wait := f.wait(targetOf(shop))
			kubetest.Eventually(t, func(ctx context.Context) error { // roles are cached
				_, err := f.Look(ctx, f.user, wait)
				return err
			})
			f.lookUntil(t, wait, func(r Report) bool { return r.Recheck > 0 })
			report := f.look(t, wait)
			if report.Ready || report.Recheck == 0 || report.Recheck > 2*firstRecheck {
				t.Errorf("report = %+v, want one that is looked at again soon", report)
			}
			setReady(t, e, shop, metav1.ConditionTrue, "open")
			f.lookUntil(t, wait, isReady)
		})
	}
}

func TestLook_ReadingIsForbidden(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	kind := shops(t, e)
	tenant := e.NewTenant(t, "nobody")
	f := start(t, e, tenant.Config, WatcherOptions{})
	shop := f.object(kind, "a", nil)
	f.Create(t, shop)
	_, err := f.Look(t.Context(), f.user, f.wait(targetOf(shop)))
	var denied *cluster.DeniedError
	if !errors.As(err, &denied) {
		t.Fatalf("error = %v", err)
	}
	if denied.Verb != "get" || denied.Resource != "shops."+kind.Group || denied.Identity != "the test" || denied.ID.Name != "a" {
		t.Errorf("denied = %+v", denied)
	}
	if f.Len() != 0 {
		t.Error("a watch is left")
	}
}

// TestFollow_RightIsTakenAway: a watch that was allowed once, and is not when it goes on.
func TestFollow_RightIsTakenAway(t *testing.T) {
	t.Parallel()
	f, p, wait := waiting(t)
	p.set(func(verb string) *metav1.Status {
		if verb == "watch" {
			return &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}
		}
		return nil
	})
	p.server.CloseClientConnections()
	f.awaitWake(t, 0)
	if report := f.look(t, wait); report.Recheck == 0 {
		t.Errorf("report = %+v, although nobody tells of changes", report)
	}
}

// waiting returns a fixture behind a proxy, with a user that waits for one shop that is closed, and whose watch is open.
func waiting(t *testing.T) (*fixture, *proxy, Wait) {
	t.Helper()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{})
	shop := f.object(shops(t, e), "a", nil)
	f.Create(t, shop)
	setReady(t, e, shop, metav1.ConditionFalse, "closed")
	wait := f.wait(targetOf(shop))
	if report := f.look(t, wait); report.Ready || report.Recheck != 0 {
		t.Fatalf("report = %+v", report)
	}
	f.awaitOpen(t, p, 1)
	return f, p, wait
}

// open opens the shop.
func (f *fixture) openShop(t *testing.T, wait Wait) {
	t.Helper()
	shop := f.object(wait.Targets[0].Entry.Kind(), wait.Targets[0].Entry.ID.Name, nil)
	setReady(t, f.Env, shop, metav1.ConditionTrue, "open")
}

// TestFollow_ConnectionIsCut: what happens while there is no connection is told afterwards.
func TestFollow_ConnectionIsCut(t *testing.T) {
	t.Parallel()
	f, p, wait := waiting(t)
	tries := make(chan string, 100)
	var broken sync.Mutex
	broken.Lock()
	p.set(func(verb string) *metav1.Status {
		select {
		case tries <- verb:
		default:
		}
		if broken.TryLock() {
			broken.Unlock()
			return nil
		}
		return &metav1.Status{Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable}
	})
	p.server.CloseClientConnections()
	if verb := <-tries; verb != "watch" {
		t.Errorf("the first request after the cut is a %s", verb)
	}
	f.openShop(t, wait)
	if f.woken(f.user) != 0 {
		t.Error("somebody was woken although nothing is known")
	}
	broken.Unlock()
	f.awaitWake(t, 0)
	if report := f.look(t, wait); !report.Ready {
		t.Errorf("report = %+v", report)
	}
}

// TestFollow_VersionHasExpired: the server has forgotten what happened since, and so it is listed anew. Changes and ends of
// objects that fall between are told.
func TestFollow_VersionHasExpired(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *fixture, Wait) bool{
		"changed": func(t *testing.T, f *fixture, wait Wait) bool { f.openShop(t, wait); return true },
		"deleted": func(t *testing.T, f *fixture, wait Wait) bool {
			shop := f.object(wait.Targets[0].Entry.Kind(), wait.Targets[0].Entry.ID.Name, nil)
			if err := f.Client.Delete(t.Context(), shop); err != nil {
				t.Error(err)
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, p, wait := waiting(t)
			lists := p.count("list")
			var once sync.Once
			ready := false
			p.set(func(verb string) (answer *metav1.Status) {
				if verb == "watch" {
					once.Do(func() {
						ready = change(t, f, wait)
						answer = &metav1.Status{Code: http.StatusGone, Reason: metav1.StatusReasonExpired}
					})
				}
				return answer
			})
			p.server.CloseClientConnections()
			f.awaitWake(t, 0)
			if p.count("list") == lists {
				t.Error("it was not listed anew")
			}
			if report := f.look(t, wait); report.Ready != ready {
				t.Errorf("report = %+v", report)
			}
			f.awaitOpen(t, p, map[bool]int{true: 1, false: 1}[ready])
		})
	}
}

// TestLook_CustomKindThatReports: an object is not healthy before its controller has looked at it.
func TestLook_CustomKindThatReports(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	shop := f.object(shops(t, f.Env), "a", nil)
	f.Create(t, shop)
	wait := f.wait(targetOf(shop))
	if report := f.look(t, wait); !report.Ready {
		t.Errorf("without schemas: report = %+v, want what kstatus says", report)
	}
	wait.Schemas = reporting(true)
	unreported := Status{InProgress, "its controller has not reported yet"}
	if report := f.look(t, wait); report.Status != unreported {
		t.Fatalf("report = %+v", report)
	}
	for _, partly := range []map[string]any{
		{"observedGeneration": int64(1)},
		{"observedGeneration": int64(1), "conditions": []any{}},
		{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	} {
		setStatus(t, f.Env, shop, partly)
		kubetest.Eventually(t, func(context.Context) error {
			if known := f.version(f.user); known != shop.GetResourceVersion() {
				return fmt.Errorf("known is version %s, want %s", known, shop.GetResourceVersion())
			}
			return nil
		})
		if report := f.look(t, wait); report.Status != unreported {
			t.Errorf("with %v: report = %+v", partly, report)
		}
	}
	setReady(t, f.Env, shop, metav1.ConditionTrue, "open")
	f.lookUntil(t, wait, isReady)

	wait.Schemas = failing{}
	if _, err := f.Look(t.Context(), f.user, wait); err == nil || !strings.Contains(err.Error(), "reading the schema of") {
		t.Errorf("error = %v", err)
	}
}

// version is what is known of the first object that a user waits for.
func (f *fixture) version(user types.NamespacedName) string {
	f.Watcher.mu.Lock()
	defer f.Watcher.mu.Unlock()
	if wait := f.waits[user]; wait != nil && wait.interests[0].known != nil {
		return wait.interests[0].known.version
	}
	return ""
}

// TestLook_Expressions: rules of a kind decide, and a change of them is a change of what is known.
func TestLook_Expressions(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{})
	kind := shops(t, f.Env)
	shop := f.object(kind, "a", nil)
	f.Create(t, shop)
	wait := f.wait(targetOf(shop))
	wait.Rules = compile(t, exprs(kind, "status.phase == 'Open'"))
	wait.Schemas = failing{} // nobody asks it where there are expressions
	report := f.look(t, wait)
	if report.Status != (Status{InProgress, "expression current: there is no status.phase"}) {
		t.Fatalf("report = %+v", report)
	}
	setStatus(t, f.Env, shop, map[string]any{"phase": "Closed"})
	f.lookUntil(t, wait, func(r Report) bool { return r.Status.Message == "no expression is true" })
	other := wait
	other.Rules = compile(t, exprs(kind, "status.phase == 'Closed'"))
	if report := f.look(t, other); !report.Ready {
		t.Errorf("with other rules: report = %+v", report)
	}
	f.look(t, wait)
	setStatus(t, f.Env, shop, map[string]any{"phase": "Open"})
	f.lookUntil(t, wait, isReady)
}

// TestWake_IsCoalesced: many changes at once wake once, and what is only progress once a second.
func TestWake_IsCoalesced(t *testing.T) {
	t.Parallel()
	f := start(t, kubetest.Start(t), nil, WatcherOptions{Coalesce: 200 * time.Millisecond})
	kind := shops(t, f.Env)
	var targets []Target
	for i := range 20 {
		shop := f.object(kind, fmt.Sprintf("shop-%02d", i), nil)
		f.Create(t, shop)
		setReady(t, f.Env, shop, metav1.ConditionFalse, "closed")
		targets = append(targets, targetOf(shop))
	}
	wait := f.wait(targets...)
	f.look(t, wait)
	began := time.Now()
	for _, target := range targets {
		f.openShop(t, f.wait(target))
	}
	f.lookUntil(t, wait, isReady)
	if n, most := f.woken(f.user), 3+int(time.Since(began)/slow); n > most {
		t.Errorf("20 changes in %v woke %d times, want %d at most", time.Since(began), n, most)
	}
}

// TestWatcher_ManyAtOnce has waits come, change and go at the same time, over watches that break.
func TestWatcher_ManyAtOnce(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t)
	p := newProxy(t, e)
	f := start(t, e, p.config, WatcherOptions{Coalesce: time.Millisecond, Idle: time.Millisecond, MaxWatches: 3})
	kind := shops(t, e)
	var targets []Target
	for i := range 4 {
		shop := f.object(kind, fmt.Sprintf("shop-%d", i), nil)
		f.Create(t, shop)
		setReady(t, e, shop, metav1.ConditionFalse, "closed")
		target := targetOf(shop)
		foreign := target
		foreign.Foreign = true
		targets = append(targets, target, foreign)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var group sync.WaitGroup
	for n := range 6 {
		user := types.NamespacedName{Namespace: e.Namespace, Name: fmt.Sprintf("user-%d", n/2)} // two for each
		group.Go(func() {
			for i := n; ctx.Err() == nil; i++ {
				wait := f.wait(targets[i%4 : 4+i%5]...)
				if _, err := f.Look(ctx, user, wait); err != nil && ctx.Err() == nil && !isCut(err) {
					t.Errorf("looking: %v", err)
				}
				if i%3 == 0 {
					f.Forget(user)
				}
			}
		})
	}
	group.Go(func() {
		for i := 0; pause(ctx, 20*time.Millisecond); i++ {
			shop := f.object(kind, fmt.Sprintf("shop-%d", i%4), nil)
			setReady(t, e, shop, metav1.ConditionFalse, fmt.Sprint(i))
			if i%10 == 0 {
				p.server.CloseClientConnections()
			}
		}
	})
	group.Wait()
	for n := range 3 {
		f.Forget(types.NamespacedName{Namespace: e.Namespace, Name: fmt.Sprintf("user-%d", n)})
	}
	kubetest.Eventually(t, func(context.Context) error {
		if n := f.Len(); n != 0 {
			return fmt.Errorf("%d watches are left", n)
		}
		return nil
	})
	f.Watcher.mu.Lock()
	defer f.Watcher.mu.Unlock()
	if len(f.waits)+len(f.alarms)+len(f.idle) != 0 {
		t.Errorf("%d waits, %d alarms, %d idle watches are left", len(f.waits), len(f.alarms), len(f.idle))
	}
}

// isCut reports whether a request failed because its connection was cut.
func isCut(err error) bool {
	for _, text := range []string{"EOF", "connection reset", "closed", "Bad Gateway", "overtaken"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
