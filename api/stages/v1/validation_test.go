package v1_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// The least that a stage has, and a list of one.
const (
	least  = "name: app, sourceRef: {name: app}"
	stages = "stages: [{" + least + "}]"
)

func stage(fields string) string  { return "stages: [{" + least + ", " + fields + "}]" }
func action(fields string) string { return stage("actions: {pre: [{name: a, " + fields + "}]}") }
func window(fields string) string {
	return stages + ", updateWindows: [{type: Allow, " + fields + "}]"
}

const target = "target: {apiVersion: v1, kind: ConfigMap, name: a}"

// TestStageSet_TheAPIServerRefuses what contradicts itself, and names the field.
func TestStageSet_TheAPIServerRefuses(t *testing.T) {
	e := kubetest.Start(t, v1.AddToScheme)
	const first = "spec.stages[0]"
	for name, c := range map[string]struct {
		spec, want string // want is in the refusal, or "" where the object is accepted
	}{
		"the least": {stages, ""},
		"everything": {`interval: 5s, retryInterval: 1s, timeout: 1m, suspend: true, serviceAccountName: a.b, kubeConfig: {secretRef: {name: prod, key: value}},
			dependsOn: [{name: a, namespace: b, minVersion: 1.0.0, readyExpr: "true"}], decryption: {provider: sops, secretRef: {name: keys}},
			version: {value: 1.0.0, allowDowngrade: true, approvalMode: OnMigrations}, rollbackOnFailure: true, onTimeout: Rollback,
			migrations: [{name: m, from: "*", to: 1.0.0, stage: app, actions: [{name: a, delete: {` + target + `}}]}],
			onRollback: [{name: a, wait: {duration: 1s}}], adoptFrom: [{name: a, namespace: b}], pruneGuard: 'Off', windowScope: All,
			updateWindows: [{type: Deny, schedule: "@daily", duration: 1h, timeZone: UTC}, {type: Allow, from: "2030-01-01T00:00:00Z", to: "2030-01-02T00:00:00Z"}],
			stages: [{name: app, sourceRef: {apiVersion: a.io/v1, kind: Thing, name: a.b, namespace: c}, path: ./a/b, serviceAccountName: x, prune: false,
				timeout: 1s, onTimeout: Hold, patches: [{patch: "a", target: {kind: A}}], postBuild: {substitute: {a: b}, substituteFrom: [{kind: Secret, name: s, optional: true}]},
				conflictPolicy: {default: Recreate, rules: [{target: {kind: A}, action: KeepExisting}]},
				readyChecks: {timeout: 1s, disableWait: true, checks: [{apiVersion: v1, kind: A, name: "system:b"}], exprs: [{apiVersion: v1, kind: A, current: "true"}]},
				actions: {post: [{name: a, timeout: 1s, retries: 100, http: {url: "https://a", method: POST, expectedStatus: [200]}}], onFailure: [{name: a, job: {sourceRef: {name: a}}}]},
				migrationAnchor: true}]`, ""},
		"no stages":               {"", "spec.stages: Required"},
		"an empty list of stages": {"stages: []", "spec.stages: Invalid value: 0: spec.stages in body should have at least 1 items"},
		"a stage twice":           {"stages: [{" + least + "}, {" + least + "}]", "spec.stages[1]: Duplicate value"},
		"a name in capitals":      {"stages: [{name: App, sourceRef: {name: a}}]", first + ".name"},
		"a long name":             {"stages: [{name: " + strings.Repeat("a", 64) + ", sourceRef: {name: a}}]", first + ".name"},
		"no source":               {"stages: [{name: app}]", first + ".sourceRef: Required"},
		"a source of no name":     {"stages: [{name: app, sourceRef: {}}]", first + ".sourceRef.name: Required"},
		"a source's kind":         {"stages: [{name: app, sourceRef: {name: a, kind: a/b}}]", first + ".sourceRef.kind"},
		"a source's namespace":    {"stages: [{name: app, sourceRef: {name: a, namespace: a/b}}]", first + ".sourceRef.namespace"},
		"a path out":              {stage("path: a/../.."), first + `.path: Invalid value: "a/../..": path is relative and has no ..`},
		"an absolute path":        {stage("path: /a"), first + `.path: Invalid value: "/a": path is relative`},
		"an account":              {stages + ", serviceAccountName: a/b", "spec.serviceAccountName"},
		"a stage's account":       {stage("serviceAccountName: a/b"), first + ".serviceAccountName"},
		"too often":               {stages + ", interval: 4s", `spec.interval: Invalid value: "4s": interval is at least 5s`},
		"an interval of words":    {stages + ", interval: often", "spec.interval"},
		"retried too often":       {stages + ", retryInterval: 1ms", "spec.retryInterval"},
		"no time":                 {stages + ", timeout: 0s", "spec.timeout"},
		"no time for a stage":     {stage("timeout: 0s"), first + ".timeout"},
		"no time for checks":      {stage("readyChecks: {timeout: 0s}"), first + ".readyChecks.timeout"},
		"another guard":           {stages + ", pruneGuard: None", "spec.pruneGuard: Unsupported value"},
		"a guard as YAML's false": {stages + ", pruneGuard: Off", "spec.pruneGuard: Invalid value"},
		"another outcome":         {stages + ", onTimeout: Wait", "spec.onTimeout: Unsupported value"},
		"another scope":           {stages + ", windowScope: Some", "spec.windowScope: Unsupported value"},
		"another provider":        {stages + ", decryption: {provider: vault}", "spec.decryption.provider: Unsupported value"},
		"no kubeconfig":           {stages + ", kubeConfig: {}", "spec.kubeConfig"},
		"two kubeconfigs":         {stages + ", kubeConfig: {secretRef: {name: a}, configMapRef: {name: a}}", "spec.kubeConfig"},
		"a dependency of no name": {stages + `, dependsOn: [{name: ""}]`, "spec.dependsOn[0].name"},
		"force and a default":     {stage("force: true, conflictPolicy: {default: Fail}"), first + ": Invalid value: force and conflictPolicy.default exclude each other"},
		"force and rules":         {stage("force: true, conflictPolicy: {rules: [{target: {kind: A}, action: Fail}]}"), ""},
		"another policy":          {stage("conflictPolicy: {default: Delete}"), first + ".conflictPolicy.default: Unsupported value"},
		"variables of elsewhere":  {stage("postBuild: {substituteFrom: [{kind: Pod, name: a}]}"), first + ".postBuild.substituteFrom[0].kind: Unsupported value"},
		"a check of nothing":      {stage("readyChecks: {checks: [{apiVersion: v1, kind: A}]}"), first + ".readyChecks.checks[0].name: Required"},
		"no current":              {stage("readyChecks: {exprs: [{apiVersion: v1, kind: A}]}"), first + ".readyChecks.exprs[0].current: Required"},
		"an action twice":         {stage("actions: {pre: [{name: a, wait: {duration: 1s}}, {name: a, wait: {duration: 1s}}]}"), first + ".actions.pre[1]: Duplicate value"},
		"an action of nothing":    {action(""), first + ".actions.pre[0]: Invalid value: exactly one of patch, http, wait, job, delete and apply is needed"},
		"an action of two":        {action("wait: {duration: 1s}, delete: {" + target + "}"), first + ".actions.pre[0]: Invalid value: exactly one of"},
		"an action of no time":    {action("timeout: 0s, wait: {duration: 1s}"), first + ".actions.pre[0].timeout"},
		"many retries":            {action("retries: 101, wait: {duration: 1s}"), first + ".actions.pre[0].retries"},
		"another patch":           {action("patch: {" + target + ", type: strategic, patch: a}"), first + ".actions.pre[0].patch.type: Unsupported value"},
		"another URL":             {action("http: {url: ftp://a}"), first + ".actions.pre[0].http.url"},
		"another method":          {action("http: {url: http://a, method: BREW}"), first + ".actions.pre[0].http.method: Unsupported value"},
		"another status":          {action("http: {url: http://a, expectedStatus: [600]}"), first + ".actions.pre[0].http.expectedStatus[0]"},
		"a wait for nothing":      {action("wait: {}"), first + ".actions.pre[0].wait: Invalid value: exactly one of duration and target is needed"},
		"a wait for two":          {action(`wait: {duration: 1s, ` + target + `, expr: "true"}`), first + ".actions.pre[0].wait: Invalid value: exactly one of"},
		"a wait for no condition": {action("wait: {" + target + "}"), first + ".actions.pre[0].wait: Invalid value: target and expr belong together"},
		"another cascade":         {action("delete: {" + target + ", cascade: All}"), first + ".actions.pre[0].delete.cascade: Unsupported value"},
		"no version":              {stages + ", version: {}", "spec.version: Invalid value: exactly one of value, fromObject and fromArtifact is needed"},
		"two versions":            {stages + ", version: {value: 1.0.0, fromArtifact: {stage: app, path: V}}", "spec.version: Invalid value: exactly one of"},
		"another mode":            {stages + ", version: {value: 1.0.0, approvalMode: Maybe}", "spec.version.approvalMode: Unsupported value"},
		"a migration of nothing":  {stages + `, migrations: [{name: m, from: "*", to: 1.0.0, actions: []}]`, "spec.migrations[0].actions"},
		"migrations of two":       {stages + `, migrations: [{name: m, from: "*", to: 1.0.0, actions: [{name: a, wait: {duration: 1s}}]}], migrationsSourceRef: {sourceRef: {name: a}}`, "spec: Invalid value: migrations and migrationsSourceRef exclude each other"},
		"a window of nothing":     {window(""), "spec.updateWindows[0]: Invalid value: either schedule and duration, or from and to"},
		"a window of two":         {window(`schedule: "@daily", duration: 1h, from: "2030-01-01T00:00:00Z"`), "spec.updateWindows[0]: Invalid value: either"},
		"a schedule without end":  {window(`schedule: "@daily"`), "spec.updateWindows[0]: Invalid value: schedule and duration belong together"},
		"a window of no duration": {window(`schedule: "@daily", duration: 0s`), "spec.updateWindows[0].duration: Invalid value"},
		"a window of days":        {window(`schedule: "@daily", duration: 1d`), "spec.updateWindows[0].duration: Invalid value: \"1d\": spec.updateWindows[0].duration in body should match"},
		"a wait of days":          {action("wait: {duration: 1d}"), first + ".actions.pre[0].wait.duration in body should match"},
		"an interval of days":     {stages + ", interval: 1d", `spec.interval in body should match '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$'`},
		"an interval of ages":     {stages + ", interval: 9999999999h", "spec.interval: Invalid value"},
		"a number for a timeout":  {stages + ", timeout: 300", "spec.timeout: Invalid value"},
		"a wait of no duration":   {action("wait: {duration: 0s}"), first + ".actions.pre[0].wait.duration: Invalid value"},
		"a time in small letters": {window(`from: "2030-01-01t00:00:00z", to: "2030-01-02T00:00:00Z"`), "spec.updateWindows[0].from: Invalid value"},
		"a time of another zone":  {window(`from: "2030-01-01T00:00:00Z", to: "2030-01-02T00:00:00+99:00"`), "spec.updateWindows[0].to: Invalid value"},
		"times of other zones":    {window(`from: "2030-01-01T00:00:00.5-11:30", to: "2030-01-02T00:00:00+14:00"`), ""},
		"another window":          {stages + `, updateWindows: [{type: Maybe, schedule: "@daily", duration: 1h}]`, "spec.updateWindows[0].type: Unsupported value"},
		"an unknown field":        {stages + ", steps: []", `unknown field "spec.steps"`},
	} {
		t.Run(name, func(t *testing.T) { checkVerdict(t, e, "StageSet", c.spec, c.want) })
	}
}

