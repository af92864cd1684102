// Package validate says what is wrong with a StageSet by itself, without asking anything of a cluster. The webhook and the
// controller use the same rules, because an installation may have no webhook and an object may be older than a rule.
//
// It is pure: nothing here knows a client or a request.
package validate
