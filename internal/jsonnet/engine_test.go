package jsonnet_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

// workspace is a program whose one file is a version number.
type workspace struct {
	id      string
	version atomic.Int64
}

func (w *workspace) ID() string { return w.id }

func (w *workspace) Open() (jsonnet.Session, error) { return &session{w, w.version.Load()}, nil }

type session struct {
	workspace *workspace
	version   int64
}

func (s *session) Entry(context.Context) (*jsonnet.Source, error) {
	return &jsonnet.Source{Name: "main.jsonnet", Content: fmt.Sprint(s.version)}, nil
}

func (s *session) Import(context.Context, *jsonnet.Source, string) (*jsonnet.Source, error) {
	return nil, errors.New("nothing to import")
}
func (s *session) Lookups() jsonnet.Lookups       { return s }
func (s *session) Close() error                   { return nil }
func (s *session) Weight() int64                  { return 0 }
func (s *session) Unchanged(context.Context) bool { return s.version == s.workspace.version.Load() }

// evaluator calls a function. Its results are the version of the file with the arguments.
type evaluator struct {
	evaluate func(ctx context.Context, job jsonnet.Job) (string, error)
}

func (e evaluator) Version() string { return "test" }

func (e evaluator) Evaluate(ctx context.Context, job jsonnet.Job) (string, error) {
	if e.evaluate == nil {
		return job.Entry.Content + job.Arguments["a"].Text, nil
	}
	return e.evaluate(ctx, job)
}

func engine(e evaluator, limits jsonnet.Limits) *jsonnet.Engine {
	limits.CacheBytes = 1 << 20
	return jsonnet.NewEngine(jsonnet.Config{Evaluator: e, Limits: limits})
}

func ask(t *testing.T, e *jsonnet.Engine, w *workspace, argument string) string {
	t.Helper()
	request := jsonnet.Request{Program: w, Arguments: map[string]jsonnet.Binding{"a": {Text: argument}}}
	result, err := e.Evaluate(t.Context(), request)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(result.JSON)
}

func reason(err error) jsonnet.Reason {
	var failed *jsonnet.Error
	if errors.As(err, &failed) {
		return failed.Reason
	}
	return ""
}

func TestEvaluate_AnswersFromTheCacheUntilAFileChanges(t *testing.T) {
	e, w := engine(evaluator{}, jsonnet.Limits{}), &workspace{}
	other := &workspace{id: "other"}
	for _, step := range []struct {
		ask         func() string
		want        string
		evaluations int64
		why         string
	}{
		{func() string { return ask(t, e, w, "x") }, "0x", 1, "first"},
		{func() string { return ask(t, e, w, "x") }, "0x", 1, "unchanged"},
		{func() string { return ask(t, e, w, "y") }, "0y", 2, "another argument"},
		{func() string { w.version.Add(1); return ask(t, e, w, "x") }, "1x", 3, "an edit"},
		{func() string { return ask(t, e, w, "x") }, "1x", 3, "unchanged again"},
		{func() string { return ask(t, e, other, "x") }, "0x", 4, "another program"},
		{func() string { return ask(t, e, w, "x") }, "1x", 4, "still there"},
	} {
		if got := step.ask(); got != step.want {
			t.Errorf("%s: %q, want %q", step.why, got, step.want)
		}
		if got := e.Counters().Evaluations; got != step.evaluations {
			t.Errorf("%s: %d evaluations, want %d", step.why, got, step.evaluations)
		}
	}
}

func TestEvaluate_RemembersErrorsThatWouldRepeat(t *testing.T) {
	for failure, kept := range map[jsonnet.Reason]bool{
		jsonnet.EvaluationFailed: true, jsonnet.InvalidArguments: true, jsonnet.StackExceeded: true,
		jsonnet.EvaluationMemoryExceeded: false, jsonnet.EvaluationTimeout: false, jsonnet.EvaluationUnavailable: false,
	} {
		e := engine(evaluator{func(context.Context, jsonnet.Job) (string, error) {
			return "", &jsonnet.Error{Reason: failure, Message: "no"}
		}}, jsonnet.Limits{})
		w := &workspace{}
		for range 2 {
			if _, err := e.Evaluate(t.Context(), jsonnet.Request{Program: w}); reason(err) != failure {
				t.Errorf("%s: error %v", failure, err)
			}
		}
		want := int64(2)
		if kept {
			want = 1
		}
		if got := e.Counters().Evaluations; got != want {
			t.Errorf("%s: %d evaluations, want %d", failure, got, want)
		}
	}
}

func TestEvaluate_IdenticalRequestsShareOneEvaluation(t *testing.T) {
	release := make(chan struct{})
	e := engine(evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
		<-release
		return job.Entry.Content, nil
	}}, jsonnet.Limits{MaxConcurrent: 1})
	w := &workspace{}
	synctest.Test(t, func(t *testing.T) {
		release = make(chan struct{})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if got := ask(t, e, w, ""); got != "0" {
					t.Errorf("got %q", got)
				}
			})
		}
		synctest.Wait()
		close(release)
		all.Wait()
	})
	if got := e.Counters().Evaluations; got != 1 {
		t.Errorf("%d evaluations, want 1", got)
	}
}