func TestImageVerificationPolicy_TheAPIServerRefuses(t *testing.T) {
	e := kubetest.Start(t, v1.AddToScheme)
	const key, images = "authorities: [{key: {publicKey: pem}}]", "images: ['ghcr.io/a/**']"
	keyless := func(fields string) string { return images + ", authorities: [{keyless: {" + fields + "}}]" }
	for name, c := range map[string]struct{ spec, want string }{
		"a key":                {images + ", skip: ['ghcr.io/a/b'], " + key, ""},
		"an identity":          {keyless("issuer: a, subject: b"), ""},
		"a pattern":            {keyless("issuerRegExp: a, subjectRegExp: b"), ""},
		"no images":            {key, "spec.images: Required"},
		"an empty list":        {"images: [], " + key, "spec.images"},
		"an empty image":       {"images: [''], " + key, "spec.images[0]"},
		"nobody":               {images, "spec.authorities: Required"},
		"an authority of none": {images + ", authorities: [{}]", "spec.authorities[0]: Invalid value: exactly one of keyless and key is needed"},
		"an authority of two":  {images + ", authorities: [{key: {publicKey: a}, keyless: {issuer: a, subject: b}}]", "spec.authorities[0]: Invalid value: exactly one of"},
		"no issuer":            {keyless("subject: b"), "spec.authorities[0].keyless: Invalid value: exactly one of issuer and issuerRegExp is needed"},
		"two subjects":         {keyless("issuer: a, subject: b, subjectRegExp: b"), "spec.authorities[0].keyless: Invalid value: exactly one of subject and subjectRegExp is needed"},
	} {
		t.Run(name, func(t *testing.T) { checkVerdict(t, e, "ImageVerificationPolicy", c.spec, c.want) })
	}
}

