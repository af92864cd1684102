package stageset

import (
	"context"
	"fmt"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// verify lets nothing new through while there are policies for images: this release cannot verify images, and what a policy
// asks for must not be passed over in silence. What is applied stays as it is.
func (c *stageSets) verify(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	if s.choice != begin {
		return reconcile.Next(), nil
	}
	var policies stagesv1.ImageVerificationPolicyList
	if err := c.client.List(ctx, &policies); err != nil {
		return reconcile.Next(), fmt.Errorf("reading the policies for images: %w", err)
	}
	if n := len(policies.Items); n > 0 {
		return reconcile.Next(), reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonImageUnverified, fmt.Errorf(
			"there are %d ImageVerificationPolicies, such as %s, and this release cannot verify images yet: nothing new is applied until they are deleted",
			n, policies.Items[0].Name))
	}
	return reconcile.Next(), nil
}
