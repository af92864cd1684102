package webhookserve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Outcomes of requests, for a metric.
const (
	Allowed   = "allowed"
	Denied    = "denied"
	Unchecked = "unchecked" // allowed, without a look at all of it
)

// Object is a pointer to a kind of object.
type Object[T any] interface {
	*T
	client.Object
}

// Validator asks about specs that are new: of objects that are made, or whose spec is another one. Whatever else is written,
// by a controller that removes a finalizer for instance, is allowed. It can be used concurrently.
type Validator[T any, O Object[T]] struct {
	Spec func(O) any
	// Decide judges an object, whose namespace is that of the request. The outcome is one of those above.
	Decide  func(ctx context.Context, object O) (response admission.Response, outcome string)
	Observe func(outcome string) // told the outcome of each request; may be nil
}

// Handle implements admission.Handler.
func (v Validator[T, O]) Handle(ctx context.Context, request admission.Request) admission.Response {
	response, outcome := v.decide(ctx, request)
	if v.Observe != nil {
		v.Observe(outcome)
	}
	return response
}

func (v Validator[T, O]) decide(ctx context.Context, request admission.Request) (response admission.Response, outcome string) {
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed(""), Allowed
	}
	object := O(new(T))
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("reading the %s: %w", request.Kind.Kind, err)), Denied
	}
	if object.GetDeletionTimestamp() != nil {
		return admission.Allowed(""), Allowed // a finalizer must be removable, whatever the spec
	}
	if request.Operation == admissionv1.Update {
		old := O(new(T))
		if err := json.Unmarshal(request.OldObject.Raw, old); err == nil && equality.Semantic.DeepEqual(v.Spec(old), v.Spec(object)) {
			return admission.Allowed(""), Allowed
		}
	}
	object.SetNamespace(request.Namespace) // what the request is for, whatever the object says
	return v.Decide(ctx, object)
}
