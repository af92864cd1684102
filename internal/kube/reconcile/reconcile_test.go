package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

type scope struct{ visited []string }

func visit(name string, outcome Outcome, err error) Step[scope] {
	return func(_ context.Context, s *scope) (Outcome, error) {
		s.visited = append(s.visited, name)
		return outcome, err
	}
}

func TestRun_EndsAtTheFirstStepThatIsNotNext(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		steps   []Step[scope]
		visited string
		outcome Outcome
		err     error
	}{
		"no steps":      {outcome: Done()},
		"all next":      {[]Step[scope]{visit("a", Next(), nil), visit("b", Next(), nil)}, "a b", Done(), nil},
		"done early":    {[]Step[scope]{visit("a", Done(), nil), visit("b", Next(), nil)}, "a", Done(), nil},
		"waiting":       {[]Step[scope]{visit("a", Wait("R", "m"), nil), visit("b", Next(), nil)}, "a", Wait("R", "m"), nil},
		"error":         {[]Step[scope]{visit("a", Next(), broken), visit("b", Next(), nil)}, "a", Next(), broken},
		"held":          {[]Step[scope]{visit("a", Hold("R", "m"), nil), visit("b", Next(), nil)}, "a", Hold("R", "m"), nil},
		"zero outcomes": {[]Step[scope]{visit("a", Outcome{}, nil)}, "a", Done(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var s scope
			outcome, err := Run(t.Context(), &s, c.steps...)
			if outcome != c.outcome || !errors.Is(err, c.err) || strings.Join(s.visited, " ") != c.visited {
				t.Errorf("Run = %v, %v after %v; want %v, %v after %v", outcome, err, s.visited, c.outcome, c.err, c.visited)
			}
		})
	}
}

func TestRun_StartsNoStepAfterItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(context.Context, *scope) (Outcome, error) { cancel(); return Next(), nil }
	var s scope
	_, err := Run(ctx, &s, stop, visit("late", Next(), nil))
	if !errors.Is(err, context.Canceled) || len(s.visited) > 0 {
		t.Errorf("Run = %v after %v, want it cancelled", err, s.visited)
	}
}

func TestError_KeepsItsKindWhenItIsWrapped(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		kind   Kind
		reason string
	}{
		"plain":     {fs.ErrNotExist, Transient, ""},
		"failed":    {fmt.Errorf("more: %w", Failed("StorageFailed", fs.ErrNotExist)), Transient, "StorageFailed"},
		"stalled":   {fmt.Errorf("more: %w", Stalled("InvalidSpec", fs.ErrNotExist)), Stalling, "InvalidSpec"},
		"waiting":   {fmt.Errorf("more: %w", Waiting(time.Time{}, "RateLimited", fs.ErrNotExist)), Expected, "RateLimited"},
		"outermost": {Stalled("A", Failed("B", fs.ErrNotExist)), Stalling, "A"},
	} {
		if KindOf(c.err) != c.kind || ReasonOf(c.err) != c.reason {
			t.Errorf("%s: kind %d, reason %q; want %d, %q", name, KindOf(c.err), ReasonOf(c.err), c.kind, c.reason)
		}
		if !errors.Is(c.err, fs.ErrNotExist) {
			t.Errorf("%s: the cause is lost", name)
		}
	}
}

