package build

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// without returns the error with secret values made unreadable.
func (e *Error) without(secrets []string) *Error {
	text := e.Err.Error()
	clean := &Error{File: redact(e.File, secrets), Err: errors.New(redact(text, secrets))}
	switch {
	case clean.Err.Error() == text && clean.File == e.File:
		return e
	case errors.Is(e.Err, ErrEncrypted):
		clean.Err = ErrEncrypted
	}
	return clean
}

// Redact returns a text without secret values.
func Redact(text string, secrets []string) string { return redact(text, secrets) }

// redact replaces secret values, the longest first, in every form in which an error may quote them.
func redact(text string, secrets []string) string {
	var forms []string
	for _, secret := range secrets {
		joined := strings.ReplaceAll(secret, "\n", "")
		for _, form := range []string{secret, joined, strings.Join(strings.Fields(secret), " ")} {
			quoted := strconv.Quote(form)
			forms = append(forms, form, quoted[1:len(quoted)-1])
		}
	}
	forms = slices.DeleteFunc(forms, func(form string) bool { return strings.TrimSpace(form) == "" })
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, form := range slices.Compact(forms) {
		text = strings.ReplaceAll(text, form, "***")
	}
	return text
}
