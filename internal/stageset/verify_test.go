package stageset

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// A policy is for the whole cluster, which tests share, so this one is only in a client's memory.
func TestVerify_APolicyHoldsWhatIsNew(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := stagesv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		choice   choice
		policies []string
		want     string
	}{
		"no policy":                {begin, nil, ""},
		"a policy":                 {begin, []string{"signed"}, stagesv1.ReasonImageUnverified},
		"a run that was let begin": {proceed, []string{"signed"}, ""},
		"nothing new":              {settled, []string{"signed"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			builder := fake.NewClientBuilder().WithScheme(scheme)
			for _, policy := range c.policies {
				builder.WithObjects(&stagesv1.ImageVerificationPolicy{ObjectMeta: metav1.ObjectMeta{Name: policy}})
			}
			controller := &stageSets{client: builder.Build(), options: Options{DefaultInterval: time.Minute}}
			_, err := controller.verify(t.Context(), &scope{set: stageSet("shop", "app"), choice: c.choice})
			if got := reconcile.ReasonOf(err); got != c.want {
				t.Errorf("reason %q, want %q (%v)", got, c.want, err)
			}
		})
	}
}
