// Package webhookserve is a validating webhook's way from flags to a listener: its flags, what can be wrong with them, its
// certificate in either mode, a handler that reads a few requests at a time, and a validator that asks about new specs alone.
//
// It knows nothing of what the webhook decides.
package webhookserve
