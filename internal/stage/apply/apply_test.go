package apply_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

func TestApply_UnchangedSendsNothing(t *testing.T) {
	s := newSite(t)
	objects := []*unstructured.Unstructured{
		s.configMap(t, "one", "1"),
		s.object(t, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}"),
		s.object(t, "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {password: hunter2}}"),
		s.object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: app}, spec: {replicas: 0, selector: {matchLabels: {app: a}},
			template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: nginx}]}}}}`),
	}
	wantChanges(t, s.apply(t, objects...), map[string]string{
		"one": "created", "web": "created", "key": "created", "app": "created",
	})
	s.requests.take()
	wantChanges(t, s.apply(t, objects...), map[string]string{
		"one": "unchanged", "web": "unchanged", "key": "unchanged", "app": "unchanged",
	})
	wantRequests(t, s, map[string]int{"GET": 4}) // the survey: one list of each kind
}

func TestApply_SendsOnlyWhatIsRenderedAnew(t *testing.T) {
	s := newSite(t)
	s.apply(t, s.configMap(t, "one", "1"), s.configMap(t, "two", "1"))
	s.requests.take()
	result := s.apply(t, s.configMap(t, "one", "1"), s.configMap(t, "two", "2"))
	wantChanges(t, result, map[string]string{"one": "unchanged", "two": "configured"})
	wantRequests(t, s, map[string]int{"GET": 1, "PATCH": 1})
}

func TestApply_CorrectsDrift(t *testing.T) {
	for name, test := range map[string]struct {
		drift func(t *testing.T, s *site, live *unstructured.Unstructured) error
		want  string
	}{
		"a changed field": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				_ = unstructured.SetNestedField(live.Object, "other", "data", "a")
				return s.Client.Update(t.Context(), live)
			},
			want: "configured drift",
		},
		"a removed field": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				unstructured.RemoveNestedField(live.Object, "data", "b")
				return s.Client.Update(t.Context(), live)
			},
			want: "configured drift",
		},
		"a field that somebody else applies by force": {
			drift: func(t *testing.T, s *site, _ *unstructured.Unstructured) error {
				forced := s.object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: mine}}")
				return s.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(forced),
					client.ForceOwnership, client.FieldOwner("somebody"))
			},
			want: "configured drift",
		},
		"a removed label of ours": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				labels := live.GetLabels()
				delete(labels, stagesv1.NameLabel)
				live.SetLabels(labels)
				return s.Client.Update(t.Context(), live)
			},
			want: "configured drift",
		},
		"a changed label of ours": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				labels := live.GetLabels()
				labels[stagesv1.StageLabel] = "other"
				live.SetLabels(labels)
				return s.Client.Update(t.Context(), live)
			},
			want: "configured drift",
		},
		"fields of nobody": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				return s.Client.Patch(t.Context(), live, client.RawPatch(types.MergePatchType,
					[]byte(`{"metadata":{"managedFields":[{}]}}`)))
			},
			want: "configured drift",
		},
		"a deleted object": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				return s.Client.Delete(t.Context(), live)
			},
			want: "created drift",
		},
		"an object made anew by somebody else": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				if err := s.Client.Delete(t.Context(), live); err != nil {
					return err
				}
				return s.Client.Create(t.Context(), s.configMap(t, "one", "other"))
			},
			want: "configured drift",
		},
		"a field of somebody else's": {
			drift: func(t *testing.T, s *site, live *unstructured.Unstructured) error {
				_ = unstructured.SetNestedField(live.Object, "theirs", "data", "c")
				return s.Client.Update(t.Context(), live)
			},
			want: "unchanged",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			object := s.configMap(t, "one", "1")
			s.apply(t, object)
			if err := test.drift(t, s, s.read(t, object)); err != nil {
				t.Fatal(err)
			}
			wantChanges(t, s.apply(t, object), map[string]string{"one": test.want})
			data, _, _ := unstructured.NestedStringMap(s.read(t, object).Object, "data")
			if data["a"] != "1" || data["b"] != "fixed" {
				t.Errorf("data is %v afterwards", data)
			}
			wantChanges(t, s.apply(t, object), map[string]string{"one": "unchanged"})
		})
	}
}

// TestApply_SentButNotRecorded: the process ended after it had sent something else, and the former content is rendered again.
func TestApply_SentButNotRecorded(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	s.apply(t, object)
	changed := s.configMap(t, "one", "2")
	job := s.job(s.survey(t, []*unstructured.Unstructured{changed}), changed)
	s.ahead(t, job)
	if _, err := s.send(t, job); err != nil {
		t.Fatal(err)
	}
	wantChanges(t, s.apply(t, object), map[string]string{"one": "configured"})
	if got, _, _ := unstructured.NestedString(s.read(t, object).Object, "data", "a"); got != "1" {
		t.Errorf("the value is %q, want what was rendered", got)
	}
}

// TestApply_SentInOurNameAndNotRecorded: a controller that leads no more has sent something late.
func TestApply_SentInOurNameAndNotRecorded(t *testing.T) {
	s := newSite(t)
	object := s.configMap(t, "one", "1")
	s.apply(t, object)
	s.applyLate(t, object)
	wantChanges(t, s.apply(t, object), map[string]string{"one": "configured drift"})
	if got, _, _ := unstructured.NestedString(s.read(t, object).Object, "data", "a"); got != "1" {
		t.Errorf("the value is %q, want what was rendered", got)
	}
}
