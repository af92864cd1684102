package supervise

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Manager is an Instance around a manager of controller-runtime.
type Manager struct {
	manager ctrl.Manager
	running *running
	synced  chan struct{}
	ending  chan struct{}
}

// NewManager makes a manager and has setup fill it. It counts as synced when the caches of the kinds are filled.
func NewManager(config *rest.Config, options ctrl.Options, setup func(ctrl.Manager) error, kinds ...client.Object) (*Manager, error) {
	// Names of controllers are checked for the whole process, where earlier managers have left theirs.
	skip := true
	options.Controller.SkipNameValidation = &skip
	ending := make(chan struct{})
	makeCache := options.NewCache
	if makeCache == nil {
		makeCache = cache.New
	}
	options.NewCache = func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		made, err := makeCache(config, o)
		return &abandonable{Cache: made, ending: ending}, err
	}
	made, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	m := &Manager{manager: made, running: &running{}, synced: make(chan struct{}), ending: ending}
	if err := setup(&counting{Manager: made, running: m.running}); err != nil {
		return nil, err
	}
	if err := made.Add(&announcer{kinds: kinds, cache: made.GetCache(), synced: m.synced}); err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	return m, nil
}

// Start implements Instance. A manager that has lost its lease returns without waiting for its workers, whose contexts have
// ended; this waits for them, so that nobody else works beside them in this process.
func (m *Manager) Start(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { close(m.ending) })()
	err := m.manager.Start(ctx)
	m.running.wait()
	return err
}

// Synced implements Instance.
func (m *Manager) Synced() <-chan struct{} { return m.synced }

// Elected implements Instance.
func (m *Manager) Elected() <-chan struct{} { return m.manager.Elected() }

// abandonable is a cache for which nobody waits once its manager is to end. A manager that starts waits for its caches
// whatever its context says, and without the right to list what they hold, or without the API server, they are never filled.
type abandonable struct {
	cache.Cache
	ending <-chan struct{}
}

// WaitForCacheSync is true, too, when the manager is to end, because that alone lets it go on to its end.
func (a *abandonable) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	filled := make(chan bool, 1)
	go func() { filled <- a.Cache.WaitForCacheSync(ctx) }()
	select {
	case ok := <-filled:
		return ok
	case <-a.ending:
		return true
	}
}

// announcer says once that caches are filled, whether the manager leads or not.
type announcer struct {
	kinds  []client.Object
	cache  cache.Cache
	synced chan struct{}
}

func (s *announcer) NeedLeaderElection() bool { return false }

func (s *announcer) Start(ctx context.Context) error {
	for _, kind := range s.kinds {
		// It waits until the informer has synced.
		if _, err := s.cache.GetInformer(ctx, kind); err != nil && ctx.Err() == nil {
			return fmt.Errorf("filling the cache of %T: %w", kind, err)
		}
		select {
		case <-ctx.Done():
			return nil
		default:
		}
	}
	close(s.synced)
	return nil
}

// counting is a manager that knows what of it runs.
type counting struct {
	ctrl.Manager
	running *running
}

// Add wraps what is added, unless its type tells the manager how to treat it.
func (c *counting) Add(r manager.Runnable) error {
	if isSpecial(r) {
		return c.Manager.Add(r)
	}
	return c.Manager.Add(&counted{Runnable: r, running: c.running})
}

func isSpecial(r manager.Runnable) bool {
	switch r.(type) {
	case *manager.Server, webhook.Server, interface{ GetCache() cache.Cache }:
		return true
	default:
		return false
	}
}

type counted struct {
	manager.Runnable
	running *running
}

func (c *counted) Start(ctx context.Context) error {
	c.running.add(1)
	defer c.running.add(-1)
	return c.Runnable.Start(ctx)
}

// NeedLeaderElection is true for what does not say.
func (c *counted) NeedLeaderElection() bool {
	if r, ok := c.Runnable.(manager.LeaderElectionRunnable); ok {
		return r.NeedLeaderElection()
	}
	return true
}

// Warmup lets controllers fill their queues before they lead.
func (c *counted) Warmup(ctx context.Context) error {
	if r, ok := c.Runnable.(interface{ Warmup(context.Context) error }); ok {
		return r.Warmup(ctx)
	}
	return nil
}

// running counts. Unlike a sync.WaitGroup it may be added to while somebody waits.
type running struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to zero; nil while it is
}

func (r *running) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == 0 {
		r.idle = make(chan struct{})
	}
	if r.n += n; r.n == 0 {
		close(r.idle)
	}
}

func (r *running) wait() {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	if idle != nil {
		<-idle
	}
}
