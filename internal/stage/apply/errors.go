package apply

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// errTwice says that a stage renders an object twice.
var errTwice = errors.New("the stage renders it twice")

const (
	// longest bounds what is quoted of an API server's message about one field.
	longest = 300
	// mostCauses bounds how many fields a message names.
	mostCauses = 5
)

// ConflictError says that objects cannot be changed or taken without consent.
type ConflictError struct {
	ID   inventory.ID
	Why  string // with what to do about it
	More int    // further objects
}

func (e *ConflictError) Error() string {
	return e.ID.Display() + ": " + e.Why + more(e.More)
}

// RefusedError says that the API server will not have an object. Its text has no value of a Secret.
type RefusedError struct {
	ID   inventory.ID
	Err  error
	More int
}

func (e *RefusedError) Error() string {
	return e.ID.Display() + ": " + e.Err.Error() + more(e.More)
}

// Unwrap returns what the API server said; of a Secret without values.
func (e *RefusedError) Unwrap() error { return e.Err }

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// refused says whether an API server's error is about the object itself: another attempt would fail as this one did.
func refused(status metav1.Status) bool {
	switch status.Code {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	case http.StatusForbidden: // by admission; a quota or an account that is to come can let it pass later
		return !strings.Contains(status.Message, "exceeded quota") &&
			!strings.Contains(status.Message, "error looking up service account")
	default: // the API server cannot read the object as one of its kind: a field is unknown or of another type
		return strings.Contains(status.Message, "failed to create typed patch object") ||
			strings.Contains(status.Message, "failed to convert new object")
	}
}

// quote returns what an API server said, short and without secret values: of a Secret only which fields are wrong and in
// what way, of others without those that are known to be secret.
func quote(err error, id inventory.ID, secrets []string) error {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		return err
	}
	status := api.Status()
	var text string
	switch causes := causesOf(status); {
	case isSecret(id) && len(causes) == 0:
		text = "the API server refuses it: " + reason(status)
	case isSecret(id):
		text = describe(causes, func(c metav1.StatusCause) string { return string(c.Type) })
	case len(causes) == 0:
		text = clip(hide(status.Message, secrets))
	default:
		text = describe(causes, func(c metav1.StatusCause) string { return clip(withoutValue(hide(c.Message, secrets))) })
	}
	return errors.New(text)
}

// hide replaces secret values, also as they are when quoted.
func hide(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) > 2 { // shorter ones are in every text
			text = strings.ReplaceAll(text, secret, "***")
			quoted := strconv.Quote(secret)
			text = strings.ReplaceAll(text, quoted[1:len(quoted)-1], "***")
		}
	}
	return text
}

func causesOf(status metav1.Status) []metav1.StatusCause {
	if status.Details == nil {
		return nil
	}
	return status.Details.Causes
}

func describe(causes []metav1.StatusCause, say func(metav1.StatusCause) string) string {
	parts := make([]string, 0, mostCauses)
	for _, cause := range causes[:min(len(causes), mostCauses)] {
		part := say(cause)
		if cause.Field != "" {
			part = cause.Field + ": " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ") + more(max(0, len(causes)-mostCauses))
}

func reason(status metav1.Status) string {
	if status.Reason == "" || status.Reason == metav1.StatusReasonUnknown {
		return fmt.Sprintf("status %d", status.Code)
	}
	return string(status.Reason)
}

// detailOf returns the words after the value that a message about a field quotes: Invalid value: "x": the detail.
func detailOf(message string) string {
	kind, rest, ok := strings.Cut(message, "nvalid value: ")
	if !ok || kind != "I" {
		return message
	}
	if quoted, err := strconv.QuotedPrefix(rest); err == nil {
		return strings.TrimPrefix(rest[len(quoted):], ": ")
	}
	if at := strings.LastIndex(rest, ": "); at >= 0 {
		return rest[at+2:]
	}
	return rest
}

// withoutValue leaves out a long quoted value, which can be a whole object.
func withoutValue(message string) string {
	if len(message) > longest {
		if detail := detailOf(message); detail != message {
			return "Invalid value: " + detail
		}
		message, _, _ = strings.Cut(message, "\n") // what follows is a comparison of objects
	}
	return message
}

func clip(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
