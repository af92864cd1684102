package reconcile

import (
	"errors"
	"time"
)

// Kind says what has to happen before a run that failed can succeed.
type Kind int

const (
	// Transient errors may go away by themselves: the run is repeated with backoff. Errors without a kind are such.
	Transient Kind = iota
	// Stalling errors stay until a user changes something: the run is not repeated.
	Stalling
	// Expected errors go away at a known time or by a watch: the run is repeated then, and the log has no error.
	Expected
)

// Error is an error with what the exit makes of it. Its text is that of the error it wraps.
type Error struct {
	Kind   Kind
	Reason string    // of the Ready condition, and of the event
	Until  time.Time // when an Expected error is looked at again; zero leaves that to watches and the interval
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives errors.Is and errors.As what is behind.
func (e *Error) Unwrap() error { return e.Err }

// Stalled says that a user has to act.
func Stalled(reason string, err error) error {
	return &Error{Kind: Stalling, Reason: reason, Err: err}
}

// Waiting says that the error is known to end: at the time, or, where that is zero, by a watch.
func Waiting(until time.Time, reason string, err error) error {
	return &Error{Kind: Expected, Reason: reason, Until: until, Err: err}
}

// Failed gives a reason to an error that is retried with backoff.
func Failed(reason string, err error) error {
	return &Error{Kind: Transient, Reason: reason, Err: err}
}

// KindOf returns the kind of the outermost error that has one.
func KindOf(err error) Kind {
	return classify(err).Kind
}

// ReasonOf returns the reason of the outermost error that has one, or "".
func ReasonOf(err error) string {
	return classify(err).Reason
}

// classify finds what the outermost Error says. The text remains that of the whole error.
func classify(err error) Error {
	var e *Error
	if !errors.As(err, &e) {
		return Error{Err: err}
	}
	return Error{Kind: e.Kind, Reason: e.Reason, Until: e.Until, Err: err}
}
