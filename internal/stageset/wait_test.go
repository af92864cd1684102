package stageset

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

func TestWait_DisableWaitGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", stuck("web"))
	app := r.publish(t, "app", configMap("app", "1"))
	set := stageSet("shop", "base", "app")
	set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{
		DisableWait: true, Checks: []stagesv1.ObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "missing"}},
	}
	r.Create(t, set)
	r.start(t)
	r.awaitApplied(t, set, "app", app)
}

func TestWait_AListedObjectIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("base", "1"))
	app := r.publish(t, "app", configMap("app", "1"))
	set := stageSet("shop", "base", "app")
	set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{
		Checks: []stagesv1.ObjectReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "theirs"}},
	}
	r.Create(t, set)
	r.start(t)
	r.awaitMessage(t, set, stagesv1.ReasonStageProgressing, "theirs")
	replicas, labels := int32(1), map[string]string{"app": "theirs"}
	theirs := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "nginx"}},
		}},
	}}
	r.Create(t, theirs)
	r.awaitApplied(t, set, "app", app)
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs); err != nil || theirs.Labels[stagesv1.NameLabel] != "" {
		t.Errorf("what is only waited for has labels %v, %v", theirs.Labels, err)
	}
}

func TestWait_ExpressionsDecide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("base", "blue"))
	app := r.publish(t, "app", configMap("app", "1"))
	set := stageSet("shop", "base", "app")
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
	set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{Exprs: []stagesv1.HealthExpressions{{
		APIVersion: "v1", Kind: "ConfigMap", Current: "has(metadata.annotations) && metadata.annotations['tested'] == 'yes'",
		Failed: "has(metadata.annotations) && metadata.annotations['tested'] == 'no'",
	}}}
	r.Create(t, set)
	r.start(t)
	tested := func(verdict string) {
		edit(t, r, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "base", Namespace: r.Namespace}}, func(c *corev1.ConfigMap) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, "tested", verdict)
		})
	}
	r.awaitReason(t, set, stagesv1.ReasonStageProgressing)
	tested("no")
	r.awaitReason(t, set, stagesv1.ReasonStageFailed)
	tested("yes")
	r.awaitApplied(t, set, "app", app)
}

