package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/kube/tenant"
)

// suspend holds a snippet whose user wants nothing to be done.
func (c *snippets) suspend(_ context.Context, s *scope) (reconcile.Outcome, error) {
	if !s.snippet.Spec.Suspend {
		return reconcile.Next(), nil
	}
	message := "Rendering is suspended; set spec.suspend to false to resume it"
	if s.published() {
		message += ". Revision " + s.snippet.Status.Revision + " stays published"
	}
	return reconcile.Hold(renderv1.ReasonSuspended, message), nil
}

// identify finds whom to act as.
func (c *snippets) identify(_ context.Context, s *scope) (reconcile.Outcome, error) {
	name := s.snippet.Spec.ServiceAccountName
	if name == "" {
		name = c.options.Spec.DefaultServiceAccount
	}
	if name == "" {
		return reconcile.Next(), reconcile.Stalled(renderv1.ReasonServiceAccountMissing,
			errors.New("spec.serviceAccountName is not set, and the operator has no default: name the ServiceAccount to act as"))
	}
	s.account = tenant.Account{Namespace: s.snippet.Namespace, Name: name}
	client, err := c.options.Tenants.For(s.account)
	if err != nil {
		return reconcile.Next(), err
	}
	s.client = client
	return reconcile.Next(), nil
}

// access is what was tried on a tenant's behalf.
type access struct {
	verb      string
	resource  string // plural, with its group
	namespace string
	name      string
}

func (a access) String() string {
	return fmt.Sprintf("%s %s %q in namespace %s", a.verb, a.resource, a.name, a.namespace)
}

// tenantError says what is wrong when something was tried on a tenant's behalf. Roles and ServiceAccounts are not
// watched, so what they cause is looked at again.
func (c *snippets) tenantError(s *scope, tried access, err error) error {
	var missing *tenant.MissingError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		return reconcile.Waiting(c.later(), renderv1.ReasonServiceAccountMissing,
			fmt.Errorf("acting for the snippet: %w; create it, or name another one in spec.serviceAccountName", missing))
	case apierrors.IsForbidden(err):
		return reconcile.Waiting(c.later(), renderv1.ReasonAccessDenied,
			fmt.Errorf("ServiceAccount %s may not %s; allow it with a Role and a RoleBinding", s.account, tried))
	case meta.IsNoMatchError(err):
		return reconcile.Waiting(c.later(), renderv1.ReasonSourceNotReady,
			fmt.Errorf("the cluster has no %s; install Flux's source kinds", tried.resource))
	default:
		return reconcile.Failed(renderv1.ReasonProgressing, fmt.Errorf("trying to %s: %w", tried, err))
	}
}

// later is when something is looked at again that is not watched.
func (c *snippets) later() time.Time { return c.options.Now().Add(c.options.Recheck) }