func TestStageInventory_TheAPIServerRefuses(t *testing.T) {
	e := kubetest.Start(t, v1.AddToScheme)
	for name, c := range map[string]struct{ spec, want string }{
		"nothing":             {"", ""},
		"entries":             {"stagePosition: 2, entries: [{id: a_b__ConfigMap, v: v1, uid: u, fp: f}, {id: a_b__ConfigMap, v: v1}]", ""},
		"a negative position": {"stagePosition: -1", "spec.stagePosition"},
		"an entry of no id":   {"entries: [{v: v1}]", "spec.entries[0].id: Required"},
		"an entry of no API":  {"entries: [{id: a}]", "spec.entries[0].v: Required"},
		"a long id":           {"entries: [{v: v1, id: " + strings.Repeat("a", 1025) + "}]", "spec.entries[0].id"},
	} {
		t.Run(name, func(t *testing.T) { checkVerdict(t, e, "StageInventory", c.spec, c.want) })
	}
}

// checkVerdict asks the API server without storing anything, and compares what it says.
func checkVerdict(t *testing.T, e *kubetest.Env, kind, spec, want string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("spec: {"+spec+"}"), &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(kind))
	object.SetName("test")
	if kind != "ImageVerificationPolicy" {
		object.SetNamespace(e.Namespace)
	}
	err := client.WithFieldValidation(e.Client, metav1.FieldValidationStrict).Create(t.Context(), object, client.DryRunAll)
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err):
		t.Errorf("error = %v, want a refusal that says %q", err, want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refusal %q does not say %q", err, want)
	}
}

