package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// DeniedError says that the identity may not do what is needed.
type DeniedError struct {
	Identity string
	Verb     string
	Resource string // deployments.apps
	ID       inventory.ID
	Err      error
}

func (e *DeniedError) Error() string {
	where := "in the whole cluster"
	if e.ID.Namespace != "" {
		where = "in namespace " + e.ID.Namespace
	}
	text := fmt.Sprintf("%s may not %s %s %s", e.Identity, e.Verb, e.Resource, where)
	if e.ID.Name != "" {
		text += " (" + e.ID.Display() + ")"
	}
	return text
}

// Unwrap returns what the API server said.
func (e *DeniedError) Unwrap() error { return e.Err }

// refusal is what every authorizer of an API server is quoted with.
var refusal = regexp.MustCompile(`\bcannot ([a-z]+) (?:resource|path)\b`)

// Denied returns a *DeniedError where the error says that the identity lacks a right, and the error itself otherwise: what
// admission or a terminating namespace forbids is no matter of rights.
func Denied(err error, c Cluster, id inventory.ID, version string) error {
	status := statusOf(err)
	if status == nil || status.Reason != metav1.StatusReasonForbidden || Terminating(err) {
		return err
	}
	verb := refusedVerb(status.Message)
	if verb == "" {
		return err
	}
	return &DeniedError{Identity: c.Identity, Verb: verb, Resource: resource(c, status, id, version), ID: id, Err: err}
}

// refusedVerb is the verb that a message says is not allowed, or "".
func refusedVerb(message string) string {
	if named := refusal.FindStringSubmatch(message); named != nil {
		return named[1]
	}
	if strings.Contains(message, "attempting to grant RBAC permissions not currently held") {
		return "escalate"
	}
	return ""
}

// resource names the resource of a kind with its group, as the API server does or else as the mapper knows it.
func resource(c Cluster, status *metav1.Status, id inventory.ID, version string) string {
	if d := status.Details; d != nil && d.Kind != "" && d.Kind != id.Kind {
		return schema.GroupResource{Group: d.Group, Resource: d.Kind}.String()
	}
	kind := schema.GroupKind{Group: id.Group, Kind: id.Kind}
	if mapping, err := c.Client.RESTMapper().RESTMapping(kind, version); err == nil {
		return mapping.Resource.GroupResource().String()
	}
	return kind.String()
}

// Unknown says that the API server has no such kind, or no such version of it.
func Unknown(err error) bool {
	var (
		kind     *meta.NoKindMatchError
		resource *meta.NoResourceMatchError
	)
	if errors.As(err, &kind) || errors.As(err, &resource) {
		return true
	}
	status := statusOf(err) // a resource that is gone since the mapper saw it: nothing answers at its path
	if status == nil || status.Code != http.StatusNotFound || MissingNamespace(err) {
		return false
	}
	_, unanswered := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	return unanswered || status.Details == nil || status.Details.Name == ""
}

// Terminating says that the namespace is being deleted, so that nothing new can be created in it.
func Terminating(err error) bool {
	_, ok := apierrors.StatusCause(err, corev1.NamespaceTerminatingCause)
	return ok
}

// MissingNamespace says that the namespace does not exist.
func MissingNamespace(err error) bool {
	status := statusOf(err)
	return status != nil && status.Reason == metav1.StatusReasonNotFound && status.Details != nil &&
		status.Details.Kind == "namespaces"
}

func statusOf(err error) *metav1.Status {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		return nil
	}
	status := api.Status()
	return &status
}
