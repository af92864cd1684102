package validate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// read makes a StageSet from the fields of its spec.
func read(t testing.TB, spec string) *stagesv1.StageSet {
	t.Helper()
	set := &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team"}}
	if err := yaml.UnmarshalStrict([]byte("{"+spec+"}"), &set.Spec); err != nil {
		t.Fatal(err)
	}
	return set
}

// The least that a stage has, and a list of one.
const (
	least  = "name: app, sourceRef: {name: app}"
	stages = "stages: [{" + least + "}]"
)

// stage is a spec with one stage of further fields.
func stage(fields string) string { return "stages: [{" + least + ", " + fields + "}]" }

// action is a spec with one action.
func action(fields string) string { return stage("actions: {pre: [{name: a, " + fields + "}]}") }

// window is a spec with one window.
func window(fields string) string { return stages + ", updateWindows: [{type: Allow, " + fields + "}]" }

const target = "target: {apiVersion: v1, kind: ConfigMap, name: a}"

// shown is what is compared of an error: type and field, and the message.
func shown(errs field.ErrorList) []string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	slices.Sort(lines)
	return lines
}

func TestValidate_AcceptsWhatIsGood(t *testing.T) {
	for name, spec := range map[string]string{
		"the least": stages,
		"all of a spec": stages + `, interval: 5s, retryInterval: 1s, timeout: 1s, serviceAccountName: a.b,
			kubeConfig: {secretRef: {name: prod}}, decryption: {provider: sops, secretRef: {name: keys}},
			dependsOn: [{name: a}, {name: a, namespace: other, minVersion: v1.2.3, readyExpr: "dep.status.version == self.status.version"}, {name: shop, namespace: other}, {name: shop.v2}],
			adoptFrom: [{name: a}, {name: shop.v1}, {name: shop, namespace: other}], onRollback: [{name: a, wait: {duration: 1s}}]`,
		"all of a stage": stage(`path: ./a/..b, timeout: 1s, force: true, prune: false, serviceAccountName: x, migrationAnchor: true,
			postBuild: {substitute: {a_B1: x, _: z}, substituteFrom: [{kind: Secret, name: s}]},
			readyChecks: {timeout: 1s, checks: [{apiVersion: apps/v1, kind: Deployment, name: "system:a"}],
				exprs: [{apiVersion: a.io/v1, kind: A, current: "status.ready", failed: "status.x == 1", inProgress: "has(status.y)"}]}`),
		"patches": stage(`patches: [
			{patch: "[{op: add, path: /a, value: null}, {op: move, from: /a, path: /b}, {op: remove, path: /c}]", target: {kind: "Deploy.*", labelSelector: "a in (b)"}},
			{patch: "{a: 1}", target: {name: x}},
			{patch: "{apiVersion: v1, kind: A, metadata: {name: b}}\n---\n{apiVersion: v1, kind: A, metadata: {name: c}, $patch: delete}"}]`),
		"a policy": stage(`conflictPolicy: {default: Recreate, rules: [{target: {kind: PersistentVolumeClaim}, action: Recreate, allowDataLoss: true},
			{target: {kind: PersistentVolumeClaim}, action: KeepExisting}, {target: {kind: .*}, action: Recreate}]}`),
		"a producer":              "stages: [{name: a, sourceRef: {apiVersion: render.stagewright.dev/v1, kind: JsonnetSnippet, name: a, namespace: other}}]",
		"a patch":                 action(`patch: {` + target + `, patch: "{data: {a: b}}"}`),
		"a JSON patch":            action(`patch: {` + target + `, type: json6902, patch: "[{op: test, path: /a, value: 1}]"}`),
		"a call":                  action(`http: {url: "https://a.b/c?d", expectedStatus: [200, 204], headersFrom: [{kind: Secret, name: s}], bodyFrom: {kind: ConfigMap, name: c, key: k}}, timeout: 1s, retries: 3`),
		"a wait":                  action(`wait: {` + target + `, expr: "data.a == 'b'"}`),
		"jobs":                    action(`job: {sourceRef: {kind: Bucket, name: b, namespace: other}, path: a/b}`),
		"a deletion":              action(`delete: {` + target + `}`),
		"an apply":                action(`apply: {sourceRef: {name: b}}`),
		"a version":               stages + `, version: {value: v2}`,
		"a version of an object":  stages + `, version: {fromObject: {stage: app, apiVersion: v1, kind: A, name: b}}`,
		"a version of a file":     stages + `, version: {fromArtifact: {stage: app, path: VERSION}}`,
		"migrations":              stages + `, migrations: [{name: m, from: ">=1.2 <2 || 3.x", to: 2.0.0, stage: app, actions: [{name: a, wait: {duration: 1s}}], down: [{name: a, wait: {duration: 1s}}]}]`,
		"migrations of a source":  stages + `, migrationsSourceRef: {sourceRef: {kind: GitRepository, name: m, namespace: team}, path: ./x}`,
		"a schedule":              window(`schedule: "0 2 * * 1-5", duration: 2h, timeZone: Europe/Berlin`),
		"a schedule by name":      window(`schedule: "@daily", duration: 2h`),
		"the 29th of February":    window(`schedule: "0 0 29 2 *", duration: 2h`),
		"from and to":             window(`from: "2030-01-01T00:00:00Z", to: "2030-01-02T00:00:00+01:00"`),
		"a time zone of no place": window(`schedule: "0 2 * * *", duration: 2h, timeZone: UTC`),
	} {
		t.Run(name, func(t *testing.T) {
			if errs := Validate(read(t, spec), Rules{}); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

// TestValidate_NamesWhatIsWrong: each error has the field's path.
func TestValidate_NamesWhatIsWrong(t *testing.T) {
	const first = "spec.stages[0]."
	for name, c := range map[string]struct{ spec, want string }{
		"no stage":                   {"stages: []", "spec.stages: Required"},
		"a stage twice":              {"stages: [{" + least + "}, {" + least + "}]", `spec.stages[1].name: Duplicate value: "app"`},
		"a stage's name":             {"stages: [{name: A.b, sourceRef: {name: a}}]", first + "name: Invalid"},
		"too often":                  {stages + ", interval: 4s", `spec.interval: Invalid value: "4s": it has to be at least 5s`},
		"retried too often":          {stages + ", retryInterval: 999ms", "spec.retryInterval: Invalid"},
		"no time":                    {stages + ", timeout: 0s", "spec.timeout: Invalid"},
		"no time for a stage":        {stage("timeout: -1s"), first + "timeout: Invalid"},
		"no time for checks":         {stage("readyChecks: {timeout: 0s}"), first + "readyChecks.timeout: Invalid"},
		"an account":                 {stages + ", serviceAccountName: system:admin", "spec.serviceAccountName: Invalid"},
		"an account of a stage":      {stage("serviceAccountName: a/b"), first + "serviceAccountName: Invalid"},
		"no kubeconfig":              {stages + ", kubeConfig: {}", "spec.kubeConfig: Invalid value: exactly one"},
		"a kubeconfig without name":  {stages + `, kubeConfig: {secretRef: {name: ""}}`, "spec.kubeConfig.secretRef.name: Required"},
		"a dependency of no name":    {stages + ", dependsOn: [{namespace: other}]", "spec.dependsOn[0].name: Required"},
		"a dependency in capitals":   {stages + ", dependsOn: [{name: Shop}]", "spec.dependsOn[0].name: Invalid"},
		"itself":                     {stages + ", dependsOn: [{name: shop}]", "spec.dependsOn[0].name: Invalid"},
		"itself by namespace":        {stages + ", dependsOn: [{name: shop, namespace: team}]", "spec.dependsOn[0].name: Invalid"},
		"a dependency twice":         {stages + ", dependsOn: [{name: a}, {name: a, namespace: team}]", `spec.dependsOn[1]: Duplicate value: "team/a"`},
		"a version to depend on":     {stages + ", dependsOn: [{name: a, minVersion: new}]", "spec.dependsOn[0].minVersion: Invalid"},
		"an expression":              {stages + `, dependsOn: [{name: a, readyExpr: "dep.status."}]`, "spec.dependsOn[0].readyExpr: Invalid value: it is not a CEL expression: ERROR: <input>:1:12: Syntax error"},
		"an unknown variable":        {stages + `, dependsOn: [{name: a, readyExpr: "other.x == 1"}]`, "undeclared reference to 'other'"},
		"an expression of no bool":   {stages + `, dependsOn: [{name: a, readyExpr: "'a'"}]`, "spec.dependsOn[0].readyExpr: Invalid"},
		"adopting oneself":           {stages + ", adoptFrom: [{name: shop}]", "spec.adoptFrom[0].name: Invalid"},
		"adopting twice":             {stages + ", adoptFrom: [{name: a}, {name: a}]", "spec.adoptFrom[1]: Duplicate"},
		"a key without name":         {stages + `, decryption: {provider: sops, secretRef: {name: ""}}`, "spec.decryption.secretRef.name: Required"},
		"a source without name":      {`stages: [{name: a, sourceRef: {name: ""}}]`, first + "sourceRef.name: Required"},
		"a producer of no group":     {"stages: [{name: a, sourceRef: {kind: JsonnetSnippet, name: a}}]", first + "sourceRef.apiVersion: Required"},
		"an apiVersion":              {"stages: [{name: a, sourceRef: {apiVersion: a/b/c, kind: X, name: a}}]", first + "sourceRef.apiVersion: Invalid"},
		"a namespace":                {"stages: [{name: a, sourceRef: {name: a, namespace: A_b}}]", first + "sourceRef.namespace: Invalid"},
		"a path out":                 {stage("path: a/../../b"), first + "path: Invalid"},
		"an absolute path":           {stage("path: /etc"), first + "path: Invalid"},
		"a path of Windows":          {stage(`path: 'a\..\b'`), first + "path: Invalid"},
		"force and a default":        {stage("force: true, conflictPolicy: {default: Fail}"), first + "conflictPolicy.default: Invalid"},
		"volumes without consent":    {stage("conflictPolicy: {rules: [{target: {kind: A}, action: Fail}, {target: {kind: PersistentVolumeClaim}, action: Recreate}]}"), first + "conflictPolicy.rules[1].allowDataLoss: Required"},
		"volumes by a pattern":       {stage("conflictPolicy: {rules: [{target: {kind: Persistent.*}, action: Recreate}]}"), first + "conflictPolicy.rules[0].allowDataLoss: Required"},
		"a pattern":                  {stage(`conflictPolicy: {rules: [{target: {name: "("}, action: Fail}]}`), first + "conflictPolicy.rules[0].target.name: Invalid"},
		"a selector":                 {stage(`patches: [{patch: "{}", target: {labelSelector: "a in"}}]`), first + "patches[0].target.labelSelector: Invalid"},
		"a patch of nothing":         {stage(`patches: [{patch: "# none"}]`), first + "patches[0].patch: Required"},
		"a patch that is no YAML":    {stage(`patches: [{patch: "a: [hunter2"}]`), first + "patches[0].patch: Invalid value: it is neither YAML nor JSON"},
		"a patch for nothing":        {stage(`patches: [{patch: "{spec: {}}"}]`), first + "patches[0].patch: Invalid value: without a target it has to name its object"},
		"a JSON patch for nothing":   {stage(`patches: [{patch: "[{op: remove, path: /a}]"}]`), first + "patches[0].target: Required"},
		"an operation":               {stage(`patches: [{patch: "[{op: remove, path: /a}, {op: delete, path: /a}]", target: {kind: A}}]`), `operation 1: op "delete" is none of`},
		"a pointer":                  {stage(`patches: [{patch: "[{op: remove, path: a}]", target: {kind: A}}]`), "operation 0: path is not a JSON pointer"},
		"a value that is missing":    {stage(`patches: [{patch: "[{op: add, path: /a}]", target: {kind: A}}]`), "operation 0: value is missing"},
		"a text as a patch":          {stage(`patches: [{patch: "text", target: {kind: A}}]`), first + "patches[0].patch: Invalid value: it is neither an object nor"},
		"two patches for one target": {stage(`patches: [{patch: "{a: 1}\n---\n{b: 1}", target: {kind: A}}]`), "with a target there is one document, not 2"},
		"a variable":                 {stage(`postBuild: {substitute: {"a-b": hunter2}}`), first + "postBuild.substitute[a-b]: Invalid"},
		"variables from nowhere":     {stage(`postBuild: {substituteFrom: [{kind: Secret, name: A_b}]}`), first + "postBuild.substituteFrom[0].name: Invalid"},
		"a check of no kind":         {stage(`readyChecks: {checks: [{apiVersion: v1, kind: "", name: ""}]}`), first + "readyChecks.checks[0].kind: Required"},
		"a check's expression":       {stage(`readyChecks: {exprs: [{apiVersion: v1, kind: A, current: "a b"}]}`), first + "readyChecks.exprs[0].current: Invalid"},
		"a kind twice":               {stage(`readyChecks: {exprs: [{apiVersion: a.io/v1, kind: A, current: "true"}, {apiVersion: a.io/v2, kind: A, current: "true"}]}`), first + `readyChecks.exprs[1]: Duplicate value: "A.a.io"`},
		"two anchors":                {"stages: [{" + least + ", migrationAnchor: true}, {name: b, sourceRef: {name: b}, migrationAnchor: true}]", "spec.stages[1].migrationAnchor: Invalid"},

		"an action of nothing":    {action("retries: 1"), first + "actions.pre[0]: Invalid value: exactly one of"},
		"an action of two":        {action("wait: {duration: 1s}, delete: {" + target + "}"), first + "actions.pre[0]: Invalid value: exactly one of"},
		"an action twice":         {stage("actions: {onFailure: [{name: a, wait: {duration: 1s}}, {name: a, wait: {duration: 1s}}]}"), first + "actions.onFailure[1].name: Duplicate"},
		"an action after it":      {stage("actions: {post: [{name: a, timeout: 0s, wait: {duration: 1s}}]}"), first + "actions.post[0].timeout: Invalid"},
		"retries":                 {action("retries: 101, wait: {duration: 1s}"), first + "actions.pre[0].retries: Invalid"},
		"a wait of nothing":       {action("wait: {}"), first + "actions.pre[0].wait: Invalid"},
		"a wait of no time":       {action("wait: {duration: 0s}"), first + "actions.pre[0].wait.duration: Invalid"},
		"a wait for no condition": {action("wait: {" + target + "}"), first + "actions.pre[0].wait.expr: Required"},
		"a wait's expression":     {action(`wait: {` + target + `, expr: "1 +"}`), first + "actions.pre[0].wait.expr: Invalid"},
		"a call of a file":        {action(`http: {url: "file:///etc/passwd"}`), first + "actions.pre[0].http.url: Invalid value: it is not a URL"},
		"a call with a password":  {action(`http: {url: "https://me:hunter2@a"}`), first + "actions.pre[0].http.url: Invalid value: it has a user"},
		"a status":                {action(`http: {url: "https://a", expectedStatus: [99]}`), first + "actions.pre[0].http.expectedStatus[0]: Invalid"},
		"an action's path":        {action(`job: {sourceRef: {name: a}, path: ../x}`), first + "actions.pre[0].job.path: Invalid"},
		"an action's source":      {action(`apply: {sourceRef: {name: A_b}}`), first + "actions.pre[0].apply.sourceRef.name: Invalid"},
		"a merge of operations":   {action(`patch: {` + target + `, patch: "[{op: remove, path: /a}]"}`), first + "actions.pre[0].patch.patch: Invalid"},
		"operations of an object": {action(`patch: {` + target + `, type: json6902, patch: "{}"}`), first + "actions.pre[0].patch.patch: Invalid"},
		"a rollback's action":     {stages + ", onRollback: [{name: A, wait: {duration: 1s}}]", "spec.onRollback[0].name: Invalid"},

		"a version":                  {stages + ", version: {value: one}", "spec.version.value: Invalid"},
		"no version":                 {stages + ", version: {}", "spec.version: Invalid"},
		"a version of no stage":      {stages + ", version: {fromArtifact: {stage: b, path: V}}", `spec.version.fromArtifact.stage: Not found: "b"`},
		"an object of no stage":      {stages + ", version: {fromObject: {stage: b, apiVersion: v1, kind: A, name: a}}", "spec.version.fromObject.stage: Not found"},
		"a version outside":          {stages + ", version: {fromArtifact: {stage: app, path: ../V}}", "spec.version.fromArtifact.path: Invalid"},
		"a constraint":               {stages + ", migrations: [{name: m, from: old, to: 1.0.0, actions: [{name: a, wait: {duration: 1s}}]}]", "spec.migrations[0].from: Invalid"},
		"a migration to nowhere":     {stages + `, migrations: [{name: m, from: "*", to: ">1", actions: [{name: a, wait: {duration: 1s}}]}]`, "spec.migrations[0].to: Invalid"},
		"a migration of no stage":    {stages + `, migrations: [{name: m, from: "*", to: 1.0.0, stage: b, actions: [{name: a, wait: {duration: 1s}}]}]`, "spec.migrations[0].stage: Not found"},
		"a migration of nothing":     {stages + `, migrations: [{name: m, from: "*", to: 1.0.0, actions: []}]`, "spec.migrations[0].actions: Required"},
		"a way down":                 {stages + `, migrations: [{name: m, from: "*", to: 1.0.0, actions: [{name: a, wait: {duration: 1s}}], down: [{name: a}]}]`, "spec.migrations[0].down[0]: Invalid"},
		"migrations twice":           {stages + `, migrations: [{name: m, from: "*", to: 1.0.0, actions: [{name: a, wait: {duration: 1s}}]}], migrationsSourceRef: {sourceRef: {name: m}}`, "spec.migrationsSourceRef: Invalid"},
		"migrations from far":        {stages + ", migrationsSourceRef: {sourceRef: {name: m, namespace: other}}", "spec.migrationsSourceRef.sourceRef.namespace: Invalid"},
		"a window of nothing":        {window(""), "spec.updateWindows[0]: Required"},
		"a schedule without end":     {window(`schedule: "@daily"`), "spec.updateWindows[0].duration: Required"},
		"a window without end":       {window(`from: "2030-01-01T00:00:00Z"`), "spec.updateWindows[0].to: Required"},
		"a window without beginning": {window(`to: "2030-01-01T00:00:00Z"`), "spec.updateWindows[0].from: Required"},
		"a window backwards":         {window(`from: "2030-01-02T00:00:00Z", to: "2030-01-01T00:00:00Z"`), "spec.updateWindows[0].to: Invalid"},
		"a schedule and a time":      {window(`schedule: "@daily", duration: 1h, to: "2030-01-01T00:00:00Z"`), "spec.updateWindows[0]: Invalid"},
		"a window of no time":        {window(`schedule: "@daily", duration: 0s`), "spec.updateWindows[0].duration: Invalid"},
		"seconds in a schedule":      {window(`schedule: "0 0 2 * * *", duration: 1h`), "spec.updateWindows[0].schedule: Invalid"},
		"a zone in a schedule":       {window(`schedule: "TZ=", duration: 1h`), "spec.updateWindows[0].schedule: Invalid"},
		"a zone by its other name":   {window(`schedule: "CRON_TZ=UTC 0 2 * * *", duration: 1h`), "spec.updateWindows[0].schedule: Invalid"},
		"every so often":             {window(`schedule: "@every 1h", duration: 1m`), "spec.updateWindows[0].schedule: Invalid"},
		"the 30th of February":       {window(`schedule: "0 0 30 2 *", duration: 1h`), "spec.updateWindows[0].schedule: Invalid"},
		"a time zone":                {window(`schedule: "@daily", duration: 1h, timeZone: Mars/Base`), "spec.updateWindows[0].timeZone: Invalid"},
		"the machine's time zone":    {window(`schedule: "@daily", duration: 1h, timeZone: Local`), "spec.updateWindows[0].timeZone: Invalid"},
		"a path as a time zone":      {window(`schedule: "@daily", duration: 1h, timeZone: ../../etc/passwd`), "spec.updateWindows[0].timeZone: Invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(shown(Validate(read(t, c.spec), Rules{})), "\n")
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("%q shows what is private", got)
			}
			if strings.Contains(got, "Forbidden") {
				t.Errorf("%q: that is said of denied references alone", got)
			}
		})
	}
}

func TestValidate_ManyThingsAtOnce(t *testing.T) {
	got := shown(Validate(read(t, "stages: [{name: app, sourceRef: {name: A}, path: ..}], interval: 1s"), Rules{}))
	if len(got) != 3 {
		t.Errorf("%d errors, want one each of interval, name and path: %v", len(got), got)
	}
}

// TestValidate_DeniesReferencesIntoOtherNamespaces where the installation does.
func TestValidate_DeniesReferencesIntoOtherNamespaces(t *testing.T) {
	set := read(t, `dependsOn: [{name: a, namespace: other}, {name: b, namespace: team}, {name: c}], adoptFrom: [{name: a, namespace: other}],
		stages: [{name: a, sourceRef: {name: a, namespace: other}, actions: {pre: [{name: j, job: {sourceRef: {name: j, namespace: other}}}]}},
			{name: b, sourceRef: {name: a, namespace: team}}]`)
	if errs := Validate(set, Rules{}); len(errs) > 0 {
		t.Errorf("allowed: %v", errs.ToAggregate())
	}
	var got []string
	for _, err := range Validate(set, Rules{NoCrossNamespaceRefs: true}) {
		if err.Type != field.ErrorTypeForbidden {
			t.Errorf("%v is of another type", err)
		}
		got = append(got, err.Field)
	}
	slices.Sort(got)
	want := []string{
		"spec.adoptFrom[0].namespace", "spec.dependsOn[0].namespace",
		"spec.stages[0].actions.pre[0].job.sourceRef.namespace", "spec.stages[0].sourceRef.namespace",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestValidate_BoundsExpressions, each of which takes a while to compile: the same one is compiled once.
func TestValidate_BoundsExpressions(t *testing.T) {
	spec := func(text func(i int) string) *stagesv1.StageSet {
		set := read(t, stages)
		for i := range maxExpressions + 10 {
			set.Spec.DependsOn = append(set.Spec.DependsOn, stagesv1.Dependency{Name: fmt.Sprintf("d%d", i), ReadyExpr: text(i)})
		}
		return set
	}
	if errs := Validate(spec(func(int) string { return "true" }), Rules{}); len(errs) > 0 {
		t.Errorf("the same expression: %v", errs.ToAggregate())
	}
	errs := Validate(spec(func(i int) string { return fmt.Sprintf("1 == %d", i) }), Rules{})
	if len(errs) != 1 || errs[0].Type != field.ErrorTypeTooMany {
		t.Errorf("different ones: %v", errs.ToAggregate())
	}
}

// TestValidate_ExpressionsThatTakeLong to compile are refused before.
func TestValidate_ExpressionsThatTakeLong(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) + " == []" }
	for name, c := range map[string]struct {
		expressions []string
		want        string // "" where they are accepted
	}{
		"nested":        {[]string{nested(maxNesting)}, ""},
		"nested deep":   {[]string{nested(maxNesting + 1)}, "it is not a CEL expression: more than 16 brackets are inside each other"},
		"loops":         {[]string{"[1]" + strings.Repeat(".map(x, [x])", maxLoops) + " == []"}, ""},
		"more loops":    {[]string{"[1]" + strings.Repeat(".map(x, [x])", maxLoops+1) + " == []"}, "there are more than 16 of all, exists, exists_one, map and filter"},
		"long":          {[]string{strings.Repeat("true && ", 500) + "true"}, ""},
		"long together": {[]string{strings.Repeat("true && ", 2000) + "true", strings.Repeat("true || ", 2000) + "true"}, "all different expressions together have more than 16384 bytes"},
		"long errors":   {[]string{strings.Repeat("a && ", 500) + "a"}, "undeclared reference to 'a'"},
	} {
		t.Run(name, func(t *testing.T) {
			set := read(t, stages)
			for i, text := range c.expressions {
				set.Spec.DependsOn = append(set.Spec.DependsOn, stagesv1.Dependency{Name: fmt.Sprintf("d%d", i), ReadyExpr: text})
			}
			errs := Validate(set, Rules{})
			switch {
			case c.want == "" && len(errs) > 0:
				t.Error(errs.ToAggregate())
			case c.want == "":
			case len(errs) != 1 || !strings.Contains(errs[0].Error(), c.want) || len(errs[0].Error()) > 1024:
				t.Errorf("%.2000s, want %q", errs.ToAggregate(), c.want)
			}
		})
	}
}

func TestUnsupported_NamesLaterWork(t *testing.T) {
	if errs := Unsupported(read(t, stages+", onTimeout: Hold, adoptFrom: [{name: a}], pruneGuard: Off, dependsOn: [{name: a, readyExpr: 'true'}]")); len(errs) > 0 {
		t.Errorf("what works is refused: %v", errs.ToAggregate())
	}
	set := read(t, `dependsOn: [{name: a}, {name: b, minVersion: 1.0.0}], decryption: {provider: sops}, version: {value: 1.0.0},
		migrations: [{name: m, from: "*", to: 1.0.0, actions: []}], migrationsSourceRef: {sourceRef: {name: m}},
		rollbackOnFailure: true, onTimeout: Rollback, onRollback: [{name: a}], updateWindows: [{type: Allow}],
		stages: [{name: a, sourceRef: {name: a}, onTimeout: Rollback, actions: {pre: [{name: a}], post: [{name: a}], onFailure: [{name: a}]}}]`)
	var got []string
	for _, err := range Unsupported(set) {
		got = append(got, err.Field)
		if !strings.Contains(err.Detail, "this release does not ") {
			t.Errorf("%v does not say that it is for later", err)
		}
	}
	want := []string{
		"spec.dependsOn[1].minVersion", "spec.decryption", "spec.version", "spec.migrations", "spec.migrationsSourceRef",
		"spec.rollbackOnFailure", "spec.onTimeout", "spec.onRollback", "spec.updateWindows",
		"spec.stages[0].onTimeout", "spec.stages[0].actions.pre", "spec.stages[0].actions.post", "spec.stages[0].actions.onFailure",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func BenchmarkValidate_Expression(b *testing.B) {
	for b.Loop() {
		Validate(read(b, stages+`, dependsOn: [{name: a, readyExpr: "dep.status.version == self.status.version"}]`), Rules{})
	}
}