func TestStageSet_NamesAreLabels(t *testing.T) {
	e := kubetest.Start(t, v1.AddToScheme)
	for length, ok := range map[int]bool{63: true, 64: false} {
		set := &v1.StageSet{
			ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", length), Namespace: e.Namespace},
			Spec:       v1.StageSetSpec{Stages: []v1.Stage{{Name: "app", SourceRef: v1.SourceReference{Name: "a"}}}},
		}
		err := e.Client.Create(t.Context(), set, client.DryRunAll)
		if ok != (err == nil) || (!ok && !strings.Contains(err.Error(), "the name has at most 63 characters")) {
			t.Errorf("%d characters: %v", length, err)
		}
	}
}

// TestStageSet_Defaults are those of the API server, and reach the Go type.
func TestStageSet_Defaults(t *testing.T) {
	e := kubetest.Start(t, v1.AddToScheme)
	set := &v1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "test"},
		Spec: v1.StageSetSpec{
			Version: &v1.Version{Value: "1.0.0"},
			Stages: []v1.Stage{{Name: "app", SourceRef: v1.SourceReference{Name: "a"}, Actions: &v1.StageActions{Pre: []v1.Action{
				{Name: "p", Patch: &v1.PatchAction{Target: v1.ObjectReference{APIVersion: "v1", Kind: "A", Name: "a"}, Patch: "{}"}},
				{Name: "h", HTTP: &v1.HTTPAction{URL: "https://a"}},
				{Name: "d", Delete: &v1.DeleteAction{Target: v1.ObjectReference{APIVersion: "v1", Kind: "A", Name: "a"}}},
			}}}},
		},
	}
	e.Create(t, set)
	e.Await(t, set, func() error { return nil })
	s := set.Spec.Stages[0]
	pre := s.Actions.Pre
	got := map[string]any{
		"pruneGuard": set.Spec.PruneGuard, "windowScope": set.Spec.WindowScope, "approvalMode": set.Spec.Version.ApprovalMode,
		"kind": s.SourceRef.Kind, "path": s.Path, "prune": s.Prune != nil && *s.Prune,
		"type": pre[0].Patch.Type, "method": pre[1].HTTP.Method, "cascade": pre[2].Delete.Cascade,
	}
	want := map[string]any{
		"pruneGuard": v1.PruneGuardDefault, "windowScope": v1.WindowScopeUpdates, "approvalMode": v1.ApprovalNever,
		"kind": "ExternalArtifact", "path": "./", "prune": true, "type": "merge", "method": "GET", "cascade": "Background",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStageSet_StatusIsStored with all that a run needs, and spec and status do not overwrite each other.
func TestStageSet_StatusIsStored(t *testing.T) {
	e := kubetest.Start(t, v1.AddToScheme)
	set := &v1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "test"},
		Spec:       v1.StageSetSpec{Stages: []v1.Stage{{Name: "app", SourceRef: v1.SourceReference{Name: "a"}}}},
	}
	e.Create(t, set)
	now := metav1.NewMicroTime(time.Now().Truncate(time.Microsecond))
	revisions := []v1.StageRevision{{Stage: "app", Revision: "r", Digest: "d", URL: "u", Inputs: "i"}}
	status := v1.StageSetStatus{
		ObservedGeneration: 1,
		Run: &v1.Run{
			ID: "1", Generation: 1, StartedAt: now, Revisions: revisions, Stage: "app", Step: v1.StepWait, Since: &now, Deadline: &now,
			Intents: []v1.Intent{{Effect: "Recreate", Object: "a", UID: "u"}},
		},
		LastApplied: &v1.Snapshot{ID: "0", Revisions: revisions},
		Stages:      []v1.StageStatus{{Name: "app", Phase: v1.PhaseWaiting, AppliedRevision: "r", Entries: 3, Shards: 1, Since: &now, Blocker: "b", Message: "m", Held: []string{"h"}}},
	}
	set.Status, set.Spec.Suspend = *status.DeepCopy(), true
	if err := e.Client.Status().Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	e.Await(t, set, func() error { return nil })
	sameTime := cmp.Comparer(func(a, b metav1.MicroTime) bool { return a.Time.Equal(b.Time) })
	if diff := cmp.Diff(status, set.Status, sameTime); diff != "" || set.Spec.Suspend {
		t.Errorf("suspended %t, status (-want +got):\n%s", set.Spec.Suspend, diff)
	}
	set.Status.Stages[0].Phase = "Lost"
	if err := e.Client.Status().Update(t.Context(), set); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.stages[0].phase: Unsupported value") {
		t.Errorf("another phase: %v", err)
	}
}

