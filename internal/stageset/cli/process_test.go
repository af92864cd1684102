package cli

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// start starts a stage controller for a namespace and waits until its servers are bound.
func start(t *testing.T, e *kubetest.Env, args ...string) *kubetest.Process {
	t.Helper()
	return startWith(t, e, nil, args...)
}

func startWith(t *testing.T, e *kubetest.Env, environment []string, args ...string) *kubetest.Process {
	t.Helper()
	args = append([]string{
		"--kubeconfig=" + os.Getenv(kubetest.KubeconfigVariable), "--watch-namespaces=" + e.Namespace,
		"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0", "--gate-bind-address=127.0.0.1:0",
		"--enable-webhook=false",
	}, args...)
	environment = append([]string{asProgram + "=1", "POD_NAMESPACE=" + e.Namespace}, environment...)
	return kubetest.StartProcess(t, args, environment, "probes", "gate", "metrics")
}

func stageSet(e *kubetest.Env, name string) *stagesv1.StageSet {
	return &stagesv1.StageSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.Namespace},
		Spec:       stagesv1.StageSetSpec{Suspend: true, Stages: []stagesv1.Stage{{Name: "app", SourceRef: stagesv1.SourceReference{Name: "app"}}}},
	}
}
