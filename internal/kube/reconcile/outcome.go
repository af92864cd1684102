package reconcile

import (
	"context"
	"time"
)

// kind says how a step ended.
type kind int

const (
	next kind = iota
	done
	wait
	hold
)

// Outcome is what a step answers when nothing went wrong. The zero value is Next.
type Outcome struct {
	kind    kind
	until   time.Time
	reason  string
	message string
}

// Next lets the following step run. After the last one it means Done.
func Next() Outcome { return Outcome{} }

// Done leaves the remaining steps out: the object is as its spec wants it.
func Done() Outcome { return Outcome{kind: done} }

// Wait ends the run until a watch brings the object back: what is waited for proceeds and nothing is wrong.
func Wait(reason, message string) Outcome {
	return Outcome{kind: wait, reason: reason, message: message}
}

// WaitUntil is Wait that also ends at a time.
func WaitUntil(until time.Time, reason, message string) Outcome {
	return Outcome{kind: wait, until: until, reason: reason, message: message}
}

// Hold ends the run until somebody changes the object: its user wants nothing to be done, as in a suspension.
func Hold(reason, message string) Outcome {
	return Outcome{kind: hold, reason: reason, message: message}
}

// Step is one entry in a controller's list. It reads and changes the scope and the objects it owns. When its work is
// done already it answers Next.
type Step[S any] func(ctx context.Context, scope *S) (Outcome, error)

// Run takes the steps in their order until one of them answers something other than Next, or the context ends.
func Run[S any](ctx context.Context, scope *S, steps ...Step[S]) (Outcome, error) {
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return Next(), err
		}
		if outcome, err := step(ctx, scope); err != nil || outcome.kind != next {
			return outcome, err
		}
	}
	return Done(), nil
}
