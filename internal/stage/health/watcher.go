package health

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	defaultCoalesce   = 20 * time.Millisecond
	defaultIdle       = 30 * time.Second
	defaultMaxWatches = 20_000
	// refusedRetry is when a watch that was forbidden is tried again: a role may have been given meanwhile.
	refusedRetry = 5 * time.Minute
)

// WatcherOptions are what a Watcher is made of.
type WatcherOptions struct {
	Wake       func(user types.NamespacedName) // called when something that matters has changed, at most once in Coalesce
	Coalesce   time.Duration                   // zero is 20 ms
	Idle       time.Duration                   // how long a watch without users is kept; zero is 30 s
	MaxWatches int                             // beyond it, waits are re-checked instead; zero is 20,000
}

// Watcher keeps waits. Its Start runs it; it can be used concurrently.
type Watcher struct {
	options WatcherOptions
	signal  chan struct{} // the clerk has something new to do

	mu      sync.Mutex
	running context.Context //nolint:containedctx // that of Start, which ends all watches
	watches map[scope]*watching
	waits   map[types.NamespacedName]*wait
	idle    map[*watching]time.Time // those without waits, and until when they are kept
	alarms  map[*wait]bool          // those whose user is to be woken
	done    sync.WaitGroup
}

// NewWatcher returns a watcher.
func NewWatcher(o WatcherOptions) *Watcher {
	if o.Coalesce == 0 {
		o.Coalesce = defaultCoalesce
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.MaxWatches == 0 {
		o.MaxWatches = defaultMaxWatches
	}
	return &Watcher{
		options: o, signal: make(chan struct{}, 1), watches: map[scope]*watching{}, waits: map[types.NamespacedName]*wait{},
		idle: map[*watching]time.Time{}, alarms: map[*wait]bool{},
	}
}

// NeedLeaderElection is true: who does not reconcile waits for nothing.
func (w *Watcher) NeedLeaderElection() bool { return true }

// Start allows watches until the context ends, and then waits for them to end.
func (w *Watcher) Start(ctx context.Context) error {
	w.mu.Lock()
	w.running = ctx
	for _, g := range w.watches {
		if g.settled() {
			w.open(g)
		}
	}
	w.mu.Unlock()
	w.clerk(ctx)
	w.mu.Lock()
	w.running = nil
	for _, g := range w.watches {
		g.phase, g.version = fresh, ""
	}
	w.mu.Unlock()
	w.done.Wait()
	return nil
}

// Look registers what a user waits for, in place of what it waited for before, and says how it stands now: from watches
// that have it already, else by one list per kind and namespace, with which the watch begins. After a Report that is not
// Ready every change that matters wakes the user; after one that is, or an error, nothing does. Errors are
// cluster.DeniedError where not even reading is allowed, or others, which may pass.
func (w *Watcher) Look(ctx context.Context, user types.NamespacedName, spec Wait) (Report, error) {
	next, err := prepare(ctx, user, spec)
	if err != nil {
		w.Forget(user)
		return Report{}, err
	}
	if err := w.read(ctx, next, w.register(next)); err != nil {
		w.mu.Lock()
		w.withdraw(next)
		w.mu.Unlock()
		return Report{}, err
	}
	return w.settle(next), nil
}

// Forget ends the wait of a user.
func (w *Watcher) Forget(user types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.waits[user]; before != nil {
		w.withdraw(before)
	}
}

// Len is the number of watches, for metrics.
func (w *Watcher) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.watches)
}

// Waits is the number of users that wait, for metrics.
func (w *Watcher) Waits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waits)
}

// prepare sorts targets by what they are watched with.
func prepare(ctx context.Context, user types.NamespacedName, spec Wait) (*wait, error) {
	next := &wait{Wait: spec, user: user, interests: make([]*interest, 0, len(spec.Targets))}
	parts := map[scope]*part{}
	for _, target := range spec.Targets {
		s, err := scopeOf(target, spec)
		if err != nil {
			return nil, err
		}
		p := parts[s]
		if p == nil {
			// The watching of a part that is not registered is only its scope.
			p = &part{watching: newWatching(s, spec.Cluster), interests: map[string]*interest{}}
			if p.reports, err = reports(ctx, spec, s.kind); err != nil {
				return nil, err
			}
			parts[s] = p
			next.parts = append(next.parts, p)
		}
		if p.interests[target.Entry.ID.Name] != nil {
			continue // it is a target already
		}
		i := &interest{wait: next, part: p, target: target}
		p.interests[target.Entry.ID.Name] = i
		next.interests = append(next.interests, i)
	}
	return next, nil
}

