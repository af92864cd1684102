package health

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// slow is how often a user is woken for what is only progress.
const slow = time.Second

// urgency is how soon a user is told.
type urgency int

const (
	progress urgency = iota // within a second
	soon                    // together with what happens in the next milliseconds
	ready                   // at once: nothing else is waited for
)

// alarm is when a user is woken next, and was woken last.
type alarm struct {
	due   time.Time
	woken time.Time
}

// note tells the user of a target of what is known of it now. The caller holds the lock.
func (w *Watcher) note(i *interest) {
	before := i.told
	now, _ := i.judge(time.Now())
	i.told = now
	if before.State == Current {
		i.wait.pending++
	}
	if now.State == Current {
		i.wait.pending--
	}
	if !i.wait.settled || before == now {
		return
	}
	switch {
	case before.State != Current && now.State == Current && i.wait.pending == 0:
		w.ring(i.wait, ready)
	case before.State == now.State, now.State == Current:
		w.ring(i.wait, progress)
	default:
		w.ring(i.wait, soon)
	}
}

// ring has a user woken. The caller holds the lock.
func (w *Watcher) ring(wait *wait, u urgency) {
	now := time.Now()
	var due time.Time
	switch u {
	case ready:
		due = later(now, wait.alarm.woken.Add(w.options.Coalesce))
	case soon:
		due = now.Add(w.options.Coalesce)
	case progress:
		due = later(now.Add(w.options.Coalesce), wait.alarm.woken.Add(slow))
	}
	if w.alarms[wait] && !due.Before(wait.alarm.due) {
		return
	}
	wait.alarm.due = due
	w.alarms[wait] = true
	w.nudge()
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// nudge has the clerk look.
func (w *Watcher) nudge() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// clerk wakes users and ends idle watches when their time has come, until the context ends.
func (w *Watcher) clerk(ctx context.Context) {
	for {
		users, next := w.due()
		for _, user := range users {
			w.options.Wake(user)
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case <-w.signal:
		case <-timer:
		}
	}
}

// due returns who is to be woken now, and when there is something to do next; zero where there is nothing.
func (w *Watcher) due() ([]types.NamespacedName, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	var next time.Time
	note := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	var users []types.NamespacedName
	for wait := range w.alarms {
		if now.Before(wait.alarm.due) {
			note(wait.alarm.due)
			continue
		}
		wait.alarm.woken = now
		delete(w.alarms, wait)
		users = append(users, wait.user)
	}
	for g, until := range w.idle {
		if now.Before(until) {
			note(until)
			continue
		}
		w.end(g)
	}
	return users, next
}
