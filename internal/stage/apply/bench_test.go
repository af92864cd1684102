package apply_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/stagewright/stagewright/internal/stage/apply"
)

const many = 900

// made is a site with that many objects, created when apply is true.
func made(b *testing.B, parallel int, apply1 bool) (*site, []*unstructured.Unstructured) {
	b.Helper()
	s := newSite(b)
	s.applier = apply.NewApplier(parallel)
	objects := make([]*unstructured.Unstructured, many)
	for i := range objects {
		objects[i] = s.configMap(b, fmt.Sprintf("config-%03d", i), "1")
	}
	s.apply(b, objects[0]) // the mapper has asked for what exists
	if apply1 {
		s.apply(b, objects...)
	}
	s.requests.take()
	return s, objects
}

func report(b *testing.B, s *site) {
	b.Helper()
	sent := 0
	for _, count := range s.requests.take() {
		sent += count
	}
	b.ReportMetric(float64(sent)/float64(b.N), "requests/op")
}

// BenchmarkApply_Create makes the objects of three stages.
func BenchmarkApply_Create(b *testing.B) {
	for _, parallel := range []int{4, 8, 16, 32, 64} {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			var last *site
			for range b.N {
				b.StopTimer()
				s, objects := made(b, parallel, false)
				last = s
				b.StartTimer()
				s.apply(b, objects...)
			}
			b.StopTimer()
			report(b, last)
		})
	}
}

// BenchmarkApply_Unchanged looks at the objects of three stages.
func BenchmarkApply_Unchanged(b *testing.B) {
	s, objects := made(b, 0, true)
	for b.Loop() {
		s.apply(b, objects...)
	}
	report(b, s)
}

// BenchmarkApply_OneChanged has one object of three stages to change.
func BenchmarkApply_OneChanged(b *testing.B) {
	s, objects := made(b, 0, true)
	for i := 0; b.Loop(); i++ {
		objects[many/2] = s.configMap(b, objects[many/2].GetName(), fmt.Sprint("value ", i))
		s.apply(b, objects...)
	}
	report(b, s)
}
