package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
	"github.com/stagewright/stagewright/internal/stageset/validate"
)

func stageSet(paths ...string) *stagesv1.StageSet {
	set := &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team"}}
	for i, path := range paths {
		set.Spec.Stages = append(set.Spec.Stages, stagesv1.Stage{
			Name: fmt.Sprintf("s%d", i), Path: path, SourceRef: stagesv1.SourceReference{Name: "app"},
		})
	}
	return set
}

// post sends a review as the API server does.
func post(t *testing.T, handler http.Handler, operation admissionv1.Operation, set, old *stagesv1.StageSet) *admissionv1.AdmissionResponse {
	t.Helper()
	raw := func(of *stagesv1.StageSet) runtime.RawExtension {
		if of == nil {
			return runtime.RawExtension{}
		}
		content, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: content}
	}
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Operation: operation, Namespace: "team", Object: raw(set), OldObject: raw(old),
		},
	}
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		t.Fatalf("%d %s: %v", recorder.Code, recorder.Body, err)
	}
	return answer.Response
}

func TestHandler_RefusesAsAnAPIServerDoes(t *testing.T) {
	handler := Handler(Options{Logger: slog.New(slog.DiscardHandler)})
	if r := post(t, handler, admissionv1.Create, stageSet("./"), nil); !r.Allowed || len(r.Warnings) > 0 {
		t.Errorf("a good one: %+v", r)
	}
	r := post(t, handler, admissionv1.Create, stageSet("./", ".."), nil)
	if r.Allowed || r.Result.Code != http.StatusUnprocessableEntity || r.Result.Reason != metav1.StatusReasonInvalid {
		t.Fatalf("answer %+v", r)
	}
	if causes := r.Result.Details.Causes; len(causes) != 1 || causes[0].Field != "spec.stages[1].path" {
		t.Errorf("causes %+v", causes)
	}
	many := post(t, handler, admissionv1.Create, stageSet(strings.Split(strings.Repeat("..,", 63)+"..", ",")...), nil)
	if causes := many.Result.Details.Causes; len(causes) != maxProblems+1 || !strings.Contains(many.Result.Message, "and 44 more") {
		t.Errorf("%d causes: %s", len(causes), many.Result.Message)
	}
}

// TestHandler_NeverLocksAnObject: what became wrong by another flag or release can still be labelled, finalized and mended.
func TestHandler_NeverLocksAnObject(t *testing.T) {
	labelled, deleted := stageSet(".."), stageSet("../..")
	labelled.Labels = map[string]string{"a": "b"}
	now := metav1.Now()
	deleted.DeletionTimestamp = &now
	handler := Handler(Options{Logger: slog.New(slog.DiscardHandler)})
	for name, c := range map[string]struct {
		operation admissionv1.Operation
		set, old  *stagesv1.StageSet
		want      bool
	}{
		"labelled":         {admissionv1.Update, labelled, stageSet(".."), true},
		"being deleted":    {admissionv1.Update, deleted, stageSet(".."), true},
		"deleted":          {admissionv1.Delete, nil, stageSet(".."), true},
		"mended":           {admissionv1.Update, stageSet("./"), stageSet(".."), true},
		"changed to worse": {admissionv1.Update, stageSet("../.."), stageSet(".."), false},
	} {
		if r := post(t, handler, c.operation, c.set, c.old); r.Allowed != c.want {
			t.Errorf("%s: allowed %t", name, r.Allowed)
		}
	}
}

func TestHandler_KnowsTheRulesOfTheInstallation(t *testing.T) {
	set := stageSet("./")
	set.Spec.Stages[0].SourceRef.Namespace = "other"
	set.Namespace = "other" // the request counts, which is for team
	for _, denied := range []bool{true, false} {
		var outcomes []string
		handler := Handler(Options{
			Rules: validate.Rules{NoCrossNamespaceRefs: denied}, Logger: slog.New(slog.DiscardHandler),
			Observe: func(outcome string) { outcomes = append(outcomes, outcome) },
		})
		want := map[bool]string{true: webhookserve.Denied, false: webhookserve.Allowed}[denied]
		if r := post(t, handler, admissionv1.Create, set, nil); r.Allowed == denied || len(outcomes) != 1 || outcomes[0] != want {
			t.Errorf("denied %t: allowed %t, outcomes %v", denied, r.Allowed, outcomes)
		}
	}
}

func TestHandler_WarnsOfLaterWork(t *testing.T) {
	set := stageSet("./")
	set.Spec.RollbackOnFailure = true
	r := post(t, Handler(Options{Logger: slog.New(slog.DiscardHandler)}), admissionv1.Create, set, nil)
	if !r.Allowed || len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "spec.rollbackOnFailure: this release does not") {
		t.Errorf("answer %+v", r)
	}
}

// TestHandler_WhoIsBusyKeepsNobodyWaiting: without a turn in time an object passes with a warning; the controller looks again.
func TestHandler_WhoIsBusyKeepsNobodyWaiting(t *testing.T) {
	v := newValidator(Options{Patience: time.Millisecond})
	giveBack, err := v.turns.Take(t.Context(), "team", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(stageSet(".."))
	if err != nil {
		t.Fatal(err)
	}
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: "team", Object: runtime.RawExtension{Raw: raw},
	}}
	if r := v.handler().Handle(t.Context(), request); !r.Allowed || len(r.Warnings) != 1 {
		t.Errorf("while it is busy: %+v", r)
	}
	giveBack()
	if r := v.handler().Handle(t.Context(), request); r.Allowed {
		t.Error("it is not validated later either")
	}
}

func TestHandler_RefusesWhatIsNoStageSet(t *testing.T) {
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"spec": 1}`)},
	}}
	if r := newValidator(Options{}).handler().Handle(t.Context(), request); r.Allowed || r.Result.Code != http.StatusBadRequest {
		t.Errorf("answer %+v", r)
	}
}