func TestJudge(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	reasons := Reasons{Success: "Succeeded", Failure: "Failed"}
	broken := errors.New("broken")
	outer := fmt.Errorf("fetching: %w", Waiting(now.Add(time.Minute), "SourceNotReady", broken))
	failed := Failed("StorageFailed", broken)
	for name, c := range map[string]struct {
		report Report
		want   verdict
	}{
		"ready": {
			Report{Outcome: Done(), Message: "Published", Interval: time.Hour},
			verdict{
				status: metav1.ConditionTrue, reason: "Succeeded", message: "Published", eventType: "Normal",
				result: ctrl.Result{RequeueAfter: time.Hour},
			},
		},
		"waiting for a watch with the interval as net": {
			Report{Outcome: Wait("Progressing", "Waiting"), Interval: time.Hour},
			verdict{
				status: metav1.ConditionUnknown, reason: "Progressing", message: "Waiting", reconciling: "Progressing",
				eventType: "Normal", result: ctrl.Result{RequeueAfter: time.Hour},
			},
		},
		"waiting for a time that has come": {
			Report{Outcome: WaitUntil(now.Add(-time.Hour), "Progressing", "Waiting")},
			verdict{
				status: metav1.ConditionUnknown, reason: "Progressing", message: "Waiting", reconciling: "Progressing",
				eventType: "Normal", result: ctrl.Result{RequeueAfter: soon},
			},
		},
		"held": {
			Report{Outcome: Hold("Suspended", "Resume it"), Interval: time.Hour},
			verdict{status: metav1.ConditionFalse, reason: "Suspended", message: "Resume it", eventType: "Normal"},
		},
		"an error that ends at a time keeps its whole text": {
			Report{Err: outer, Interval: time.Hour},
			verdict{
				status: metav1.ConditionFalse, reason: "SourceNotReady", message: "fetching: broken",
				reconciling: "SourceNotReady", eventType: "Warning", result: ctrl.Result{RequeueAfter: time.Minute},
			},
		},
		"stalled is not repeated": {
			Report{Err: Stalled("InvalidSpec", broken), Interval: time.Hour},
			verdict{
				status: metav1.ConditionFalse, reason: "InvalidSpec", message: "broken", stalled: true, eventType: "Warning",
			},
		},
		"plain is retried": {
			Report{Err: broken, Interval: time.Hour},
			verdict{
				status: metav1.ConditionFalse, reason: "Failed", message: "broken", reconciling: "ProgressingWithRetry",
				eventType: "Warning", err: broken,
			},
		},
		"plain with a reason is retried": {
			Report{Err: failed},
			verdict{
				status: metav1.ConditionFalse, reason: "StorageFailed", message: "broken",
				reconciling: "ProgressingWithRetry", eventType: "Warning", err: failed,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(c.report, reasons, now)
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(verdict{}), cmpopts.EquateErrors()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestConditions_PresentOnlyWhileTrue(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	kinds := func(conditions []metav1.Condition) string {
		var words []string
		for _, c := range conditions {
			words = append(words, c.Type+"="+string(c.Status))
		}
		return strings.Join(words, " ")
	}
	foreign := []metav1.Condition{{Type: "Foreign", Status: metav1.ConditionTrue}}
	stalled := verdict{status: metav1.ConditionFalse, reason: "A", stalled: true}.conditions(foreign, 1, true, now)
	retrying := verdict{status: metav1.ConditionFalse, reason: "B", reconciling: "C"}.conditions(stalled, 1, true, now.Add(time.Hour))
	ready := verdict{status: metav1.ConditionTrue, reason: "D"}.conditions(retrying, 2, true, now.Add(time.Hour))
	for _, c := range []struct {
		conditions []metav1.Condition
		want       string
	}{
		{stalled, "Foreign=True Ready=False Stalled=True"},
		{retrying, "Foreign=True Ready=False Reconciling=True"},
		{ready, "Foreign=True Ready=True"},
		{verdict{status: metav1.ConditionFalse, reason: "A", stalled: true}.conditions(nil, 1, false, now), "Ready=False"},
	} {
		if got := kinds(c.conditions); got != c.want {
			t.Errorf("conditions %s, want %s", got, c.want)
		}
	}
	if !retrying[1].LastTransitionTime.Time.Equal(now) || !ready[1].LastTransitionTime.Time.Equal(now.Add(time.Hour)) {
		t.Error("the transition time is not that of the change of status")
	}
	if ready[1].ObservedGeneration != 2 {
		t.Error("the condition does not tell the generation")
	}
}

func TestShorten_CutsBetweenCharacters(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		max  int
		want string
	}{
		"fits":         {"grün", 5, "grün"},
		"cut":          {"abcdefgh", 6, "abc…"},
		"wide":         {"aöööö", 6, "aö…"},
		"invalid text": {"a\xff", 9, "a\uFFFD"},
	} {
		if got := Shorten(c.text, c.max); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
