package admission

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
	"github.com/stagewright/stagewright/internal/stageset/validate"
)

// Path is where the webhook is served.
const Path = "/validate-stages-stagewright-dev-v1-stageset"

// Options are what the webhook is made of.
type Options struct {
	Rules    validate.Rules
	Observe  func(outcome string) // told the outcome of each request, for a metric; may be nil
	Patience time.Duration        // for a turn to validate; zero is 2s
	Logger   *slog.Logger
}

const (
	defaultPatience = 2 * time.Second
	// maxProblems is how many are told at once, and as warnings.
	maxProblems = 20
)

// Handler returns the webhook's HTTP handler.
func Handler(o Options) http.Handler {
	return webhookserve.Handler(Path, newValidator(o).handler(), o.Logger)
}

func newValidator(o Options) *validator {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	return &validator{options: o, turns: webhookserve.NewTurns(max(runtime.GOMAXPROCS(0), 2))}
}

// validator decides about one StageSet at a time; it is used concurrently. Namespaces take turns, because expressions take a
// while to compile.
type validator struct {
	options Options
	turns   *webhookserve.Turns
}

func (v *validator) handler() admission.Handler {
	return webhookserve.Validator[stagesv1.StageSet, *stagesv1.StageSet]{
		Spec:   func(set *stagesv1.StageSet) any { return set.Spec },
		Decide: v.decide, Observe: v.options.Observe,
	}
}

func (v *validator) decide(ctx context.Context, set *stagesv1.StageSet) (response admission.Response, outcome string) {
	giveBack, err := v.turns.Take(ctx, set.Namespace, v.options.Patience)
	if err != nil {
		return admission.Allowed("").WithWarnings(
			"the spec was not validated here, because other objects are; what is wrong with it shows in the Ready condition"), webhookserve.Unchecked
	}
	defer giveBack()
	if wrong := validate.Validate(set, v.options.Rules); len(wrong) > 0 {
		return invalid(set, wrong), webhookserve.Denied
	}
	return admission.Allowed("").WithWarnings(warnings(set)...), webhookserve.Allowed
}

// invalid is the answer that an API server gives for a spec that breaks a rule of its own.
func invalid(set *stagesv1.StageSet, wrong field.ErrorList) admission.Response {
	if surplus := len(wrong) - maxProblems; surplus > 0 {
		wrong = append(wrong[:maxProblems:maxProblems],
			field.InternalError(field.NewPath("spec"), fmt.Errorf("and %d more", surplus)))
	}
	status := apierrors.NewInvalid(stagesv1.GroupVersion.WithKind("StageSet").GroupKind(), set.Name, wrong).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: false, Result: &status}}
}

// warnings tell of what is valid and keeps the StageSet from being rolled out.
func warnings(set *stagesv1.StageSet) (texts []string) {
	for _, err := range validate.Unsupported(set) {
		if len(texts) == maxProblems {
			return append(texts, "and more")
		}
		texts = append(texts, fmt.Sprintf("%s: %s; the StageSet will not be rolled out (InvalidSpec)", err.Field, err.Detail))
	}
	return texts
}
