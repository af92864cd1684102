package health

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	// watchSeconds is after how many seconds a watch is to be ended by the server, at least; up to twice as many.
	watchSeconds = 300
	// watchGrace is how much later it is ended here: whoever is between may keep a connection open to a server that is gone.
	watchGrace = 30 * time.Second
)

// position is where a watch is: what follows the version is still to be told. After errors that may have lost something, or
// where a watch cannot be opened, all is listed anew.
type position struct {
	version string
	relist  bool
}

// follow keeps a watch going until the context ends or it is refused.
func (w *Watcher) follow(ctx context.Context, g *watching, version string) {
	at := position{version: version}
	var retry time.Duration
	for ctx.Err() == nil {
		began := time.Now()
		next, err := w.advance(ctx, g, at)
		switch {
		case ctx.Err() != nil:
			return
		case apierrors.IsForbidden(err):
			w.refuse(g)
			return
		case err == nil && time.Since(began) >= firstRetry:
			at, retry = next, 0
			continue
		case next.relist && !at.relist && expired(err):
			at, retry = next, 0
			continue
		}
		at = next
		retry = min(max(2*retry, firstRetry), lastRetry)
		if !pause(ctx, jitter(retry)) {
			return
		}
	}
}

// advance lists where that is needed, and watches until the watch ends.
func (w *Watcher) advance(ctx context.Context, g *watching, at position) (position, error) {
	if at.relist {
		version, err := w.relist(ctx, g)
		if err != nil {
			return at, err
		}
		at = position{version: version}
	}
	return w.stream(ctx, g, at.version)
}

// stream watches from a version on until the watch ends, and returns how far it has come.
func (w *Watcher) stream(ctx context.Context, g *watching, version string) (position, error) {
	seconds := int64(watchSeconds + rand.IntN(watchSeconds)) //nolint:gosec // it only spreads load
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+watchGrace)
	defer cancel()
	raw := &client.ListOptions{Raw: &metav1.ListOptions{
		ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	}}
	opened, err := g.client.Watch(ctx, g.list(), append([]client.ListOption{raw}, g.selection()...)...)
	if err != nil {
		return position{version: version, relist: true}, err
	}
	defer opened.Stop()
	for event := range opened.ResultChan() {
		if event.Type == watch.Error {
			return position{version: version, relist: true}, apierrors.FromObject(event.Object)
		}
		object, ok := event.Object.(client.Object)
		if !ok {
			return position{version: version, relist: true}, errors.New("the watch has told of something that is no object")
		}
		switch event.Type {
		case watch.Added, watch.Modified:
			w.apply(g, object)
		case watch.Deleted:
			w.applyGone(g, object.GetName(), object.GetResourceVersion())
		default: // a bookmark tells only how far the watch is
		}
		version = object.GetResourceVersion()
	}
	return position{version: version}, nil
}

// relist reads anew all that anybody waits for. It replaces even what looks newer: the versions of a cluster that was
// restored begin again, and the watch that goes on from the list tells whatever has happened since.
func (w *Watcher) relist(ctx context.Context, g *watching) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	seen := map[string]bool{}
	version, err := pages(ctx, g, g.selection(), nil, func(object client.Object) {
		seen[object.GetName()] = true
		w.replace(g, object.GetName(), func(i *interest) *record { return g.record(object, i.wait, i.part.reports) }, true)
	})
	if err != nil && !isUnknownKind(err) {
		return "", err
	}
	w.mu.Lock()
	var gone []string
	for name := range g.objects {
		if !seen[name] {
			gone = append(gone, name)
		}
	}
	w.mu.Unlock()
	for _, name := range gone {
		w.replace(g, name, func(*interest) *record { return &record{version: version} }, true)
	}
	return version, err
}

func (w *Watcher) apply(g *watching, object client.Object) {
	w.replace(g, object.GetName(), func(i *interest) *record { return g.record(object, i.wait, i.part.reports) }, false)
}

func (w *Watcher) applyGone(g *watching, name, version string) {
	w.replace(g, name, func(*interest) *record { return &record{version: version} }, false)
}

// replace makes new records of an object for all who wait for it. They are computed without the lock, because expressions
// take their time. Who has come meanwhile, with what was known before, gets one too.
func (w *Watcher) replace(g *watching, name string, look func(*interest) *record, always bool) {
	told := map[*interest]bool{}
	for {
		i := w.untold(g, name, told)
		if i == nil {
			return
		}
		told[i] = true
		r := look(i)
		w.mu.Lock()
		if !i.wait.gone && (always || newer(r, i.known)) {
			i.known = r
			w.note(i)
		}
		w.mu.Unlock()
	}
}

// untold returns somebody who waits for an object and was not told yet.
func (w *Watcher) untold(g *watching, name string, told map[*interest]bool) *interest {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range g.objects[name] {
		if !told[i] {
			return i
		}
	}
	return nil
}

// refuse notes that a watch is not allowed, and has its users look again, because they believe that they are told.
func (w *Watcher) refuse(g *watching) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g.phase, g.version, g.retry = refused, "", time.Now().Add(refusedRetry)
	for wait := range g.waits {
		if wait.settled {
			w.ring(wait, soon)
		}
	}
	if len(g.waits) == 0 {
		delete(w.idle, g)
		w.rest(g)
	}
}

func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// jitter spreads out the retries of many watches that have broken at once.
func jitter(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1)) //nolint:gosec // it only spreads load
}

// pause waits, and reports false where the context has ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
