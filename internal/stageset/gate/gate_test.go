package gate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/serving"
)

// filled is an index as a cache with these StageSets would fill it.
func filled(sets ...*stagesv1.StageSet) *Index {
	t := &table{sets: map[types.NamespacedName]map[string]answer{}}
	events := t.events()
	for _, set := range sets {
		events.OnAdd(set, false)
	}
	index := &Index{}
	index.current.Store(t)
	return index
}

func ask(handler http.Handler, method, path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(method, path, nil))
	return recorder
}

// ready is a StageSet whose stage app is Ready at r1, as pinned in what was applied last.
func ready() *stagesv1.StageSet {
	return &stagesv1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop", Generation: 3},
		Status: stagesv1.StageSetStatus{
			ObservedGeneration: 3,
			Conditions:         []metav1.Condition{{Type: "Ready", Message: "hunter2"}},
			LastApplied:        &stagesv1.Snapshot{ID: "1", Revisions: []stagesv1.StageRevision{{Stage: "app", Revision: "r1", URL: "http://hunter2"}}},
			Stages:             []stagesv1.StageStatus{{Name: "app", Phase: stagesv1.PhaseReady, AppliedRevision: "r1", Message: "hunter2", Blocker: "hunter2"}},
		},
	}
}

func TestHandler_SaysWhetherAStageIsReady(t *testing.T) {
	const good, old = `{"ready":true,"phase":"Ready","revision":"r1"}`, `{"ready":false,"phase":"Ready","revision":"r1"}`
	run := func(revision string) *stagesv1.Run {
		return &stagesv1.Run{ID: "2", Revisions: []stagesv1.StageRevision{{Stage: "app", Revision: revision}}}
	}
	for name, c := range map[string]struct {
		change func(*stagesv1.StageSet)
		want   string
	}{
		"ready":                       {func(*stagesv1.StageSet) {}, good},
		"a run with the revision":     {func(s *stagesv1.StageSet) { s.Status.Run = run("r1") }, good},
		"a run with a newer revision": {func(s *stagesv1.StageSet) { s.Status.Run = run("r2") }, old},
		"a run without the stage":     {func(s *stagesv1.StageSet) { s.Status.Run = &stagesv1.Run{ID: "2"} }, old},
		"a run that has failed later": {func(s *stagesv1.StageSet) { s.Status.Run = run("r1"); s.Status.Run.Failed = "hunter2" }, good},
		"a spec that was not seen":    {func(s *stagesv1.StageSet) { s.Generation = 4 }, old},
		"deleted":                     {func(s *stagesv1.StageSet) { now := metav1.Now(); s.DeletionTimestamp = &now }, old},
		"nothing pinned":              {func(s *stagesv1.StageSet) { s.Status.LastApplied = nil }, old},
		"the stage is pruned":         {func(s *stagesv1.StageSet) { s.Status.LastApplied.Revisions[0].Stage = "other" }, old},
		"waiting": {
			func(s *stagesv1.StageSet) { s.Status.Stages[0].Phase = stagesv1.PhaseWaiting },
			`{"ready":false,"phase":"Waiting","revision":"r1"}`,
		},
		"never ready": {
			func(s *stagesv1.StageSet) {
				s.Status.LastApplied = nil
				s.Status.Stages[0] = stagesv1.StageStatus{Name: "app", Phase: stagesv1.PhaseReady}
			},
			`{"ready":false,"phase":"Ready","revision":""}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := ready()
			c.change(set)
			r := ask(Handler(filled(set)), http.MethodGet, "/gate/team/shop/app")
			code := http.StatusServiceUnavailable
			if c.want == good {
				code = http.StatusOK
			}
			if r.Code != code || r.Body.String() != c.want+"\n" {
				t.Errorf("%d %s, want %d %s", r.Code, r.Body, code, c.want)
			}
			if r.Header().Get("Cache-Control") != "no-store" || r.Header().Get("Content-Type") != "application/json" {
				t.Errorf("header %v", r.Header())
			}
		})
	}
}

func TestHandler_UnknownNamesAreNotReady(t *testing.T) {
	const unknown = `{"ready":false,"phase":"","revision":""}` + "\n"
	handler := Handler(filled(ready()))
	for _, path := range []string{"/gate/team/shop/other", "/gate/team/other/app", "/gate/other/shop/app", "/gate/team%2Fshop/app/x", "/gate/%00/%00/%00"} {
		if r := ask(handler, http.MethodGet, path); r.Code != http.StatusServiceUnavailable || r.Body.String() != unknown {
			t.Errorf("%s: %d %s", path, r.Code, r.Body)
		}
	}
	if r := ask(Handler(&Index{}), http.MethodGet, "/gate/team/shop/app"); r.Code != http.StatusServiceUnavailable || r.Body.String() != unknown {
		t.Errorf("before the cache is filled: %d %s", r.Code, r.Body)
	}
}

func TestHandler_AllowsToReadAlone(t *testing.T) {
	handler := Handler(filled(ready()))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "BREW"} {
		r := ask(handler, method, "/gate/team/shop/app")
		if r.Code != http.StatusMethodNotAllowed || r.Header().Get("Allow") != "GET, HEAD" || r.Body.Len() > 0 {
			t.Errorf("%s: %d %v %s", method, r.Code, r.Header(), r.Body)
		}
	}
	for _, path := range []string{"/", "/gate", "/gate/team/shop", "/gate/team/shop/app/more", "/metrics"} {
		if r := ask(handler, http.MethodGet, path); r.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
	s := serve(t, handler)
	response, err := http.Head("http://" + s + "/gate/team/shop/app")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || len(body) > 0 || err != nil {
		t.Errorf("HEAD: %d %q %v", response.StatusCode, body, err)
	}
}

func serve(t testing.TB, handler http.Handler) (address string) {
	t.Helper()
	s, err := serving.Listen(t.Context(), serving.Options{
		Name: "gate", Address: "127.0.0.1:0", Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return s.Address()
}

// follow runs what fills an index from a cache of a namespace, until the function that it returns is called.
func follow(t *testing.T, e *kubetest.Env, index *Index) (stop func()) {
	t.Helper()
	from, err := cache.New(e.Config, cache.Options{Scheme: e.Scheme, DefaultNamespaces: map[string]cache.Config{e.Namespace: {}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- from.Start(ctx) }()
	go func() { ended <- index.Follow(from).Start(ctx) }()
	stop = func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	return stop
}

// TestIndex_FollowsStageSets of an API server through changes and deletions, and over the end of one cache to the next.
func TestIndex_FollowsStageSets(t *testing.T) {
	t.Parallel()
	e := kubetest.Start(t, stagesv1.AddToScheme)
	index := &Index{}
	handler := Handler(index)
	answers := func(name string, want int) {
		t.Helper()
		kubetest.Eventually(t, func(context.Context) error {
			if r := ask(handler, http.MethodGet, "/gate/"+e.Namespace+"/"+name+"/app"); r.Code != want {
				return fmt.Errorf("%s: %d %s, want %d", name, r.Code, r.Body, want)
			}
			return nil
		})
	}
	create := func(name string) *stagesv1.StageSet {
		set := &stagesv1.StageSet{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       stagesv1.StageSetSpec{Stages: []stagesv1.Stage{{Name: "app", SourceRef: stagesv1.SourceReference{Name: "app"}}}},
		}
		e.Create(t, set)
		set.Status = ready().Status
		set.Status.ObservedGeneration = set.Generation
		set.Status.Conditions = nil
		if err := e.Client.Status().Update(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	first, second := create("first"), create("second")
	stop := follow(t, e, index)
	answers("first", http.StatusOK)
	first.Spec.Suspend = true // a new generation, which nobody has observed
	if err := e.Client.Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	answers("first", http.StatusServiceUnavailable)
	first.Status.ObservedGeneration = first.Generation
	if err := e.Client.Status().Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	answers("first", http.StatusOK)
	stop()
	answers("first", http.StatusOK) // what was known last
	answers("second", http.StatusOK)
	if err := e.Client.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	stop = follow(t, e, index)
	answers("second", http.StatusServiceUnavailable) // gone in between
	answers("first", http.StatusOK)
	if err := e.Client.Delete(t.Context(), first, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	answers("first", http.StatusServiceUnavailable)
	stop()
}

// many are StageSets with ten stages each.
func many(n int) (sets []*stagesv1.StageSet) {
	for i := range n {
		set := ready()
		set.Name = fmt.Sprintf("shop-%d", i)
		for j := range 9 {
			name := fmt.Sprintf("stage-%d", j)
			set.Status.LastApplied.Revisions = append(set.Status.LastApplied.Revisions, stagesv1.StageRevision{Stage: name, Revision: "r1"})
			set.Status.Stages = append(set.Status.Stages, stagesv1.StageStatus{Name: name, Phase: stagesv1.PhaseReady, AppliedRevision: "r1"})
		}
		sets = append(sets, set)
	}
	return sets
}

func BenchmarkGate_InProcess(b *testing.B) {
	handler := Handler(filled(many(1000)...))
	request := httptest.NewRequest(http.MethodGet, "/gate/team/shop-500/stage-5", nil)
	b.ReportAllocs()
	for b.Loop() {
		if r := httptest.NewRecorder(); true {
			handler.ServeHTTP(r, request)
			if r.Code != http.StatusOK {
				b.Fatal(r.Code)
			}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkGate_OverLoopback has its clients on the same processors as the server, so they do as little as possible: answers
// to the same question have the same length.
func BenchmarkGate_OverLoopback(b *testing.B) {
	address := serve(b, Handler(filled(many(1000)...)))
	question := []byte("GET /gate/team/shop-500/stage-5 HTTP/1.1\r\nHost: gate\r\n\r\n")
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			b.Error(err)
			return
		}
		defer connection.Close()
		answer := make([]byte, 4096)
		length := 0
		for p.Next() {
			if _, err := connection.Write(question); err != nil {
				b.Error(err)
				return
			}
			if length == 0 {
				length, err = connection.Read(answer)
			} else {
				_, err = io.ReadFull(connection, answer[:length])
			}
			if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 200 OK\r\n")) || answer[length-1] != '\n' {
				b.Errorf("%q, %v", answer[:length], err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
