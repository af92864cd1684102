package objectwatch

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// Kind is that of a watched object.
type Kind string

// The kinds that can be watched.
const (
	ConfigMap Kind = "ConfigMap"
	Secret    Kind = "Secret"
)

// Object names what is watched and as whom.
type Object struct {
	Account   tenant.Account
	Kind      Kind
	Namespace string
	Name      string
}

// Need is an object with the version that was read of it, "" where it did not exist. Another version is news.
type Need struct {
	Object
	Version string
}

// Clients gives clients that act as an account.
type Clients interface {
	For(account tenant.Account) (client.WithWatch, error)
}

const (
	// maxWatches bounds the watches of one namespace. What is above is looked at now and then.
	maxWatches = 256
	firstRetry = time.Second
	lastRetry  = time.Minute
	// refusedRetry is when a watch that was forbidden is tried again: a role may have been given meanwhile.
	refusedRetry = 5 * time.Minute
)

// Watcher watches objects while it is started. It can be used concurrently.
type Watcher struct {
	clients Clients
	wake    func(user types.NamespacedName)

	mu      sync.Mutex
	running context.Context //nolint:containedctx // that of Start, which ends all watches
	watches map[Object]*watching
	users   map[types.NamespacedName][]Object
	counts  map[string]int // watches by namespace
	done    sync.WaitGroup
}

// watching is one watch.
type watching struct {
	users   map[types.NamespacedName]string // with the version that each has read
	refused bool
	stop    context.CancelFunc
}

// New returns a watcher that calls wake for each user of an object that has changed.
func New(clients Clients, wake func(user types.NamespacedName)) *Watcher {
	return &Watcher{
		clients: clients, wake: wake, watches: map[Object]*watching{}, users: map[types.NamespacedName][]Object{},
		counts: map[string]int{},
	}
}

// NeedLeaderElection is true: who does not reconcile needs no news.
func (w *Watcher) NeedLeaderElection() bool { return true }

// Start allows watches until the context ends, and then waits for them to end.
func (w *Watcher) Start(ctx context.Context) error {
	w.mu.Lock()
	w.running = ctx
	for object, watching := range w.watches {
		w.open(object, watching)
	}
	w.mu.Unlock()
	<-ctx.Done()
	w.mu.Lock()
	w.running = nil
	w.mu.Unlock()
	w.done.Wait()
	return nil
}

// Set replaces what a user needs. It reports whether changes of all of it are going to be told.
func (w *Watcher) Set(user types.NamespacedName, needs []Need) (told bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.users[user]
	delete(w.users, user)
	told = true
	wanted := map[Object]bool{}
	for _, need := range needs {
		if wanted[need.Object] {
			continue
		}
		wanted[need.Object] = true
		watching := w.watches[need.Object]
		if watching == nil {
			if w.counts[need.Namespace] >= maxWatches {
				told = false
				continue
			}
			watching = w.add(need.Object)
		}
		watching.users[user] = need.Version
		w.users[user] = append(w.users[user], need.Object)
		told = told && !watching.refused
	}
	for _, object := range before {
		if !wanted[object] {
			w.drop(object, user)
		}
	}
	return told
}

// Len is the number of watches.
func (w *Watcher) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.watches)
}

func (w *Watcher) add(object Object) *watching {
	watching := &watching{users: map[types.NamespacedName]string{}, stop: func() {}}
	w.watches[object] = watching
	w.counts[object.Namespace]++
	if w.running != nil {
		w.open(object, watching)
	}
	return watching
}

// open runs a watch. The caller holds the lock.
func (w *Watcher) open(object Object, watching *watching) {
	if w.running.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(w.running)
	watching.stop = stop
	w.done.Go(func() {
		defer stop()
		w.follow(ctx, object, watching)
	})
}

func (w *Watcher) drop(object Object, user types.NamespacedName) {
	watching := w.watches[object]
	if watching == nil {
		return
	}
	delete(watching.users, user)
	if len(watching.users) > 0 {
		return
	}
	watching.stop()
	delete(w.watches, object)
	if w.counts[object.Namespace]--; w.counts[object.Namespace] == 0 {
		delete(w.counts, object.Namespace)
	}
}

// follow watches until the context ends, again and again: a watch is ended by the API server after some minutes.
func (w *Watcher) follow(ctx context.Context, object Object, watching *watching) {
	var retry time.Duration
	for ctx.Err() == nil {
		err := w.watch(ctx, object, watching)
		refused := err != nil && (apierrors.IsForbidden(err) || isMissing(err))
		if refused {
			w.refuse(watching)
		}
		switch {
		case err == nil:
			retry = 0
			continue
		case refused:
			retry = refusedRetry
		default:
			retry = min(max(2*retry, firstRetry), lastRetry)
		}
		timer := time.NewTimer(retry)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

func isMissing(err error) bool {
	var missing *tenant.MissingError
	return errors.As(err, &missing)
}

// refuse notes that a watch is not possible, and has its users look again, because they believe that they are told.
func (w *Watcher) refuse(watching *watching) {
	w.mu.Lock()
	already := watching.refused
	watching.refused = true
	users := keys(watching.users)
	w.mu.Unlock()
	if !already {
		w.tell(users)
	}
}

// watch reports changes until the watch ends.
func (w *Watcher) watch(ctx context.Context, object Object, watching *watching) error {
	c, err := w.clients.For(object.Account)
	if err != nil {
		return err
	}
	var list client.ObjectList = &corev1.ConfigMapList{}
	if object.Kind == Secret {
		list = &corev1.SecretList{}
	}
	// Without a version the watch begins with what is there, so no change between reading and watching is missed.
	opened, err := c.Watch(ctx, list, client.InNamespace(object.Namespace), client.MatchingFields{"metadata.name": object.Name})
	if err != nil {
		return err
	}
	defer opened.Stop()
	w.mu.Lock()
	watching.refused = false
	w.mu.Unlock()
	w.look(ctx, c, object, watching)
	began := time.Now()
	for event := range opened.ResultChan() {
		switch event.Type {
		case watch.Error:
			return apierrors.FromObject(event.Object)
		case watch.Deleted:
			w.news(watching, "")
		default:
			if found, ok := event.Object.(client.Object); ok {
				w.news(watching, found.GetResourceVersion())
			}
		}
	}
	if time.Since(began) < firstRetry { // a server that ends watches at once is not asked without a pause
		return errors.New("the watch ended at once")
	}
	return nil
}

// lookTimeout bounds the one request that a watch begins with.
const lookTimeout = 10 * time.Second

// look tells of an object that has gone before the watch began, which the watch does not.
func (w *Watcher) look(ctx context.Context, c client.Client, object Object, watching *watching) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var found client.Object = &corev1.ConfigMap{}
	if object.Kind == Secret {
		found = &corev1.Secret{}
	}
	err := c.Get(ctx, types.NamespacedName{Namespace: object.Namespace, Name: object.Name}, found)
	if apierrors.IsNotFound(err) {
		w.news(watching, "")
	}
}

// news tells those who have read another version.
func (w *Watcher) news(watching *watching, version string) {
	w.mu.Lock()
	var users []types.NamespacedName
	for user, read := range watching.users {
		if read != version {
			watching.users[user] = version
			users = append(users, user)
		}
	}
	w.mu.Unlock()
	w.tell(users)
}

func (w *Watcher) tell(users []types.NamespacedName) {
	for _, user := range users {
		w.wake(user)
	}
}

func keys(users map[types.NamespacedName]string) []types.NamespacedName {
	all := make([]types.NamespacedName, 0, len(users))
	for user := range users {
		all = append(all, user)
	}
	return all
}
