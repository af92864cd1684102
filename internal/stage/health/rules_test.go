package health

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = object.UnmarshalJSON(encoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func compile(t testing.TB, exprs ...stagesv1.HealthExpressions) *Rules {
	t.Helper()
	rules, err := Compile(exprs)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestEvaluate_FollowsKstatus(t *testing.T) {
	const (
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, generation: 2}\n"
		healthy    = "status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: " +
			"[{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]}\n"
		job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
	)
	old := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	for name, c := range map[string]struct {
		object string
		want   Status
	}{
		"ConfigMap":             {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}", Status{Current, "Resource is always ready"}},
		"Deployment":            {deployment + "spec: {replicas: 1}\n" + healthy, Status{Current, "Deployment is available. Replicas: 1"}},
		"Deployment unseen":     {deployment + strings.Replace(healthy, "observedGeneration: 2", "observedGeneration: 1", 1), Status{InProgress, "Deployment generation is 2, but latest observed generation is 1"}},
		"Deployment new":        {deployment, Status{InProgress, "Replicas: 0/1"}},
		"Deployment overdue":    {deployment + "status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}", Status{Failed, "Progress deadline exceeded"}},
		"Deployment deleted":    {strings.Replace(deployment, "{name: a", "{deletionTimestamp: '2026-01-01T00:00:00Z', name: a", 1) + healthy, Status{InProgress, "it is being deleted"}},
		"Job running":           {job + "status: {startTime: '2026-01-01T00:00:00Z', active: 1}", Status{InProgress, "Job in progress. success:0, active: 1, failed: 0"}},
		"Job complete":          {job + "status: {succeeded: 1, conditions: [{type: Complete, status: 'True'}]}", Status{Current, "Job Completed. succeeded: 1/1"}},
		"Job failed":            {job + "status: {failed: 1, conditions: [{type: Failed, status: 'True'}]}", Status{Failed, "Job Failed. failed: 1/1"}},
		"Job suspended":         {job + "spec: {suspend: true}", Status{Current, "Job is suspended"}},
		"claim pending":         {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nstatus: {phase: Pending}", Status{InProgress, "PVC is not Bound. phase: Pending"}},
		"pod unschedulable":     {"apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: '" + old + "'}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}", Status{Failed, "Pod could not be scheduled"}},
		"pod of odd phase":      {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {phase: Odd}", Status{InProgress, "its status cannot be read"}},
		"pod that panics":       {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {phase: Running, containerStatuses: [x]}", Status{InProgress, "its status cannot be read"}},
		"custom ready":          {"apiVersion: x.io/v1\nkind: Shop\nmetadata: {name: a}\nstatus: {conditions: [{type: Ready, status: 'True'}]}", Status{Current, "Resource is Ready"}},
		"custom not ready":      {"apiVersion: x.io/v1\nkind: Shop\nmetadata: {name: a}\nstatus: {conditions: [{type: Ready, status: 'False', message: \"no\\nmoney\"}]}", Status{InProgress, "no money"}},
		"custom stalled":        {"apiVersion: x.io/v1\nkind: Shop\nmetadata: {name: a}\nstatus: {conditions: [{type: Stalled, status: 'True', message: closed}]}", Status{Failed, "closed"}},
		"odd conditions":        {"apiVersion: x.io/v1\nkind: Shop\nmetadata: {name: a}\nstatus: {conditions: 7}", Status{InProgress, "its status cannot be read"}},
		"status of odd type":    {"apiVersion: x.io/v1\nkind: Shop\nmetadata: {name: a, generation: 1}\nstatus: {observedGeneration: x}", Status{InProgress, "its status cannot be read"}},
		"long message is cut":   {"apiVersion: x.io/v1\nkind: Shop\nmetadata: {name: a}\nstatus: {conditions: [{type: Ready, status: 'False', message: " + strings.Repeat("é", 400) + "}]}", Status{InProgress, strings.Repeat("é", 256) + "…"}},
		"custom without status": {"apiVersion: x.io/v1\nkind: Shop\nmetadata: {name: a}", Status{Current, "Resource is current"}},
	} {
		t.Run(name, func(t *testing.T) {
			object := parse(t, c.object)
			var none *Rules
			for which, rules := range map[string]*Rules{"none": none, "empty": compile(t)} {
				if diff := cmp.Diff(c.want, rules.Evaluate(object)); diff != "" {
					t.Errorf("rules %s: %s", which, diff)
				}
			}
		})
	}
}

func TestEvaluate_Expressions(t *testing.T) {
	rules := compile(t, stagesv1.HealthExpressions{
		APIVersion: "x.io/v1", Kind: "Shop",
		InProgress: "has(status.busy) && status.busy",
		Failed:     "status.phase == 'Broken'",
		Current:    "status.phase == 'Open'",
	})
	for name, c := range map[string]struct {
		status string
		want   Status
	}{
		"current":              {"{phase: Open}", Status{Current, "expression current is true"}},
		"failed":               {"{phase: Broken}", Status{Failed, "expression failed is true"}},
		"in progress first":    {"{phase: Broken, busy: true}", Status{InProgress, "expression inProgress is true"}},
		"neither":              {"{phase: Closed}", Status{InProgress, "no expression is true"}},
		"no field":             {"{}", Status{InProgress, "expression failed: there is no phase"}},
		"no status":            {"null", Status{InProgress, "expression failed: there is no phase"}},
		"without status":       {"", Status{InProgress, "expression inProgress: there is no status.busy"}},
		"of wrong type":        {"{phase: 7}", Status{InProgress, "no expression is true"}},
		"not observed":         {"{phase: Open, observedGeneration: 1}", Status{InProgress, "its controller has not seen its present generation"}},
		"observed as a string": {"{phase: Open, observedGeneration: '1'}", Status{Current, "expression current is true"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: x.io/v2\nkind: Shop\nmetadata: {name: a, generation: 2}\n"
			if c.status != "" {
				text += "status: " + c.status
			}
			object := parse(t, text)
			if diff := cmp.Diff(c.want, rules.Evaluate(object)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEvaluate_TellsNoSecret(t *testing.T) {
	rules := compile(t, stagesv1.HealthExpressions{APIVersion: "v1", Kind: "Secret", Current: "int(stringData.password) > 0"})
	status := rules.Evaluate(parse(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: hunter2}"))
	if status.State != InProgress || strings.Contains(status.Message, "hunter2") {
		t.Errorf("status = %v", status)
	}
}

func TestCompile_NamesThePlace(t *testing.T) {
	good := stagesv1.HealthExpressions{APIVersion: "x.io/v1", Kind: "Shop", Current: "true"}
	for name, c := range map[string]struct {
		edit func(*stagesv1.HealthExpressions)
		want string
	}{
		"current":         {func(e *stagesv1.HealthExpressions) { e.Current = "status." }, "exprs[1].current: "},
		"failed":          {func(e *stagesv1.HealthExpressions) { e.Failed = "status." }, "exprs[1].failed: "},
		"in progress":     {func(e *stagesv1.HealthExpressions) { e.InProgress = "a b" }, "exprs[1].inProgress: "},
		"no current":      {func(e *stagesv1.HealthExpressions) { e.Current = "" }, "exprs[1].current: there is no expression"},
		"API version":     {func(e *stagesv1.HealthExpressions) { e.APIVersion = "a/b/c" }, "exprs[1].apiVersion: "},
		"the same kind":   {func(e *stagesv1.HealthExpressions) { e.Kind = "Shop" }, "exprs[1]: there are expressions for Shop.x.io already"},
		"another version": {func(e *stagesv1.HealthExpressions) { e.Kind, e.APIVersion = "Shop", "x.io/v2" }, "exprs[1]: there are expressions for Shop.x.io already"},
	} {
		bad := good
		bad.Kind = "Cart"
		c.edit(&bad)
		if _, err := Compile([]stagesv1.HealthExpressions{good, bad}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s…", name, err, c.want)
		}
	}
}

func TestRules_SameWhereTheySayTheSame(t *testing.T) {
	e := stagesv1.HealthExpressions{APIVersion: "x.io/v1", Kind: "Shop", Current: "true"}
	other := e
	other.Failed = "false"
	var none *Rules
	for name, c := range map[string]struct {
		a, b *Rules
		want bool
	}{
		"both none":      {none, none, true},
		"none and empty": {none, compile(t), true},
		"equal":          {compile(t, e), compile(t, e), true},
		"none and some":  {none, compile(t, e), false},
		"different":      {compile(t, e), compile(t, other), false},
	} {
		if got := c.a.same(c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAssess_PodThatCannotBeScheduledFailsByTimeAlone(t *testing.T) {
	created := time.Now().Add(-5 * time.Second).Truncate(time.Second)
	pod := parse(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: '"+created.UTC().Format(time.RFC3339)+
		"'}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}")
	var none *Rules
	found := none.assess(pod)
	status, changes := found.now(created.Add(5 * time.Second))
	if status.State != InProgress || changes != 10*time.Second {
		t.Errorf("at first it is %v for %v, want in progress for 10 s", status, changes)
	}
	status, changes = found.now(created.Add(15 * time.Second))
	if status.State != Failed || changes != 0 {
		t.Errorf("later it is %v for %v, want failed", status, changes)
	}
}