func TestWait_AFailedJobFailsItsStage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", `apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 0
  activeDeadlineSeconds: 1
  template:
    spec: {restartPolicy: Never, nodeSelector: {no: where}, containers: [{name: main, image: busybox}]}`)
	r.publish(t, "app", configMap("app", "1"))
	set := stageSet("shop", "base", "app")
	r.Create(t, set)
	r.start(t)
	r.awaitMessage(t, set, stagesv1.ReasonStageFailed, "migrate")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "migrate", Namespace: r.Namespace}}
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
		t.Error(err)
	}
	if _, ok := r.configMaps(t)["app"]; ok {
		t.Error("the stage after the failed one was applied")
	}
}

func TestTimeout_TheMostSpecificOneWins(t *testing.T) {
	second, hour := &metav1.Duration{Duration: time.Second}, &metav1.Duration{Duration: time.Hour}
	for name, c := range map[string]struct {
		checks, stage, spec *metav1.Duration
		want                time.Duration
	}{
		"none":       {want: defaultTimeout},
		"spec":       {spec: hour, want: time.Hour},
		"stage":      {spec: hour, stage: second, want: time.Second},
		"its checks": {spec: second, stage: second, checks: hour, want: time.Hour},
	} {
		set := stageSet("shop", "base")
		set.Spec.Timeout, set.Spec.Stages[0].Timeout = c.spec, c.stage
		if c.checks != nil {
			set.Spec.Stages[0].ReadyChecks = &stagesv1.ReadyChecks{Timeout: c.checks}
		}
		if got := (&scope{set: set}).timeout(&stage{spec: &set.Spec.Stages[0]}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestSteady_WhatBecomesUnhealthyIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", deployment("web", 1))
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	// Another label on the pods than the template's is nobody's field of ours; a template is. So the pod is broken.
	pods := func(ready corev1.ConditionStatus) {
		t.Helper()
		kubetest.Eventually(t, func(ctx context.Context) error {
			var list corev1.PodList
			if err := r.Client.List(ctx, &list, client.InNamespace(r.Namespace)); err != nil {
				return err
			}
			for i := range list.Items {
				pod := &list.Items[i]
				for j := range pod.Status.Conditions {
					if kind := pod.Status.Conditions[j].Type; kind == corev1.PodReady || kind == corev1.ContainersReady {
						pod.Status.Conditions[j].Status = ready
					}
				}
				if err := r.Client.Status().Update(ctx, pod); err != nil {
					return err
				}
			}
			return nil
		})
	}
	pods(corev1.ConditionFalse)
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: r.Namespace}}
	r.Await(t, web, func() error {
		if web.Status.ReadyReplicas > 0 {
			return fmt.Errorf("it is still ready")
		}
		return nil
	})
	r.request(t, set) // as the interval would
	r.awaitMessage(t, set, stagesv1.ReasonStageProgressing, "web")
	pods(corev1.ConditionTrue)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded) // nobody asks: the watch tells
}

func TestSource_OfAProducer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	set := stageSet("shop", "web")
	set.Spec.Stages[0].SourceRef = stagesv1.SourceReference{
		APIVersion: "render.stagewright.dev/v1", Kind: "JsonnetSnippet", Name: "web",
	}
	r.Create(t, set)
	r.start(t)
	r.awaitMessage(t, set, stagesv1.ReasonSourceNotReady, "JsonnetSnippet "+r.Namespace+"/web: no ExternalArtifact")
	artifact := &sourcev1.ExternalArtifact{
		ObjectMeta: metav1.ObjectMeta{Name: "some-name"},
		Spec: sourcev1.ExternalArtifactSpec{SourceRef: &fluxmeta.NamespacedObjectKindReference{
			APIVersion: "render.stagewright.dev/v1", Kind: "JsonnetSnippet", Name: "web",
		}},
	}
	r.Create(t, artifact)
	r.awaitMessage(t, set, stagesv1.ReasonSourceNotReady, "no artifact yet")
	first := r.publish(t, "some-name", configMap("web", "1"))
	r.awaitApplied(t, set, "web", first)
	second := r.publish(t, "some-name", configMap("web", "2"))
	r.awaitApplied(t, set, "web", second)
	if got := r.configMaps(t)["web"]; got != "2" {
		t.Errorf("the value is %q", got)
	}
	// Without its source everything stays, and the condition says what is missing.
	if err := r.Client.Delete(t.Context(), artifact); err != nil {
		t.Fatal(err)
	}
	r.request(t, set)
	r.awaitMessage(t, set, stagesv1.ReasonSourceNotReady, "no ExternalArtifact")
	if got := r.configMaps(t)["web"]; got != "2" {
		t.Errorf("without the source the value is %q", got)
	}
}

func TestSource_AnotherRevisionOfEqualContentWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish(t, "base", configMap("base", "1"), deployment("web", 1))
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.start(t)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	r.wire.quiet(t)
	base := r.archives.AddFiles(t, map[string]string{"all.yaml": configMap("base", "1") + "\n---\n" + deployment("web", 1)})
	base.Revision = "main@sha1:another"
	source := r.announce(t, "base", base)
	r.awaitApplied(t, set, "base", source)
	for _, what := range writes(r.wire.take()) {
		if !strings.Contains(what, "/events") && !strings.Contains(what, "/stagesets/") {
			t.Errorf("a revision with the content that is there has led to %s", what)
		}
	}
}

// TestSource_WhatItTellsIsBounded: a status that is too large could not be written, and nobody would be told why.
func TestSource_WhatItTellsIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := r.archives.AddFiles(t, map[string]string{"all.yaml": configMap("base", "1")})
	at.Revision = strings.Repeat("x", maxReference+1)
	r.announce(t, "base", at)
	set := stageSet("shop", "base")
	r.Create(t, set)
	r.start(t)
	r.awaitMessage(t, set, stagesv1.ReasonSourceNotReady, "base: URL, revision or digest of its artifact has more than 2048 bytes")
	r.publish(t, "base", configMap("base", "1"))
	r.awaitSettled(t, set)
}

func TestSource_ASuspendedOneIsAsItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	repository := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec:       sourcev1.GitRepositorySpec{URL: "https://git.example.com/shop", Suspend: true, Interval: metav1.Duration{Duration: time.Minute}},
	}
	r.Create(t, repository)
	set := stageSet("shop", "base")
	set.Spec.Stages[0].SourceRef = stagesv1.SourceReference{Kind: "GitRepository", Name: "shop"}
	r.Create(t, set)
	r.start(t)
	r.awaitMessage(t, set, stagesv1.ReasonSourceNotReady, "it is suspended and has no artifact")
	repository.Status.Artifact = r.archives.AddFiles(t, map[string]string{"all.yaml": configMap("base", "1")})
	if err := r.Client.Status().Update(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
}

// What a Secret holds must not be told, in whatever way a manifest with it is broken.
func TestSecrets_NoValueIsTold(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	for name, manifest := range map[string]string{
		"yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {value: [${password} }",
		"kind":       "apiVersion: v1\nkind: ${password}\nmetadata: {name: a}",
		"name":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${password}_\"}",
		"field":      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: \"${password}\"}",
		"a label":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: \"${password} !\"}}",
		"no such":    "apiVersion: ${password}/v1\nkind: Thing\nmetadata: {name: a}",
		"namespace":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: \"${password}\"}",
		"expression": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {value: \"${password}${\"}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spans := tracetest.NewInMemoryExporter()
			provider := trace.NewTracerProvider(trace.WithSyncer(spans))
			r := newRig(t, func(o *Options) { o.Tracer = provider.Tracer("test") })
			r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "values"}, StringData: map[string]string{"password": secret}})
			r.publish(t, "base", manifest)
			set := stageSet("shop", "base")
			set.Spec.Stages[0].PostBuild = &stagesv1.PostBuild{SubstituteFrom: []stagesv1.SubstituteReference{{Kind: "Secret", Name: "values"}}}
			r.Create(t, set)
			var (
				mu     sync.Mutex
				logged strings.Builder
			)
			r.logger = funcr.New(func(prefix, args string) {
				mu.Lock()
				defer mu.Unlock()
				logged.WriteString(prefix + args + "\n")
			}, funcr.Options{Verbosity: 4})
			stop := r.start(t)
			r.Await(t, set, func() error {
				for _, condition := range set.Status.Conditions {
					if condition.Type == "Ready" && condition.Status == metav1.ConditionFalse {
						return nil
					}
				}
				return fmt.Errorf("the conditions are %+v", set.Status.Conditions)
			})
			r.awaitEvent(t, set, corev1.EventTypeWarning, reasonOf(set))
			stop()
			var events eventsv1.EventList
			if err := r.Client.List(t.Context(), &events, client.InNamespace(r.Namespace)); err != nil {
				t.Fatal(err)
			}
			mu.Lock() // events are still sent, and logged, after the manager has stopped
			log := logged.String()
			mu.Unlock()
			told := map[string]string{"status": fmt.Sprintf("%+v", set.Status), "log": log, "spans": fmt.Sprintf("%+v", spans.GetSpans())}
			for i := range events.Items {
				told["event"] += events.Items[i].Note
			}
			for where, text := range told {
				if strings.Contains(strings.ToLower(text), secret) {
					t.Errorf("the %s tells it: %s", where, text)
				}
			}
			if len(spans.GetSpans()) == 0 || log == "" {
				t.Error("nothing was traced or logged")
			}
			t.Log(reasonOf(set), set.Status.Conditions[0].Message)
		})
	}
}
