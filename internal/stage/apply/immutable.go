package apply

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// immutable are the words with which API servers refuse a change of a field that can be set once. There is no type for it
// beyond that a field is invalid or forbidden, so these are read in the messages of single fields, never in whole texts.
var immutable = regexp.MustCompile(`(?i)\bimmutable\b|\bmay not (?:be changed|change)\b|\bcannot (?:be changed|change)\b|` +
	`\bupdates to .* are forbidden\b`)

// immutableFields returns the fields whose change was refused because they can be set only once. It returns none where
// anything else is wrong with the object too: made anew it would be refused again, and be lost.
func immutableFields(err error) []string {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		return nil
	}
	status := api.Status()
	if status.Code != http.StatusUnprocessableEntity || status.Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Details.Causes {
		switch cause.Type {
		case metav1.CauseTypeFieldValueInvalid, metav1.CauseTypeForbidden, metav1.CauseTypeTypeInvalid:
		default:
			return nil
		}
		if !immutable.MatchString(detailOf(cause.Message)) {
			return nil
		}
		fields = append(fields, cause.Field)
	}
	return fields
}

// resolution is what a conflict policy says about an object.
type resolution struct {
	action   stagesv1.ConflictAction
	dataLoss bool // consent to it
}

// resolve finds the first rule that selects an object.
func resolve(policy *stagesv1.ConflictPolicy, id inventory.ID, version string, object map[string]any) (resolution, error) {
	if policy == nil {
		return resolution{action: stagesv1.ConflictFail}, nil
	}
	for i, rule := range policy.Rules {
		selected, err := selects(rule.Target, id, version, &unstructured.Unstructured{Object: object})
		if err != nil {
			return resolution{}, fmt.Errorf("reading conflictPolicy.rules[%d].target: %w", i, err)
		}
		if selected {
			return resolution{action: rule.Action, dataLoss: rule.AllowDataLoss}, nil
		}
	}
	if policy.Default == "" {
		return resolution{action: stagesv1.ConflictFail}, nil
	}
	return resolution{action: policy.Default}, nil
}

// selects says whether a selector selects an object, as that of a kustomize patch does: regular expressions that match
// as a whole, and selectors of labels and annotations.
func selects(s kustomize.Selector, id inventory.ID, version string, object *unstructured.Unstructured) (bool, error) {
	for _, part := range []struct{ pattern, value string }{
		{s.Group, id.Group}, {s.Version, version}, {s.Kind, id.Kind}, {s.Namespace, id.Namespace}, {s.Name, id.Name},
	} {
		if part.pattern == "" {
			continue
		}
		pattern, err := regexp.Compile("^(?:" + part.pattern + ")$")
		if err != nil {
			return false, err
		}
		if !pattern.MatchString(part.value) {
			return false, nil
		}
	}
	for _, part := range []struct {
		selector string
		values   map[string]string
	}{{s.LabelSelector, object.GetLabels()}, {s.AnnotationSelector, object.GetAnnotations()}} {
		selector, err := labels.Parse(part.selector)
		if err != nil {
			return false, err
		}
		if !selector.Matches(labels.Set(part.values)) {
			return false, nil
		}
	}
	return true, nil
}

// consent says what has to be set so that an object with changed immutable fields can be replaced; empty where it may be.
func (r resolution) consent(id inventory.ID, fields []string) string {
	what := strings.Join(fields, ", ") + " cannot be changed"
	switch {
	case r.action != stagesv1.ConflictRecreate:
		return what + "; undo the change, or set conflictPolicy to Recreate or KeepExisting for it"
	case id.Stateful() && !r.dataLoss:
		return what + ", and replacing it loses what it holds; undo the change, or add a conflictPolicy rule for it with " +
			"action Recreate and allowDataLoss: true"
	default:
		return ""
	}
}
