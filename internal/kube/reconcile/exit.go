package reconcile

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// rememberedEvents bounds for how many objects the last event is known. One that is forgotten is at worst repeated.
	rememberedEvents = 10_000
	// recordTimeout bounds the status patch of a run that ended with its context.
	recordTimeout = 5 * time.Second
)

// Object is what the exit needs of an object: pointers to structs of a CRD with a status subresource.
type Object interface {
	client.Object
	GetConditions() []metav1.Condition
	SetConditions(conditions []metav1.Condition)
	SetObservedGeneration(generation int64)
	SetLastHandledReconcileRequest(token string)
}

// Recorder emits events; the recorder of a manager (GetEventRecorder) is one.
type Recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// Reasons are those of the Ready condition where a step gave none.
type Reasons struct {
	Success string
	Failure string
}

// Options are what an Exit is made of.
type Options struct {
	Client  client.StatusClient
	Live    client.Reader // past any cache; it is asked only after a conflict
	Events  Recorder
	Reasons Reasons
	Now     func() time.Time // nil is time.Now
	Kstatus bool             // also keep the conditions Reconciling and Stalled
	// Observe, if set, is told how each run ended, for metrics.
	Observe func(object Object, ready metav1.Condition)
}

// Exit ends the runs of a controller. It can be used concurrently.
type Exit struct {
	options Options
	told    *lru.Cache // from an object's UID to the telling of its last event
}

// NewExit returns the exit of a controller.
func NewExit(options Options) *Exit {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Exit{options: options, told: lru.New(rememberedEvents)}
}

// Report is how a run ended.
type Report struct {
	Outcome  Outcome
	Err      error
	Message  string        // of the Ready condition when all is well
	Revision string        // what the outcome is about; there is one event for each revision and outcome
	Interval time.Duration // until the next run when nothing else asks for one; zero is never
}

// Finish ends the run of an object, where before is a copy made at the run's start. It sets the conditions, the observed
// generation and the handled request, writes the status if it differs, emits an event if there is news, and says when to
// run again. It is to be called once, last.
//
// When the context has ended, what the steps have noted in the status is written all the same. No condition tells of an
// error then: it is most likely the end's, and another is found again.
func (x *Exit) Finish(ctx context.Context, before, object Object, report Report) (ctrl.Result, error) {
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
		x.told.Remove(object.GetUID()) // there is nothing left to write to
		return ctrl.Result{}, report.Err
	}
	if ctx.Err() != nil {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		if ctx = detached; report.Err != nil {
			_, err := x.record(ctx, before, object)
			return ctrl.Result{}, errors.Join(report.Err, err)
		}
	}
	now := x.options.Now()
	v := judge(report, x.options.Reasons, now)
	// What the run was made for is what it was started with: a step's own write may have brought a newer object back.
	generation := before.GetGeneration()
	object.SetConditions(v.conditions(object.GetConditions(), generation, x.options.Kstatus, now))
	object.SetObservedGeneration(generation)
	if token, ok := fluxmeta.ReconcileAnnotationValue(before.GetAnnotations()); ok {
		object.SetLastHandledReconcileRequest(token)
	}
	if x.options.Observe != nil {
		x.options.Observe(object, *meta.FindStatusCondition(object.GetConditions(), fluxmeta.ReadyCondition))
	}
	if stale, err := x.record(ctx, before, object); err != nil {
		return ctrl.Result{}, errors.Join(v.err, err)
	} else if stale {
		return ctrl.Result{RequeueAfter: soon}, nil
	}
	x.tell(before, object, v, report.Revision)
	if v.err == nil && report.Err != nil {
		log.FromContext(ctx).Info("not ready", "reason", v.reason, "message", v.message)
	}
	return v.result, v.err
}

// record writes the status if it differs from before. It is stale when somebody else has written it since: the run was
// then made from an old reading, and has to be made again.
func (x *Exit) record(ctx context.Context, before, object Object) (stale bool, err error) {
	version := object.GetResourceVersion()
	for {
		patch, err := statusPatch(before, object, version)
		if err != nil || patch == nil {
			return false, err
		}
		// The answer replaces what it is read into; the run's object stays as the steps left it.
		answer := object.DeepCopyObject().(Object)
		err = x.options.Client.Status().Patch(ctx, answer, client.RawPatch(types.MergePatchType, patch))
		if err == nil {
			object.SetResourceVersion(answer.GetResourceVersion())
			return false, nil
		}
		if client.IgnoreNotFound(err) == nil {
			return false, nil // deleted meanwhile
		}
		if !apierrors.IsConflict(err) {
			return false, fmt.Errorf("recording the status of %s: %w", client.ObjectKeyFromObject(object), err)
		}
		live := reflect.New(reflect.TypeOf(object).Elem()).Interface().(Object)
		if err := x.options.Live.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		same, err := sameStatus(before, live)
		if err != nil || !same || live.GetUID() != object.GetUID() {
			return true, err
		}
		version = live.GetResourceVersion() // only its metadata or spec has moved, and the status is ours alone
	}
}

// telling is what the last event of an object was about.
type telling struct {
	revision string
	status   metav1.ConditionStatus
	reason   string
}

// tell emits an event unless the last one told the same. For an object seen for the first time since the start, what its
// condition says has been told.
func (x *Exit) tell(before, object Object, v verdict, revision string) {
	news := telling{revision: revision, status: v.status, reason: v.reason}
	last, known := x.told.Get(object.GetUID())
	x.told.Add(object.GetUID(), news)
	if known && last == news {
		return
	}
	ready := meta.FindStatusCondition(before.GetConditions(), fluxmeta.ReadyCondition)
	if !known && ready != nil && ready.Status == v.status && ready.Reason == v.reason &&
		ready.Message == Shorten(v.message, maxMessage) {
		return
	}
	if x.options.Events != nil {
		x.options.Events.Eventf(object, nil, v.eventType, v.reason, "Reconcile", "%s", Shorten(v.message, maxNote))
	}
}
