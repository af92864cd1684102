package apply_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/pkg/apis/kustomize"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/stage/apply"
)

// secretValue must not be in any error.
const secretValue = "hunter2-hunter2"

// immutables are objects and a change of each that the API server refuses.
var immutables = map[string]struct{ before, after, field string }{
	"the template of a Job": {
		before: `{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: one}]}}}}`,
		after:  `{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: two}]}}}}`,
		field:  "spec.template",
	},
	"the address of a Service": {
		before: `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 80}]}}`,
		after:  `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {clusterIP: None, ports: [{port: 80}]}}`,
		field:  "spec.clusterIPs[0]",
	},
	"the selector of a Deployment": {
		before: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 0, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: one}]}}}}`,
		after:  `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 0, selector: {matchLabels: {app: b}}, template: {metadata: {labels: {app: b}}, spec: {containers: [{name: c, image: one}]}}}}`,
		field:  "spec.selector",
	},
	"the service of a StatefulSet": {
		before: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {replicas: 0, serviceName: a, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: one}]}}}}`,
		after:  `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {replicas: 0, serviceName: b, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: one}]}}}}`,
		field:  "spec",
	},
	"the role of a RoleBinding": {
		before: `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: "x"}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}`,
		after:  `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: "x"}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}}`,
		field:  "roleRef",
	},
	"an immutable ConfigMap": {
		before: `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, immutable: true, data: {a: one}}`,
		after:  `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, immutable: true, data: {a: two}}`,
		field:  "data",
	},
	"an immutable Secret": {
		before: `{apiVersion: v1, kind: Secret, metadata: {name: x}, immutable: true, stringData: {a: first-hunter2-hunter2}}`,
		after:  `{apiVersion: v1, kind: Secret, metadata: {name: x}, immutable: true, stringData: {a: hunter2-hunter2}}`,
		field:  "data",
	},
	"the type of a Secret": {
		before: `{apiVersion: v1, kind: Secret, metadata: {name: x}, type: example.com/a, stringData: {a: hunter2-hunter2}}`,
		after:  `{apiVersion: v1, kind: Secret, metadata: {name: x}, type: example.com/b, stringData: {a: hunter2-hunter2}}`,
		field:  "type",
	},
}

func TestApply_ImmutableField(t *testing.T) {
	for name, test := range immutables {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			before, after := s.object(t, test.before), s.object(t, test.after)
			s.apply(t, before)
			old := s.read(t, before)

			t.Log("without a policy it fails, and says what to do")
			_, err := s.try(t, after)
			conflict := wantError[*apply.ConflictError](t, err)
			for _, want := range []string{test.field + " cannot be changed", "set conflictPolicy to Recreate or KeepExisting"} {
				if !strings.Contains(conflict.Error(), want) {
					t.Errorf("error %q lacks %q", conflict, want)
				}
			}
			if strings.Contains(conflict.Error(), "hunter2") {
				t.Errorf("error %q has a secret", conflict)
			}

			t.Log("it is kept by KeepExisting, and asked about once")
			s.policy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictKeepExisting}
			wantChanges(t, s.apply(t, after), map[string]string{"x": "kept"})
			s.requests.take()
			wantChanges(t, s.apply(t, after), map[string]string{"x": "kept"})
			wantRequests(t, s, map[string]int{"GET": 1})

			t.Log("by Recreate it is replaced, but only when that was intended")
			s.policy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictRecreate}
			result := s.apply(t, after)
			wantChanges(t, result, map[string]string{"x": "recreate"})
			if len(result.Intend) != 1 || result.Intend[0].UID != old.GetUID() {
				t.Fatalf("intended is %v, want the object with UID %s", result.Intend, old.GetUID())
			}
			if now := s.read(t, before); now.GetUID() != old.GetUID() || now.GetDeletionTimestamp() != nil {
				t.Fatal("it was deleted before that was intended")
			}
			s.until(t, []*unstructured.Unstructured{after}, func(result apply.Result) error {
				if changes(result)["x"] != "created" {
					return errors.New("it is " + changes(result)["x"])
				}
				return nil
			})
			if now := s.read(t, after); now.GetUID() == old.GetUID() {
				t.Error("it is the old object still")
			}
			// A Deployment's status counts as a change of the object, so this looks at what is sent.
			s.requests.take()
			wantChanges(t, s.apply(t, after), map[string]string{"x": "unchanged"})
			wantRequests(t, s, map[string]int{"GET": 1})
		})
	}
}

