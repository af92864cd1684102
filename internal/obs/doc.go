// Package obs is what all programs of this module share to be observed: a registry of metrics that can describe itself,
// tracing by OTLP, and the observation of HTTP requests.
//
// It knows no program and no domain: names and meanings of metrics come from their rooms. It has no state at package
// level, and neither a scraper nor a collector that is slow or gone can hold up a program.
package obs
