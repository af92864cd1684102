// Package metrics is the vocabulary of the stage controller's metrics: each one's name, labels and meaning, and the observer
// that fills them. The reference page is made from it.
//
// It serves nothing. What has the name of a StageSet as a label ends with it.
package metrics

//go:generate go run ./metricdoc
