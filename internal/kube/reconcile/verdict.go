package reconcile

import (
	"strings"
	"time"
	"unicode/utf8"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// maxMessage bounds a condition's message in bytes, far below what the API accepts: statuses are read by people.
	maxMessage = 4096
	// maxNote bounds an event's in bytes, as the API does.
	maxNote = 1024
	// soon is when a time that has passed already is taken up.
	soon = time.Millisecond
)

// verdict is what a run comes to. It is derived without a client and without a clock.
type verdict struct {
	status      metav1.ConditionStatus
	reason      string
	message     string
	reconciling string // the reason of a Reconciling condition, "" for none
	stalled     bool
	eventType   string
	result      ctrl.Result
	err         error // for the work queue: log it and retry with backoff
}

// judge turns the end of a run into a verdict. Ready is Unknown while something proceeds and False where something is
// wrong, so that kstatus sees the first as in progress.
func judge(r Report, reasons Reasons, now time.Time) verdict {
	if r.Err != nil {
		return judgeError(classify(r.Err), r.Interval, reasons, now)
	}
	switch r.Outcome.kind {
	case wait:
		return verdict{
			status: metav1.ConditionUnknown, reason: r.Outcome.reason, message: r.Outcome.message,
			reconciling: r.Outcome.reason, eventType: corev1.EventTypeNormal,
			result: requeue(r.Outcome.until, r.Interval, now),
		}
	case hold:
		return verdict{
			status: metav1.ConditionFalse, reason: r.Outcome.reason, message: r.Outcome.message,
			eventType: corev1.EventTypeNormal,
		}
	default:
		return verdict{
			status: metav1.ConditionTrue, reason: reasons.Success, message: r.Message,
			eventType: corev1.EventTypeNormal, result: ctrl.Result{RequeueAfter: r.Interval},
		}
	}
}

func judgeError(e Error, interval time.Duration, reasons Reasons, now time.Time) verdict {
	v := verdict{
		status: metav1.ConditionFalse, reason: e.Reason, message: e.Err.Error(), eventType: corev1.EventTypeWarning,
	}
	if v.reason == "" {
		v.reason = reasons.Failure
	}
	switch e.Kind {
	case Stalling:
		v.stalled = true
	case Expected:
		v.reconciling = v.reason
		v.result = requeue(e.Until, interval, now)
	default:
		v.reconciling = fluxmeta.ProgressingWithRetryReason
		v.err = e.Err
	}
	return v
}

// requeue prefers a known time to the interval, which remains the net under a watch.
func requeue(until time.Time, interval time.Duration, now time.Time) ctrl.Result {
	if until.IsZero() {
		return ctrl.Result{RequeueAfter: interval}
	}
	return ctrl.Result{RequeueAfter: max(until.Sub(now), soon)}
}

// conditions returns those of an object after the verdict. Reconciling and Stalled are present only while they are true.
func (v verdict) conditions(before []metav1.Condition, generation int64, kstatus bool, now time.Time) []metav1.Condition {
	conditions := append([]metav1.Condition(nil), before...)
	set := func(kind string, status metav1.ConditionStatus, reason string) {
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: Shorten(v.message, maxMessage),
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		})
	}
	set(fluxmeta.ReadyCondition, v.status, v.reason)
	if !kstatus {
		return conditions
	}
	if v.reconciling != "" {
		set(fluxmeta.ReconcilingCondition, metav1.ConditionTrue, v.reconciling)
	} else {
		meta.RemoveStatusCondition(&conditions, fluxmeta.ReconcilingCondition)
	}
	if v.stalled {
		set(fluxmeta.StalledCondition, metav1.ConditionTrue, v.reason)
	} else {
		meta.RemoveStatusCondition(&conditions, fluxmeta.StalledCondition)
	}
	return conditions
}

// Shorten cuts a text to a number of bytes, between characters.
func Shorten(text string, limit int) string {
	const ellipsis = "…"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
