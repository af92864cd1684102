package validate

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// FuzzValidate: whatever a spec says, it is judged, and each error has a place in it.
func FuzzValidate(f *testing.F) {
	for _, seed := range []string{
		stages,
		stage(`path: ./a/..b, patches: [{patch: "[{op: add, path: /a, value: null}]", target: {kind: "Deploy.*"}}, {patch: "{a: 1}\n---\n- b"}]`),
		stage(`readyChecks: {exprs: [{apiVersion: a.io/v1, kind: A, current: "status.ready", failed: "has(status.y)"}]}, postBuild: {substitute: {a: b}}`),
		stage(`conflictPolicy: {rules: [{target: {kind: "Persistent.*|(", labelSelector: "a in (b)"}, action: Recreate}]}`),
		action(`patch: {` + target + `, type: json6902, patch: "[{op: test, path: /a, value: 1}]"}`),
		action(`http: {url: "https://a:b@c", headersFrom: [{kind: Secret, name: s}], bodyFrom: {kind: ConfigMap, name: c, key: k}}`),
		stages + `, migrations: [{name: m, from: ">=1.2 <2", to: 2.0.0, actions: [{name: a, wait: {duration: 1s}}]}], dependsOn: [{name: a, readyExpr: "dep.x == self.y"}]`,
		window(`schedule: "0 2 * * 1-5", duration: 2h, timeZone: Europe/Berlin`),
		window(`from: "2030-01-01T00:00:00Z"`),
	} {
		f.Add("{" + seed + "}")
	}
	f.Fuzz(func(t *testing.T, text string) {
		set := &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team"}}
		if err := yaml.Unmarshal([]byte(text), &set.Spec); err != nil {
			return
		}
		for _, err := range append(Validate(set, Rules{NoCrossNamespaceRefs: true}), Unsupported(set)...) {
			if !strings.HasPrefix(err.Field, "spec.") || err.Error() == "" {
				t.Errorf("%q: %v", err.Field, err)
			}
		}
	})
}
