package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// BenchmarkSourceToArtifact measures from a source's new artifact to the ExternalArtifact that announces the result, as
// somebody sees it who watches.
func BenchmarkSourceToArtifact(b *testing.B) {
	r := newRig(b)
	r.start(b)
	repository := r.gitRepository(b, "app", r.archives.AddFiles(b, main(`"start"`)))
	s := snippet("app", nil, fromGit("app", ""))
	r.Create(b, s)
	r.awaitRendered(b, s, "start")
	watcher, err := client.NewWithWatch(r.Config, client.Options{Scheme: r.Scheme, Mapper: r.Client.RESTMapper()})
	if err != nil {
		b.Fatal(err)
	}
	events, err := watcher.Watch(b.Context(), &sourcev1.ExternalArtifactList{}, client.InNamespace(r.Namespace))
	if err != nil {
		b.Fatal(err)
	}
	defer events.Stop()
	last := ""
	var took []time.Duration
	b.ResetTimer()
	for i := range b.N {
		at := r.archives.AddFiles(b, main(fmt.Sprintf(`{ revision: %d }`, i)))
		began := time.Now()
		r.announce(b, repository, at)
		last = awaitOther(b, events, last, i == 0, r, s)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "worst-ms")
}

// awaitOther waits for an announcement of another revision than the last one.
func awaitOther(b *testing.B, events watch.Interface, last string, first bool, r *rig, s *renderv1.JsonnetSnippet) string {
	b.Helper()
	if first {
		found := &renderv1.JsonnetSnippet{}
		if err := r.Client.Get(b.Context(), clientKey(s), found); err != nil {
			b.Fatal(err)
		}
		last = found.Status.Revision
	}
	for {
		select {
		case event := <-events.ResultChan():
			announced, ok := event.Object.(*sourcev1.ExternalArtifact)
			if ok && announced.Status.Artifact != nil && announced.Status.Artifact.Revision != last {
				return announced.Status.Artifact.Revision
			}
		case <-time.After(time.Minute):
			b.Fatal("nothing was announced")
		}
	}
}

// BenchmarkLibraryEdit edits a library that 10 of 500 snippets import and counts evaluations.
func BenchmarkLibraryEdit(b *testing.B) {
	const snippets, importers = 500, 10
	r := newRig(b)
	r.start(b)
	lib := library("lib", texts{"a.libsonnet": "0"})
	r.Create(b, lib)
	for i := range snippets {
		s := snippet(fmt.Sprintf("app-%d", i), main(fmt.Sprintf(`[%d, "none"]`, i)))
		if i < importers {
			s = snippet(fmt.Sprintf("app-%d", i), main(fmt.Sprintf(`[%d, import "lib/a.libsonnet"]`, i)),
				func(s *renderv1.JsonnetSnippet) { uses("lib")(&s.Spec) })
		}
		r.Create(b, s)
	}
	kubetest.Eventually(b, func(context.Context) error {
		if n := r.engine.Counters().Evaluations; n != snippets {
			return fmt.Errorf("%d of %d are evaluated", n, snippets)
		}
		return nil
	})
	r.settle(b)
	total := int64(0)
	b.ResetTimer()
	for n := range b.N {
		before := r.engine.Counters().Evaluations
		edit(b, r, lib, func(l *renderv1.JsonnetLibrary) { l.Spec.Files = texts{"a.libsonnet": fmt.Sprint(n + 1)} })
		kubetest.Eventually(b, func(context.Context) error {
			if r.engine.Counters().Evaluations-before < importers {
				return errors.New("not all importers are rendered")
			}
			return nil
		})
		r.settle(b)
		total += r.engine.Counters().Evaluations - before
	}
	b.ReportMetric(float64(total)/float64(b.N), "evaluations/op")
}