// reports asks the schemas about kinds that may be custom ones.
func reports(ctx context.Context, spec Wait, kind schema.GroupVersionKind) (bool, error) {
	builtIn := kind.Group == "" || slices.Contains([]string{"apps", "batch", "autoscaling", "policy", "extensions"}, kind.Group)
	if spec.Schemas == nil || builtIn || spec.Rules.covers(kind.GroupKind()) {
		return false, nil
	}
	known, err := spec.Schemas.ReportsGeneration(ctx, kind)
	if err != nil {
		return false, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	return known, nil
}

// register puts a wait in place of the one before, and returns what of it has to be read.
func (w *Watcher) register(next *wait) []*part {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.waits[next.user]
	now := time.Now()
	var unread []*part
	for _, p := range next.parts {
		p.watching = w.share(p.watching, now)
		complete := p.watching.phase == open
		for name, i := range p.interests {
			p.watching.add(i)
			i.known = carried(before, i, name)
			i.target.Generation = expected(before, i, name)
			complete = complete && i.known != nil
		}
		if !complete {
			unread = append(unread, p)
		}
	}
	if before != nil {
		next.recheck, next.alarm.woken = before.recheck, before.alarm.woken
		if !slices.Equal(before.Targets, next.Targets) {
			next.recheck = recheck{}
		}
		w.withdraw(before)
	}
	w.waits[next.user] = next
	return unread
}

// share returns the watching that there is of a scope, or the given one as a new one.
func (w *Watcher) share(g *watching, now time.Time) *watching {
	if known := w.watches[g.scope]; known != nil {
		delete(w.idle, known)
		if known.phase == refused && !now.Before(known.retry) {
			known.phase, known.version = fresh, ""
		}
		return known
	}
	if len(w.watches) >= w.options.MaxWatches && !w.evict() {
		g.phase = refused // and nobody else's
		return g
	}
	w.watches[g.scope] = g
	return g
}

// evict ends a watch that nobody needs at present. The caller holds the lock.
func (w *Watcher) evict() bool {
	for g := range w.idle {
		w.end(g)
		return true
	}
	return false
}

// end ends a watch that nobody needs. The caller holds the lock.
func (w *Watcher) end(g *watching) {
	delete(w.idle, g)
	delete(w.watches, g.scope)
	if g.stop != nil {
		g.stop()
	}
}

// carried returns what the wait before knows of a target, if that holds for the next one and is kept up to date.
func carried(before *wait, i *interest, name string) *record {
	if before == nil || !before.settled || !before.Rules.same(i.wait.Rules) {
		return nil
	}
	for _, p := range before.parts {
		if p.watching != i.part.watching || p.watching.phase != open || p.reports != i.part.reports {
			continue
		}
		old := p.interests[name]
		if old == nil || old.known == nil || old.known.unlabelled || i.replaced(old.known) {
			return nil
		}
		if !old.known.exists && !i.target.Gone && !old.known.verified {
			return nil
		}
		return old.known
	}
	return nil
}

// expected is the generation that has to be observed: the one that was asked for before, where the next wait does not know it.
// Only who has just applied an object knows it, and what is watched may be older for some time.
func expected(before *wait, i *interest, name string) int64 {
	if before == nil || i.target.Generation > 0 {
		return i.target.Generation
	}
	for _, p := range before.parts {
		if p.watching.scope != i.part.watching.scope {
			continue
		}
		if old := p.interests[name]; old != nil && old.target.Entry.UID == i.target.Entry.UID {
			return old.target.Generation
		}
	}
	return 0
}

// settle says how a wait stands, and has changes told from now on, by watches where there can be any.
func (w *Watcher) settle(next *wait) Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	if next.gone {
		return next.report(time.Now())
	}
	for _, p := range next.parts {
		p.untold = p.watching.phase == refused || p.watching.version == ""
	}
	report := next.report(time.Now())
	if report.Ready {
		w.withdraw(next)
		return report
	}
	next.settled = true
	for _, p := range next.parts {
		w.open(p.watching)
	}
	return report
}

// settled reports whether somebody relies on the watch.
func (g *watching) settled() bool {
	for wait := range g.waits {
		if wait.settled {
			return true
		}
	}
	return false
}

// open runs a watch that is not run yet. The caller holds the lock.
func (w *Watcher) open(g *watching) {
	if g.phase != fresh || g.version == "" || w.running == nil || w.running.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(w.running)
	g.phase, g.stop = open, stop
	version := g.version
	w.done.Go(func() {
		defer stop()
		w.follow(ctx, g, version)
	})
}

// withdraw takes a wait out. The caller holds the lock.
func (w *Watcher) withdraw(old *wait) {
	if old.gone {
		return
	}
	old.gone = true
	delete(w.alarms, old)
	if w.waits[old.user] == old {
		delete(w.waits, old.user)
	}
	for _, p := range old.parts {
		for _, i := range p.interests {
			p.watching.remove(i)
		}
		if len(p.watching.waits) == 0 {
			w.rest(p.watching)
		}
	}
}

// rest keeps an open watch that nobody needs for a while. The caller holds the lock.
func (w *Watcher) rest(g *watching) {
	if w.watches[g.scope] != g {
		return
	}
	if g.phase == open {
		w.idle[g] = time.Now().Add(w.options.Idle)
		w.nudge()
		return
	}
	if g.phase == refused && time.Now().Before(g.retry) {
		w.idle[g] = g.retry // it is known that it need not be tried before
		w.nudge()
		return
	}
	delete(w.watches, g.scope)
}
