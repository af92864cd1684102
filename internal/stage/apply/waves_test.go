package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/cluster"
)

// definition is a CRD with a group of its own, and group its group.
func definition(t testing.TB, s *site, fields string) (crd *unstructured.Unstructured, group string) {
	t.Helper()
	group = s.Namespace + ".example.com"
	crd = s.object(t, fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "things.%s"},
		spec: {group: %q, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}}]}}`, group, group, fields))
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(s.Client.Delete(context.Background(), crd)); err != nil {
			t.Error(err)
		}
	})
	return crd, group
}

func thing(t testing.TB, s *site, group, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Thing"})
	object.SetNamespace(s.Namespace)
	object.SetName("thing")
	for _, field := range strings.Fields(spec) {
		_ = unstructured.SetNestedField(object.Object, "x", "spec", field)
	}
	return object
}

func TestApply_DefinitionsComeBeforeTheirObjects(t *testing.T) {
	s := newSite(t)
	crd, group := definition(t, s, "a: {type: string}")
	objects := []*unstructured.Unstructured{thing(t, s, group, "a"), crd, s.configMap(t, "one", "1")}
	first := s.apply(t, objects...)
	if got := changes(first); got[crd.GetName()] != "created" || got["one"] != "created" {
		t.Errorf("changes %v, want the definition and what does not depend on it created", got)
	}
	if changes(first)["thing"] == "blocked" && (len(first.Await) != 1 || first.Await[0].ID.Name != crd.GetName()) {
		t.Errorf("awaited is %v, want the definition", first.Await)
	}
	s.until(t, objects, func(result apply.Result) error {
		if got := changes(result)["thing"]; got != "unchanged" {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
}

// TestApply_FieldOfAChangedDefinition: the API server judges by a schema that may be a moment old.
func TestApply_FieldOfAChangedDefinition(t *testing.T) {
	s := newSite(t)
	crd, group := definition(t, s, "a: {type: string}")
	objects := []*unstructured.Unstructured{crd, thing(t, s, group, "a")}
	s.until(t, objects, func(result apply.Result) error {
		if got := changes(result)["thing"]; got != "unchanged" {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
	crd, _ = definition(t, s, "a: {type: string}, b: {type: string}")
	objects = []*unstructured.Unstructured{crd, thing(t, s, group, "a b")}
	s.until(t, objects, func(result apply.Result) error {
		if got := changes(result)["thing"]; got != "unchanged" {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
	if b, _, _ := unstructured.NestedString(s.read(t, objects[1]).Object, "spec", "b"); b != "x" {
		t.Errorf("the new field is %q", b)
	}
}

func TestApply_UnknownKindIsNamed(t *testing.T) {
	s := newSite(t)
	_, err := s.try(t, thing(t, s, "missing.example.com", "a"))
	if err == nil || !strings.Contains(err.Error(), "the cluster has no kind Thing in missing.example.com/v1") {
		t.Errorf("error %v does not name the kind", err)
	}
}

func TestApply_MissingNamespaceIsNamed(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	object.SetNamespace("there-is-no-such-namespace")
	_, err := s.try(t, object)
	if err == nil || !strings.Contains(err.Error(), "namespace there-is-no-such-namespace does not exist") {
		t.Errorf("error %v does not name the namespace", err)
	}
}

func TestApply_NamespaceAndWhatIsInIt(t *testing.T) {
	s := newSite(t)
	name := s.Namespace + "-more"
	namespace := s.object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+", finalizers: [example.com/hold]}}")
	inside := s.configMap(t, "one", "1")
	inside.SetNamespace(name)
	objects := []*unstructured.Unstructured{inside, namespace}
	wantChanges(t, s.apply(t, objects...), map[string]string{name: "created", "one": "created"})

	t.Log("while it is being deleted, what is new waits for it")
	for _, object := range []*unstructured.Unstructured{namespace, inside} { // the latter as the namespace controller does
		if err := s.Client.Delete(t.Context(), s.read(t, object)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err := s.Client.Patch(context.Background(), namespace.DeepCopy(), free); err != nil {
			t.Error(err)
		}
	})
	second := s.configMap(t, "two", "1")
	second.SetNamespace(name)
	s.until(t, append(objects, second), func(result apply.Result) error {
		got := changes(result)
		if got[name] != "blocked" || got["one"] != "blocked" || got["two"] != "blocked" {
			return fmt.Errorf("changes are %v", got)
		}
		if len(result.Await) != 1 || result.Await[0].ID.Name != name {
			return fmt.Errorf("awaited is %v, want the namespace", result.Await)
		}
		return nil
	})
}

func TestApply_MostObjectsAtATime(t *testing.T) {
	s := newSite(t)
	var objects []*unstructured.Unstructured
	for i := range 25 {
		objects = append(objects, s.configMap(t, fmt.Sprintf("c%02d", i), "1"))
	}
	s.most = 10
	for round, want := range []struct {
		created int
		more    bool
	}{{10, true}, {10, true}, {5, false}, {0, false}} {
		result := s.apply(t, objects...)
		created := 0
		for _, change := range changes(result) {
			if change == "created" {
				created++
			}
		}
		if created != want.created || result.More != want.more {
			t.Errorf("round %d: created %d, more %v; want %v", round, created, result.More, want)
		}
	}
}

func TestApply_AsATenant(t *testing.T) {
	for name, test := range map[string]struct {
		verbs []string
		want  cluster.DeniedError
		text  string
	}{
		"nothing at all": {
			want: cluster.DeniedError{Verb: "list", Resource: "configmaps"},
			text: "ServiceAccount shop/deployer may not list configmaps in namespace ",
		},
		"reading": {
			verbs: []string{"get", "list"},
			want:  cluster.DeniedError{Verb: "patch", Resource: "configmaps"},
			text:  "ServiceAccount shop/deployer may not patch configmaps in namespace ",
		},
		"reading and changing": {
			verbs: []string{"get", "list", "patch"},
			want:  cluster.DeniedError{Verb: "create", Resource: "configmaps"},
			text:  "ServiceAccount shop/deployer may not create configmaps in namespace ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			var rules []rbacv1.PolicyRule
			if len(test.verbs) > 0 {
				rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: test.verbs})
			}
			s.act(t, s.NewTenant(t, "deployer", rules...).Config, "ServiceAccount shop/deployer")
			object := s.configMap(t, "one", "1")
			_, err := cluster.Survey(t.Context(), s.cluster, s.owner, []cluster.Scope{{Kind: object.GroupVersionKind(), Namespace: s.Namespace}})
			if err == nil {
				_, err = s.try(t, object)
			}
			denied := wantError[*cluster.DeniedError](t, err)
			if denied.Identity != "ServiceAccount shop/deployer" || denied.Verb != test.want.Verb || denied.Resource != test.want.Resource ||
				!strings.Contains(err.Error(), test.text) {
				t.Errorf("error %q: verb %s, resource %s", err, denied.Verb, denied.Resource)
			}
		})
	}
}

func TestApply_WithTheRightsItNeeds(t *testing.T) {
	s := newSite(t)
	s.act(t, s.NewTenant(t, "deployer", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "patch", "create"},
	}).Config, "ServiceAccount shop/deployer")
	wantChanges(t, s.apply(t, s.configMap(t, "one", "1")), map[string]string{"one": "created"})
	wantChanges(t, s.apply(t, s.configMap(t, "one", "2")), map[string]string{"one": "configured"})
}

func TestApply_RefusedByAdmission(t *testing.T) {
	s := newSite(t)
	s.Create(t, s.object(t, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/configmaps: 0}}}"))
	_, err := s.try(t, s.configMap(t, "one", "1"))
	if err == nil || strings.Contains(err.Error(), "may not") {
		t.Fatalf("error %v, want one about the quota", err)
	}
	if _, err := s.try(t, s.object(t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /v}]}]}}")); err == nil {
		t.Fatal("a wrong object was taken")
	} else {
		wantError[*apply.RefusedError](t, err)
	}
}

func TestApply_AggregatesWhatFails(t *testing.T) {
	s := newSite(t)
	wrong := func(name string) *unstructured.Unstructured {
		return s.object(t, "{apiVersion: v1, kind: Service, metadata: {name: "+name+"}, spec: {type: Wrong, ports: [{port: 80}]}}")
	}
	result, err := s.try(t, s.configMap(t, "one", "1"), wrong("a"), wrong("b"), wrong("c"))
	refused := wantError[*apply.RefusedError](t, err)
	if refused.More > 2 || changes(result)["one"] != "created" {
		t.Errorf("error %q, changes %v: what was done before is told, and what failed is counted", err, changes(result))
	}
}

// TestApply_VersionThatIsNotDefined: nothing that is waited for would bring it.
func TestApply_VersionThatIsNotDefined(t *testing.T) {
	s := newSite(t)
	crd, group := definition(t, s, "a: {type: string}")
	object := thing(t, s, group, "a")
	object.SetAPIVersion(group + "/v2")
	result, err := s.try(t, crd, object)
	want := fmt.Sprintf("%s serves no version v2", crd.GetName())
	if err == nil || !strings.Contains(err.Error(), want) || len(result.Await) > 0 {
		t.Errorf("error %v and awaited %v, want %q and nothing", err, result.Await, want)
	}
}
