// Package webhookserve is a validating webhook's way from flags to a listener: its flags, what can be wrong with them, its
// certificate in either mode, and a handler that reads a few requests at a time.
//
// It knows nothing of what the webhook decides.
package webhookserve