func TestApply_RecreateWaitsForAFinalizer(t *testing.T) {
	s := newSite(t)
	s.policy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictRecreate}
	before := s.object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, finalizers: [example.com/hold]}, immutable: true, data: {a: one}}`)
	after := s.object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, immutable: true, data: {a: two}}`)
	s.apply(t, before)
	old := s.read(t, before)
	// Another owner keeps the finalizer, so that applying does not take it away.
	theirs := s.object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, finalizers: [example.com/hold]}}`)
	if err := s.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(theirs), client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	s.apply(t, after)
	for range 2 { // the one that deletes, and one that finds it so
		result := s.apply(t, after)
		wantChanges(t, result, map[string]string{"x": "blocked"})
		if len(result.Await) != 1 || result.Await[0].UID != old.GetUID() {
			t.Fatalf("awaited is %v, want the object with UID %s", result.Await, old.GetUID())
		}
	}
	held := s.read(t, before)
	held.SetFinalizers(nil)
	if err := s.Client.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	wantChanges(t, s.apply(t, after), map[string]string{"x": "created"})
}

func TestApply_RecreateOfAnotherObjectThanIntendedIsIntendedAnew(t *testing.T) {
	s := newSite(t)
	s.policy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictRecreate}
	before := s.object(t, immutables["an immutable ConfigMap"].before)
	after := s.object(t, immutables["an immutable ConfigMap"].after)
	s.apply(t, before)
	s.apply(t, after)
	if err := s.Client.Delete(t.Context(), s.read(t, before)); err != nil {
		t.Fatal(err)
	}
	s.Create(t, before.DeepCopy()) // somebody's
	theirs := s.read(t, before)
	wantChanges(t, s.apply(t, after), map[string]string{"x": "recreate"})
	if now := s.read(t, before); now.GetUID() != theirs.GetUID() {
		t.Error("an object was deleted that nobody intended to delete")
	}
}

func TestApply_RecreatingAClaimWantsConsentToDataLoss(t *testing.T) {
	s := newSite(t)
	claim := func(class string) *unstructured.Unstructured {
		return s.object(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}, spec: {storageClassName: `+class+
			`, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	}
	s.apply(t, claim("one"))
	old := s.read(t, claim("one"))
	for name, policy := range map[string]*stagesv1.ConflictPolicy{
		"default": {Default: stagesv1.ConflictRecreate},
		"rule": {Rules: []stagesv1.ConflictRule{{
			Target: kustomize.Selector{Kind: "PersistentVolumeClaim"}, Action: stagesv1.ConflictRecreate,
		}}},
	} {
		s.policy = policy
		_, err := s.try(t, claim("two"))
		if conflict := wantError[*apply.ConflictError](t, err); !strings.Contains(conflict.Why, "allowDataLoss: true") {
			t.Errorf("%s: error %q does not say what is missing", name, conflict)
		}
	}
	if now := s.read(t, claim("one")); now.GetUID() != old.GetUID() || now.GetDeletionTimestamp() != nil {
		t.Fatal("the claim was deleted without consent")
	}
	s.policy = &stagesv1.ConflictPolicy{Rules: []stagesv1.ConflictRule{{
		Target: kustomize.Selector{Kind: "PersistentVolumeClaim", Name: "x"}, Action: stagesv1.ConflictRecreate, AllowDataLoss: true,
	}}}
	s.until(t, []*unstructured.Unstructured{claim("two")}, func(apply.Result) error {
		now := &corev1.PersistentVolumeClaim{}
		if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(claim("two")), now); err != nil {
			return err
		}
		if *now.Spec.StorageClassName != "two" {
			return errors.New("it is the old claim")
		}
		return nil
	})
}

func TestApply_ObjectThatIsWrongOtherwiseTooIsNotRecreated(t *testing.T) {
	s := newSite(t)
	s.policy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictRecreate}
	before := s.object(t, immutables["the template of a Job"].before)
	s.apply(t, before)
	wrong := s.object(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {backoffLimit: -1,
		template: {spec: {restartPolicy: Never, containers: [{name: c, image: two}]}}}}`)
	_, err := s.try(t, wrong)
	wantError[*apply.RefusedError](t, err)
	if s.read(t, before).GetDeletionTimestamp() != nil || len(s.intended) != 0 {
		t.Error("it would be replaced by an object that is refused")
	}
}

func TestApply_RefusedObjectShowsNoSecret(t *testing.T) {
	for name, test := range map[string]struct {
		manifest string
		secrets  []string
		want     string
	}{
		"a Secret whose data is no base64": {
			manifest: `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {a: "hunter2-hunter2"}}`,
		},
		"a Secret whose data is no text": {
			manifest: `{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: {b: hunter2-hunter2}}}`,
		},
		"a Secret of a type that wants other data": {
			manifest: `{apiVersion: v1, kind: Secret, metadata: {name: x}, type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: "hunter2-hunter2"}}`,
			want:     "data[.dockerconfigjson]",
		},
		"an object with a value that was substituted": {
			manifest: `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {type: hunter2-hunter2, ports: [{port: 80}]}}`,
			want:     "***",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.secrets = []string{secretValue}
			_, err := s.try(t, s.object(t, test.manifest))
			refused := wantError[*apply.RefusedError](t, err)
			for err := error(refused); err != nil; err = errors.Unwrap(err) {
				if strings.Contains(err.Error(), secretValue) {
					t.Errorf("error %q has the secret", err)
				}
			}
			if !strings.Contains(refused.Error(), test.want) {
				t.Errorf("error %q, want %q in it", refused, test.want)
			}
			t.Log(refused)
		})
	}
}

func TestApply_KeepsAConflictPolicyThatChanges(t *testing.T) {
	s := newSite(t)
	before, after := s.object(t, immutables["an immutable ConfigMap"].before), s.object(t, immutables["an immutable ConfigMap"].after)
	s.apply(t, before)
	s.policy = &stagesv1.ConflictPolicy{Default: stagesv1.ConflictKeepExisting}
	s.apply(t, after)
	s.policy = nil
	_, err := s.try(t, after)
	wantError[*apply.ConflictError](t, err)
	wantChanges(t, s.apply(t, before), map[string]string{"x": "verified"})
}
