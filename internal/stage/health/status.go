package health

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// State is how an object is.
type State string

// The states.
const (
	Current    State = "Current"
	InProgress State = "InProgress"
	Failed     State = "Failed" // it will not become healthy by itself
	Missing    State = "Missing"
)

// Status is how an object is, and why.
type Status struct {
	State   State
	Message string // why, in a few words of the object itself; no value of a Secret
}

// maxMessage bounds what is kept of an object's own words, in bytes.
const maxMessage = 512

// brief makes one line of limited length of what an object says about itself.
func brief(message string) string {
	message = strings.Join(strings.FieldsFunc(message, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError
	}), " ")
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "…"
}

// assessment is a status, and another one that it becomes by time alone.
type assessment struct {
	Status
	then Status
	at   time.Time // when then holds; zero where only a change makes a difference
}

// now returns the status at a time, and in how long it becomes another; zero where it does not.
func (a assessment) now(now time.Time) (Status, time.Duration) {
	switch {
	case a.at.IsZero():
		return a.Status, 0
	case now.Before(a.at):
		return a.Status, a.at.Sub(now)
	default:
		return a.then, 0
	}
}
