// Package metrics is the vocabulary of the renderer's metrics: each one's name, labels and meaning, and the decorators and
// observers that fill them. The reference page is made from it.
//
// It serves nothing, and labels have values from small sets only: no name of a snippet or a namespace is one.
package metrics

//go:generate go run ./metricdoc
