package health

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/runtime/statusreaders"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/expression"
)

// Rules say when objects are healthy, beyond kstatus. They can be used concurrently; nil is kstatus alone.
type Rules struct {
	kinds  map[schema.GroupKind][]step
	digest string // equal for rules that say the same
}

// step is an expression, and the state of an object for which it holds.
type step struct {
	name  string
	state State
	holds *expression.Condition
}

// Compile compiles the expressions of a stage. An error names the place: exprs[2].current: ….
func Compile(exprs []stagesv1.HealthExpressions) (*Rules, error) {
	encoded, err := json.Marshal(exprs)
	if err != nil {
		return nil, fmt.Errorf("writing expressions: %w", err)
	}
	sum := sha256.Sum256(encoded)
	rules := &Rules{kinds: map[schema.GroupKind][]step{}, digest: hex.EncodeToString(sum[:])}
	for i, e := range exprs {
		group, err := schema.ParseGroupVersion(e.APIVersion)
		if err != nil {
			return nil, fmt.Errorf("exprs[%d].apiVersion: %w", i, err)
		}
		kind := schema.GroupKind{Group: group.Group, Kind: e.Kind}
		if rules.kinds[kind] != nil {
			return nil, fmt.Errorf("exprs[%d]: there are expressions for %s already", i, kind)
		}
		if e.Current == "" {
			return nil, fmt.Errorf("exprs[%d].current: there is no expression", i)
		}
		for _, s := range []struct {
			step
			source string
		}{
			// This order is that of Flux.
			{step{name: "inProgress", state: InProgress}, e.InProgress},
			{step{name: "failed", state: Failed}, e.Failed},
			{step{name: "current", state: Current}, e.Current},
		} {
			if s.source == "" {
				continue
			}
			if s.holds, err = expression.Compile(s.source); err != nil {
				return nil, fmt.Errorf("exprs[%d].%s: %w", i, s.name, err)
			}
			rules.kinds[kind] = append(rules.kinds[kind], s.step)
		}
	}
	return rules, nil
}

// Evaluate says how an object is. Claims of volumes that wait for their first consumer are in progress, as kstatus has it.
func (r *Rules) Evaluate(object *unstructured.Unstructured) Status {
	found, _ := r.assess(object).now(time.Now())
	return found
}

// covers reports whether there are expressions for a kind.
func (r *Rules) covers(kind schema.GroupKind) bool { return r != nil && r.kinds[kind] != nil }

func (r *Rules) same(other *Rules) bool {
	var a, b string
	if r != nil && len(r.kinds) > 0 {
		a = r.digest
	}
	if other != nil && len(other.kinds) > 0 {
		b = other.digest
	}
	return a == b
}

// assess says how an object is and becomes. It never panics: a library that meets odd data must not end the program.
func (r *Rules) assess(object *unstructured.Unstructured) (found assessment) {
	defer func() {
		if recover() != nil {
			found = assessment{Status: Status{InProgress, "its status cannot be read"}}
		}
	}()
	if object.GetDeletionTimestamp() != nil {
		return assessment{Status: Status{InProgress, "it is being deleted"}}
	}
	kind := object.GroupVersionKind().GroupKind()
	if r.covers(kind) {
		return assessment{Status: byExpressions(r.kinds[kind], object)}
	}
	if kind == (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		// As in Flux: one that runs is not healthy yet, where kstatus alone has it so, and one that is suspended is.
		return byKstatus(object, statusreaders.ComputeJobStatus(object))
	}
	computed, err := status.Compute(object)
	if err != nil {
		return assessment{Status: Status{InProgress, "its status cannot be read"}}
	}
	return byKstatus(object, *computed)
}

// evaluationTimeout bounds the expressions of one object, which are bounded by their cost already.
const evaluationTimeout = time.Second

// byExpressions follows Flux: where an expression cannot be evaluated, because a field is missing yet, those behind it are
// not looked at, and the object is in progress.
func byExpressions(steps []step, object *unstructured.Unstructured) Status {
	observed, ok, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	if err == nil && ok && object.GetGeneration() != 0 && observed != object.GetGeneration() {
		return Status{InProgress, "its controller has not seen its present generation"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), evaluationTimeout)
	defer cancel()
	for _, s := range steps {
		holds, err := s.holds.Holds(ctx, object.Object)
		if err != nil {
			return Status{InProgress, fmt.Sprintf("expression %s: %v", s.name, err)}
		}
		if holds {
			return Status{s.state, fmt.Sprintf("expression %s is true", s.name)}
		}
	}
	return Status{InProgress, "no expression is true"}
}

// byKstatus translates a result of kstatus.
func byKstatus(object *unstructured.Unstructured, result status.Result) assessment {
	message := brief(result.Message)
	switch result.Status {
	case status.CurrentStatus:
		return assessment{Status: Status{Current, message}}
	case status.FailedStatus:
		return assessment{Status: Status{Failed, message}}
	case status.NotFoundStatus:
		return assessment{Status: Status{Missing, message}}
	default:
	}
	found := assessment{Status: Status{InProgress, message}}
	for _, c := range result.Conditions {
		if c.Reason == "PodNotScheduled" {
			// kstatus looks at the clock here, and nothing in the cluster changes when the time has come.
			found.at = object.GetCreationTimestamp().Add(status.ScheduleWindow)
			found.then = Status{Failed, "Pod could not be scheduled"}
		}
	}
	return found
}

// reported says how an object is of a kind whose controller writes both an observed generation and conditions: as long as
// either is missing it has not been looked at, where kstatus calls it current.
func reported(object *unstructured.Unstructured) bool {
	generation, _, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "observedGeneration")
	conditions, _, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "conditions")
	list, _ := conditions.([]any)
	return generation != nil && len(list) > 0
}
