// Package control is how the controllers of this module are wired: workers shared between namespaces, events from outside of
// the API, requests of users, and watches of Flux's sources while their definitions are there.
//
// It knows the kinds of Flux and none of this module.
package control