// TestEvaluate_NeverAnswersWithWhatWasTrueBefore: a request that joins an evaluation begun before an edit does not get
// its result.
func TestEvaluate_NeverAnswersWithWhatWasTrueBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		e := engine(evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
			if job.Entry.Content == "0" {
				<-release
			}
			return job.Entry.Content, nil
		}}, jsonnet.Limits{})
		w := &workspace{}
		var all sync.WaitGroup
		all.Go(func() { ask(t, e, w, "") })
		synctest.Wait()
		w.version.Store(1)
		all.Go(func() {
			if got := ask(t, e, w, ""); got != "1" {
				t.Errorf("after the edit: %q, want 1", got)
			}
		})
		synctest.Wait()
		close(release)
		all.Wait()
	})
}

// TestEvaluate_EndsWhenFilesNeverRest: an edit during every evaluation must not keep a request for ever.
func TestEvaluate_EndsWhenFilesNeverRest(t *testing.T) {
	w := &workspace{}
	e := engine(evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
		w.version.Add(1)
		return job.Entry.Content, nil
	}}, jsonnet.Limits{})
	if got := ask(t, e, w, ""); strings.HasPrefix(got, "error") {
		t.Errorf("got %s", got)
	}
	if got := e.Counters().Evaluations; got > 4 {
		t.Errorf("%d evaluations for one request", got)
	}
}

func TestEvaluate_RefusesMoreThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		e := engine(evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
			if job.Arguments["a"].Text == "slow" {
				<-release
			}
			return job.Entry.Content, nil
		}}, jsonnet.Limits{MaxConcurrent: 2})
		warm := &workspace{id: "warm"}
		ask(t, e, warm, "")

		var all sync.WaitGroup
		for _, id := range []string{"a", "b"} {
			all.Go(func() { ask(t, e, &workspace{id: id}, "slow") })
		}
		synctest.Wait()
		if _, err := e.Evaluate(t.Context(), jsonnet.Request{Program: &workspace{id: "c"}}); reason(err) != jsonnet.EvaluationUnavailable {
			t.Errorf("a cold request: %v, want EvaluationUnavailable", err)
		}
		if got := ask(t, e, warm, ""); got != "0" {
			t.Errorf("a warm request: %q", got)
		}
		if got := e.Counters(); got.InFlight != 2 || got.Rejected != 1 {
			t.Errorf("counters = %+v", got)
		}
		close(release)
		all.Wait()
		synctest.Wait()
		if got := ask(t, e, &workspace{id: "c"}, ""); got != "0" {
			t.Errorf("after the slots are free: %q", got)
		}
	})
}

// TestEvaluate_TimesOut with an evaluator that does not listen: the answer comes in time, the slot is held to the end.
func TestEvaluate_TimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		e := engine(evaluator{func(context.Context, jsonnet.Job) (string, error) {
			<-release
			return "late", nil
		}}, jsonnet.Limits{Timeout: 5 * time.Second, MaxConcurrent: 1})
		w := &workspace{}
		began := time.Now()
		_, err := e.Evaluate(t.Context(), jsonnet.Request{Program: w})
		if reason(err) != jsonnet.EvaluationTimeout || time.Since(began) != 5*time.Second {
			t.Fatalf("%v after %s, want EvaluationTimeout after 5s", err, time.Since(began))
		}
		if _, err := e.Evaluate(t.Context(), jsonnet.Request{Program: w}); reason(err) != jsonnet.EvaluationUnavailable {
			t.Errorf("while it runs on: %v, want EvaluationUnavailable", err)
		}
		close(release)
		synctest.Wait()
		if got := e.Counters(); got.InFlight != 0 || got.TimedOut != 1 {
			t.Errorf("counters = %+v", got)
		}
		result, err := e.Evaluate(t.Context(), jsonnet.Request{Program: w})
		if err != nil || string(result.JSON) != "late" {
			t.Errorf("result = %v, %v; what ended late is still true", result, err)
		}
	})
}

func TestEvaluate_StopsWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan struct{})
		e := engine(evaluator{func(ctx context.Context, _ jsonnet.Job) (string, error) {
			<-ctx.Done()
			close(stopped)
			return "", &jsonnet.Error{Reason: jsonnet.EvaluationTimeout}
		}}, jsonnet.Limits{})
		w := &workspace{}
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, ctx := range []context.Context{first, second} {
			all.Go(func() {
				if _, err := e.Evaluate(ctx, jsonnet.Request{Program: w}); !errors.Is(err, context.Canceled) {
					t.Errorf("error = %v, want that of the caller", err)
				}
			})
		}
		synctest.Wait()
		leaveFirst()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("stopped although somebody waits")
		default:
		}
		leaveSecond()
		all.Wait()
		<-stopped
	})
}

