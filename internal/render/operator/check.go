package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/artifact"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// check refuses what the API server could not see to be wrong.
func (c *snippets) check(_ context.Context, s *scope) (reconcile.Outcome, error) {
	spec := &s.snippet.Spec
	for _, variable := range spec.ExternalVariables {
		if slices.Contains(c.options.Spec.ExternalVariables, variable.Name) {
			return reconcile.Next(), reconcile.Stalled(renderv1.ReasonExternalVariableConflict, fmt.Errorf(
				"external variable %q is set by the operator for all snippets; give the snippet's another name", variable.Name))
		}
	}
	if err := c.options.Spec.checkOrigin(s.snippet.Namespace, spec.Files, spec.SourceRef); err != nil {
		return reconcile.Next(), err
	}
	for _, library := range spec.Libraries {
		if err := c.options.Spec.checkNamespace(s.snippet.Namespace, library.Namespace, "library "+library.Name); err != nil {
			return reconcile.Next(), err
		}
	}
	return reconcile.Next(), nil
}

// checkOrigin refuses files that no artifact can hold, and references that are not followed.
func (p SpecPolicy) checkOrigin(namespace string, texts map[string]string, ref *renderv1.SourceReference) error {
	if ref == nil {
		return checkFiles(texts)
	}
	if ref.APIVersion != "" && ref.APIVersion != sourcev1.GroupVersion.String() {
		return reconcile.Stalled(renderv1.ReasonInvalidSpec, fmt.Errorf(
			"spec.sourceRef.apiVersion is %q; only %s is read", ref.APIVersion, sourcev1.GroupVersion))
	}
	return p.checkNamespace(namespace, ref.Namespace, ref.Kind+" "+ref.Name)
}

func checkFiles(texts map[string]string) error {
	files := make(artifact.Files, len(texts))
	for name, text := range texts {
		files[name] = []byte(text)
	}
	err := artifact.DefaultLimits().Check(files)
	var refused *artifact.RefusedError
	if errors.As(err, &refused) {
		return reconcile.Stalled(renderv1.ReasonInvalidSpec, fmt.Errorf("spec.files: %w", refused))
	}
	return err
}

func (p SpecPolicy) checkNamespace(own, other, what string) error {
	if !p.NoCrossNamespaceRefs || other == "" || other == own {
		return nil
	}
	return reconcile.Stalled(renderv1.ReasonCrossNamespaceRefRejected, fmt.Errorf(
		"%s is in namespace %s, and this operator allows no references to other namespaces (--no-cross-namespace-refs)",
		strings.TrimSpace(what), other))
}