// TestKinds_Columns are what kubectl get shows.
func TestKinds_Columns(t *testing.T) {
	e := kubetest.Start(t, v1.AddToScheme)
	set := &v1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "test"},
		Spec:       v1.StageSetSpec{Stages: []v1.Stage{{Name: "app", SourceRef: v1.SourceReference{Name: "a"}}}},
	}
	e.Create(t, set, &v1.StageInventory{ObjectMeta: metav1.ObjectMeta{
		Name: "test", Labels: map[string]string{v1.NameLabel: "shop", v1.StageLabel: "app"},
	}})
	set.Status = v1.StageSetStatus{
		Run:        &v1.Run{ID: "1", StartedAt: metav1.NowMicro(), Stage: "app"},
		Conditions: []metav1.Condition{{Type: "Ready", Status: "Unknown", Reason: "StageProgressing", Message: "m", LastTransitionTime: metav1.Now()}},
	}
	if err := e.Client.Status().Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	for resource, want := range map[string]map[string]any{
		"stagesets":        {"Name": "test", "Ready": "Unknown", "Reason": "StageProgressing", "Stage": "app", "Message": "m"},
		"stageinventories": {"Name": "test", "StageSet": "shop", "Stage": "app"},
	} {
		got := columns(t, e, resource)
		if _, ok := got["Age"]; !ok {
			t.Errorf("%s: no age", resource)
		}
		delete(got, "Age")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", resource, diff)
		}
	}
}

// columns returns the first row of the table of a resource.
func columns(t *testing.T, e *kubetest.Env, resource string) map[string]any {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(e.Config)
	if err != nil {
		t.Fatal(err)
	}
	body, err := clientset.RESTClient().Get().AbsPath("/apis/stages.stagewright.dev/v1/namespaces", e.Namespace, resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(context.Background()).Raw()
	var table metav1.Table
	if err == nil {
		err = json.Unmarshal(body, &table)
	}
	if err != nil || len(table.Rows) != 1 {
		t.Fatalf("%s: %d rows, %v", resource, len(table.Rows), err)
	}
	row := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		row[column.Name] = table.Rows[0].Cells[i]
	}
	return row
}
