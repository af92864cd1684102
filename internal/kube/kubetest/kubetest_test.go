package kubetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPod_CanBeCreatedAtOnceAndBecomesReady(t *testing.T) {
	t.Parallel()
	e := Start(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: podSpec()}
	e.Create(t, pod)
	e.Await(t, pod, func() error {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("the pod's conditions are %v", pod.Status.Conditions)
	})
}

func TestDeployment_BecomesReady(t *testing.T) {
	t.Parallel()
	e := Start(t)
	replicas := int32(2)
	labels := map[string]string{"app": "shop"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()},
		},
	}
	e.Create(t, deployment)
	e.Await(t, deployment, func() error {
		if ready := deployment.Status.ReadyReplicas; ready != replicas {
			return fmt.Errorf("%d of %d replicas are ready", ready, replicas)
		}
		return nil
	})

	if err := e.Client.Delete(t.Context(), deployment, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	e.AwaitGone(t, deployment) // the garbage collector and kwok have removed its pods
	var pods corev1.PodList
	if err := e.Client.List(t.Context(), &pods, client.InNamespace(e.Namespace)); err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods are left, %v", len(pods.Items), err)
	}
}

func TestJob_Completes(t *testing.T) {
	t.Parallel()
	e := Start(t)
	spec := podSpec()
	spec.RestartPolicy = corev1.RestartPolicyNever
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "migrate"},
		Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: spec}},
	}
	e.Create(t, job)
	e.Await(t, job, func() error {
		for _, c := range job.Status.Conditions {
			if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("the job's conditions are %v", job.Status.Conditions)
	})
}

func TestTenant_MayDoWhatItsRoleSaysAndNothingElse(t *testing.T) {
	t.Parallel()
	e := Start(t)
	tenant := e.NewTenant(t, "reader", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"},
	})
	e.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "b"}})

	var settings corev1.ConfigMap
	key := client.ObjectKey{Namespace: e.Namespace, Name: "settings"}
	Eventually(t, func(ctx context.Context) error { return tenant.Client.Get(ctx, key, &settings) }) // roles are cached
	if settings.Data["a"] != "b" {
		t.Errorf("data = %v", settings.Data)
	}

	elsewhere := client.ObjectKey{Namespace: "kube-system", Name: "extension-apiserver-authentication"}
	forbidden := map[string]func() error{
		"reading another kind":         func() error { return tenant.Client.Get(t.Context(), key, &corev1.Secret{}) },
		"writing":                      func() error { return tenant.Client.Delete(t.Context(), &settings) },
		"reading in another namespace": func() error { return tenant.Client.Get(t.Context(), elsewhere, &settings) },
	}
	for name, try := range forbidden {
		if err := try(); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v, want Forbidden", name, err)
		} else if account := "system:serviceaccount:" + e.Namespace + ":reader"; !strings.Contains(err.Error(), account) {
			t.Errorf("%s: %v, want one for %s", name, err, account)
		}
	}
}

func TestTenant_WithoutRulesMayDoNothing(t *testing.T) {
	t.Parallel()
	e := Start(t)
	tenant := e.NewTenant(t, "nobody")
	err := tenant.Client.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(e.Namespace))
	if !apierrors.IsForbidden(err) {
		t.Errorf("listing ConfigMaps: %v, want Forbidden", err)
	}
}

func TestTenant_WrongTokenIsNobody(t *testing.T) {
	t.Parallel()
	e := Start(t)
	tenant := e.NewTenant(t, "reader")
	tenant.Config.BearerToken += "x"
	impostor, err := client.New(tenant.Config, client.Options{Scheme: e.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	err = impostor.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(e.Namespace))
	if !apierrors.IsUnauthorized(err) {
		t.Errorf("listing ConfigMaps: %v, want Unauthorized", err)
	}
}

func TestSources_FluxDefinitionsAreInstalled(t *testing.T) {
	t.Parallel()
	e := Start(t)
	repository := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: sourcev1.GitRepositorySpec{
			URL: "https://git.example.com/shop", Interval: metav1.Duration{Duration: time.Minute},
		},
	}
	e.Create(t, repository)
	repository.Status.Conditions = []metav1.Condition{{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Succeeded", LastTransitionTime: metav1.Now(),
	}}
	if err := e.Client.Status().Update(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	e.Await(t, repository, func() error {
		if len(repository.Status.Conditions) != 1 {
			return fmt.Errorf("conditions = %v", repository.Status.Conditions)
		}
		return nil
	})

	wrong := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Name: "wrong", Namespace: e.Namespace}}
	wrong.Spec.URL = "ftp://git.example.com/shop"
	if err := e.Client.Create(t.Context(), wrong); !apierrors.IsInvalid(err) {
		t.Errorf("creating a repository by ftp: %v, want Invalid", err)
	}
}

func TestStart_NamespaceIsDeletedAfterTheTest(t *testing.T) {
	t.Parallel()
	e := Start(t)
	var inner string
	t.Run("inner", func(t *testing.T) {
		inner = Start(t).Namespace
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: inner}}
		e.Create(t, settings)
	})
	if inner == e.Namespace {
		t.Fatalf("both tests got namespace %s", inner)
	}
	e.AwaitGone(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: inner}})
}

func TestStart_SkipsWithoutControlPlane(t *testing.T) {
	t.Setenv(KubeconfigVariable, "")
	recorder := &skipRecorder{TB: t}
	func() {
		defer func() { _ = recover() }()
		Start(recorder)
	}()
	if !strings.Contains(recorder.message, "make test") {
		t.Errorf("the message is %q, want one that names 'make test'", recorder.message)
	}
}

// skipRecorder notes why a test was skipped and does not skip.
type skipRecorder struct {
	testing.TB
	message string
}

func (r *skipRecorder) Skipf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	panic(r)
}

func TestPoll_TellsTheLastReason(t *testing.T) {
	reason := errors.New("2 of 3 replicas are ready")
	err := poll(t.Context(), 50*time.Millisecond, func(ctx context.Context) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return reason
	})
	if !errors.Is(err, reason) {
		t.Errorf("error = %v, want %v", err, reason)
	}
}

func TestNamespacePrefix_MakesValidNames(t *testing.T) {
	cases := map[string]string{
		"TestDeployment_BecomesReady":    "testdeployment-becomesready-",
		"Test/case_#1 with 'odd' text!":  "test-case-1-with-odd-text-",
		strings.Repeat("Long", 40):       strings.Repeat("long", 14) + "l-",
		"Test" + strings.Repeat("/", 99): "test-",
	}
	for test, want := range cases {
		got := namespacePrefix(test)
		if got != want {
			t.Errorf("namespacePrefix(%q) = %q, want %q", test, got, want)
		}
		if problems := validation.IsDNS1123Label(got + "abcde"); len(problems) > 0 {
			t.Errorf("%q: %v", got+"abcde", problems)
		}
	}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/shop:1"}}}
}
