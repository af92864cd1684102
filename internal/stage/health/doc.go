// Package health says when objects are healthy, and watches those that are waited for: no worker waits with them. What is
// shared between waits is one watch per cluster, identity, kind and namespace.
//
// It knows no controller: who waits is a name that is woken.
package health
