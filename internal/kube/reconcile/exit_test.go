package reconcile

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// repository stands for a kind of ours: a real one with a status subresource.
type repository struct {
	sourcev1.GitRepository `json:",inline"`
}

func (r *repository) DeepCopyObject() runtime.Object {
	return &repository{*r.DeepCopy()}
}

func (r *repository) SetObservedGeneration(generation int64) {
	r.Status.ObservedGeneration = generation
}

func (r *repository) SetLastHandledReconcileRequest(token string) {
	r.Status.LastHandledReconcileAt = token
}

// The recorder of a manager is one.
var _ Recorder = events.EventRecorder(nil)

// fixture is an object in the control plane and an exit whose writes, events and clock a test sees.
type fixture struct {
	*kubetest.Env
	client client.Client
	exit   *Exit
	now    time.Time
	writes int
	events []string
}

//nolint:revive // the arguments of an event are not ours to choose
func (f *fixture) Eventf(_, _ runtime.Object, eventType, reason, _, note string, args ...any) {
	f.events = append(f.events, eventType+" "+reason+" "+fmt.Sprintf(note, args...))
}

func start(t *testing.T) (*fixture, *repository) {
	t.Helper()
	f := &fixture{Env: kubetest.Start(t), now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(sourcev1.GroupVersion.WithKind("GitRepository"), &repository{})
	metav1.AddToGroupVersion(scheme, sourcev1.GroupVersion)
	direct, err := client.NewWithWatch(f.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	f.client = interceptor.NewClient(direct, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			f.writes++
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	})
	f.exit = f.newExit()
	r := &repository{}
	r.Name, r.Namespace = "shop", f.Namespace
	r.Spec = sourcev1.GitRepositorySpec{URL: "https://git.example.com/shop", Interval: metav1.Duration{Duration: time.Minute}}
	if err := f.client.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return f, r
}

// newExit is what a restart of the program makes.
func (f *fixture) newExit() *Exit {
	return NewExit(Options{
		Client: f.client, Live: f.client, Events: f, Kstatus: true, Now: func() time.Time { return f.now },
		Reasons: Reasons{Success: "Succeeded", Failure: "Failed"},
	})
}

func (f *fixture) read(t *testing.T) *repository {
	t.Helper()
	r := &repository{}
	if err := f.client.Get(t.Context(), client.ObjectKey{Namespace: f.Namespace, Name: "shop"}, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// run reads the object and ends a run with the report.
func (f *fixture) run(t *testing.T, report Report) {
	t.Helper()
	object := f.read(t)
	_, err := f.exit.Finish(t.Context(), object.DeepCopyObject().(*repository), object, report)
	if !errors.Is(err, report.Err) && KindOf(report.Err) == Transient {
		t.Fatalf("Finish: %v, want %v", err, report.Err)
	}
}

func TestFinish_WritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	f, r := start(t)
	r.Annotations = map[string]string{"reconcile.fluxcd.io/requestedAt": "now"}
	if err := f.client.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	ready := Report{Outcome: Done(), Message: "Published", Revision: "1"}
	f.run(t, ready)
	f.now = f.now.Add(time.Hour)
	f.run(t, ready)
	f.exit = f.newExit()
	f.run(t, ready)
	if f.writes != 1 || len(f.events) != 1 {
		t.Errorf("%d writes and events %q, want one of each", f.writes, f.events)
	}
	got := f.read(t).Status
	want := sourcev1.GitRepositoryStatus{ObservedGeneration: r.Generation, Conditions: []metav1.Condition{{
		Type: "Ready", Status: "True", Reason: "Succeeded", Message: "Published", ObservedGeneration: r.Generation,
		LastTransitionTime: metav1.NewTime(f.now.Add(-time.Hour)),
	}}}
	want.LastHandledReconcileAt = "now"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFinish_TellsEachOutcomeOfARevisionOnce(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	down := func(message, revision string) Report {
		return Report{Err: Failed("StorageFailed", errors.New(message)), Revision: revision}
	}
	f.run(t, down("503 from a", "1"))
	f.run(t, down("503 from b", "1")) // the same outcome in other words
	f.run(t, Report{Message: "Published 1", Revision: "1"})
	f.run(t, Report{Message: "Published 2", Revision: "2"})
	f.run(t, down("503 from b", "3"))
	f.run(t, down("503 from b", "4")) // the same words about another revision
	f.exit = f.newExit()
	f.run(t, down("503 from b", "4"))
	f.run(t, Report{Err: Stalled("InvalidSpec", errors.New("no name")), Revision: "4"})
	want := []string{
		"Warning StorageFailed 503 from a",
		"Normal Succeeded Published 1",
		"Normal Succeeded Published 2",
		"Warning StorageFailed 503 from b",
		"Warning StorageFailed 503 from b",
		"Warning InvalidSpec no name",
	}
	if d := cmp.Diff(want, f.events); d != "" {
		t.Error(d)
	}
}

func TestFinish_ChangedMetadataDoesNotLoseTheStatus(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	object := f.read(t)
	other := f.read(t)
	other.Labels = map[string]string{"edited": "meanwhile"}
	if err := f.client.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	before := object.DeepCopyObject().(*repository)
	object.Status.LastHandledReconcileAt = "progress"
	if _, err := f.exit.Finish(t.Context(), before, object, Report{Message: "Published"}); err != nil {
		t.Fatal(err)
	}
	if got := f.read(t); got.Status.LastHandledReconcileAt != "progress" || got.Labels["edited"] == "" {
		t.Errorf("status %v, labels %v", got.Status, got.Labels)
	}
}

func TestFinish_OldReadingNeverOverwritesANewerStatus(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	old := f.read(t)
	f.run(t, Report{Message: "Published", Revision: "1"})
	f.events = nil
	before := old.DeepCopyObject().(*repository)
	result, err := f.exit.Finish(t.Context(), before, old, Report{Err: Stalled("InvalidSpec", errors.New("no name"))})
	if err != nil || result.RequeueAfter != soon {
		t.Errorf("Finish = %v, %v, want to run again soon", result, err)
	}
	if c := f.read(t).Status.Conditions; len(c) != 1 || c[0].Reason != "Succeeded" || len(f.events) > 0 {
		t.Errorf("conditions %v, events %q", c, f.events)
	}
}

func TestFinish_EndOfTheProgramIsNoOutcomeButProgressIsKept(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	object := f.read(t)
	before := object.DeepCopyObject().(*repository)
	object.Status.LastHandledReconcileAt = "progress"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.exit.Finish(ctx, before, object, Report{Err: ctx.Err()}); !errors.Is(err, context.Canceled) {
		t.Errorf("Finish: %v, want Canceled", err)
	}
	if got := f.read(t).Status; got.LastHandledReconcileAt != "progress" || len(got.Conditions) > 0 || len(f.events) > 0 {
		t.Errorf("status %v, events %q", got, f.events)
	}
}

func TestFinish_ObservedIsWhatTheRunStartedWith(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	object := f.read(t)
	before := object.DeepCopyObject().(*repository)
	edited := f.read(t)
	edited.Spec.URL = "https://git.example.com/edited"
	edited.Annotations = map[string]string{"reconcile.fluxcd.io/requestedAt": "now"}
	if err := f.client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	step := object.DeepCopyObject().(*repository)
	step.Labels = map[string]string{"written-by": "step"} // whose answer has the edited spec
	if err := f.client.Patch(t.Context(), step, client.MergeFrom(object)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.exit.Finish(t.Context(), before, step, Report{}); err != nil {
		t.Fatal(err)
	}
	got := f.read(t)
	if got.Status.ObservedGeneration != before.Generation || got.Generation == before.Generation ||
		got.Status.LastHandledReconcileAt != "" {
		t.Errorf("observed %d and request %q, want %d and none", got.Status.ObservedGeneration,
			got.Status.LastHandledReconcileAt, before.Generation)
	}
}

func TestFinish_DeletedObjectIsNoError(t *testing.T) {
	t.Parallel()
	f, r := start(t)
	object := f.read(t)
	if err := f.client.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := f.exit.Finish(t.Context(), object.DeepCopyObject().(*repository), object, Report{}); err != nil {
		t.Errorf("Finish: %v", err)
	}
	now := metav1.NewTime(f.now)
	object.DeletionTimestamp = &now
	f.writes = 0
	if _, err := f.exit.Finish(t.Context(), object, object, Report{}); err != nil || f.writes > 0 {
		t.Errorf("Finish: %v after %d writes, want none after the last finalizer", err, f.writes)
	}
}

func TestFinish_RefusedWriteIsTheErrorAndTellsNothing(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	object := f.read(t)
	before := object.DeepCopyObject().(*repository)
	object.Status.Conditions = []metav1.Condition{{Type: "no type", Status: "Maybe"}}
	_, err := f.exit.Finish(t.Context(), before, object, Report{})
	if err == nil || len(f.events) > 0 {
		t.Errorf("Finish: %v with events %q, want the refusal alone", err, f.events)
	}
}

// TestFinish_RecordsWhatWasDoneThoughTheProgramEnds: what succeeded is told, and an error that the end may have caused is not.
func TestFinish_RecordsWhatWasDoneThoughTheProgramEnds(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	object := f.read(t)
	before := object.DeepCopyObject().(*repository)
	_, err := f.exit.Finish(ended, before, object, Report{Err: Stalled("Broken", errors.New("a helper was stopped"))})
	if got := f.read(t); err == nil || len(got.GetConditions()) > 0 {
		t.Errorf("conditions = %v, %v", got.GetConditions(), err)
	}
	object = f.read(t)
	before = object.DeepCopyObject().(*repository)
	if _, err := f.exit.Finish(ended, before, object, Report{Outcome: Done(), Message: "Published"}); err != nil {
		t.Fatal(err)
	}
	if got := f.read(t).GetConditions(); len(got) != 1 || got[0].Reason != "Succeeded" {
		t.Errorf("conditions = %v", got)
	}
}