func TestEvaluate_SurvivesACrash(t *testing.T) {
	e := engine(evaluator{func(context.Context, jsonnet.Job) (string, error) { panic("secret") }}, jsonnet.Limits{})
	_, err := e.Evaluate(t.Context(), jsonnet.Request{Program: &workspace{}})
	if reason(err) != jsonnet.EvaluationFailed || strings.Contains(err.Error(), "secret") {
		t.Errorf("error = %v", err)
	}
	if got := e.Counters().InFlight; got != 0 {
		t.Errorf("%d slots are still taken", got)
	}
}

func TestEvaluate_BoundsTraces(t *testing.T) {
	heard := 0
	e := jsonnet.NewEngine(jsonnet.Config{
		Evaluator: evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
			for range 5000 {
				job.Trace(jsonnet.TraceMessage{Text: "x"})
			}
			return "", nil
		}},
		Trace: func(jsonnet.TraceMessage) { heard++ },
	})
	if _, err := e.Evaluate(t.Context(), jsonnet.Request{Program: &workspace{}}); err != nil {
		t.Fatal(err)
	}
	if heard != 1000 {
		t.Errorf("%d traces were heard, want 1000", heard)
	}
}

// TestEvaluate_OneResultForAllArgumentsOfNoFunction: a query that has no effect must not cost an evaluation.
func TestEvaluate_OneResultForAllArgumentsOfNoFunction(t *testing.T) {
	e := engine(evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
		job.ArgumentsIgnored()
		return job.Entry.Content, nil
	}}, jsonnet.Limits{})
	w := &workspace{}
	for i := range 5 {
		if got := ask(t, e, w, fmt.Sprint(i)); got != "0" {
			t.Errorf("got %s", got)
		}
	}
	if got := e.Counters().Evaluations; got != 1 {
		t.Errorf("%d evaluations, want 1", got)
	}
	w.version.Add(1)
	if got := ask(t, e, w, "x"); got != "1" {
		t.Errorf("after an edit: %s", got)
	}
}

// TestEvaluate_NoLongerAFunction: what is kept for arguments that have an effect no more must not hide what holds for all.
func TestEvaluate_NoLongerAFunction(t *testing.T) {
	e := engine(evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
		if job.Entry.Content != "0" {
			job.ArgumentsIgnored()
		}
		return job.Entry.Content, nil
	}}, jsonnet.Limits{})
	w := &workspace{}
	ask(t, e, w, "x")
	w.version.Add(1)
	for range 3 {
		if got := ask(t, e, w, "x"); got != "1" {
			t.Errorf("got %s", got)
		}
	}
	if got := e.Counters().Evaluations; got != 2 {
		t.Errorf("%d evaluations, want 2", got)
	}
}

func TestEvaluate_StartsNothingForWhoHasLeft(t *testing.T) {
	e, w := engine(evaluator{}, jsonnet.Limits{}), &workspace{}
	ask(t, e, w, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		if _, err := e.Evaluate(ctx, jsonnet.Request{Program: w}); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
	}
	if got := e.Counters(); got.Evaluations != 1 || got.InFlight != 0 {
		t.Errorf("counters = %+v", got)
	}
}

func TestEvaluate_CutsLongMessages(t *testing.T) {
	e := engine(evaluator{func(context.Context, jsonnet.Job) (string, error) {
		return "", &jsonnet.Error{Reason: jsonnet.EvaluationFailed, Message: strings.Repeat("é", 1<<20)}
	}}, jsonnet.Limits{})
	_, err := e.Evaluate(t.Context(), jsonnet.Request{Program: &workspace{}})
	if n := len(err.Error()); n > 9<<10 || !utf8.ValidString(err.Error()) {
		t.Errorf("a message of %d bytes", n)
	}
}

func TestEvaluate_ARequestHasVariablesOfItsOwn(t *testing.T) {
	e := jsonnet.NewEngine(jsonnet.Config{
		Evaluator: evaluator{func(_ context.Context, job jsonnet.Job) (string, error) {
			return job.External["a"].Text + job.External["b"].Text, nil
		}},
		Limits:   jsonnet.Limits{CacheBytes: 1 << 20},
		External: map[string]jsonnet.Binding{"a": {Text: "every"}, "b": {Text: " program"}},
	})
	w := &workspace{id: "w"}
	for _, c := range []struct {
		own  map[string]jsonnet.Binding
		want string
	}{
		{nil, "every program"},
		{map[string]jsonnet.Binding{"a": {Text: "this"}}, "this program"},
		{map[string]jsonnet.Binding{"a": {Text: "that"}}, "that program"},
		{nil, "every program"},
	} {
		result, err := e.Evaluate(t.Context(), jsonnet.Request{Program: w, External: c.own})
		if err != nil || string(result.JSON) != c.want {
			t.Errorf("%v: %v, %v; want %s", c.own, result, err, c.want)
		}
	}
	if n := e.Counters().Evaluations; n != 3 {
		t.Errorf("%d evaluations, want one for each set of variables", n)
	}
}
