// Package webhookcert gives a webhook server its certificate, in one of two modes. Mounted reads it from a directory that
// something else fills. SelfSigned makes an authority and a certificate in memory, each replica its own, and has the API
// server trust it by adding the authority to the caBundle of a ValidatingWebhookConfiguration.
//
// Both replace the certificate while connections are served. The package knows nothing of what a webhook decides.
package webhookcert
