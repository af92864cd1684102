package stageset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
	"github.com/stagewright/stagewright/internal/stageset/validate"
)

const examples = "../../examples/stages"

// example returns the objects of an example, in a namespace.
func example(t *testing.T, file, namespace string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, file))
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(strings.ReplaceAll(string(text), "team-a", namespace), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		object.SetNamespace(namespace)
		objects = append(objects, object)
	}
	return objects
}

func exampleFiles(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil || len(found) < 10 {
		t.Fatalf("%d examples, %v", len(found), err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found
}

// TestExamples_AreWhatTheDefinitionsAllow, strictly, and nothing in them waits for a later release.
func TestExamples_AreWhatTheDefinitionsAllow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	strict := client.WithFieldValidation(r.Client, metav1.FieldValidationStrict)
	for _, file := range exampleFiles(t) {
		for _, object := range example(t, file, r.Namespace) {
			if err := strict.Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Errorf("%s: %s %s: %v", file, object.GetKind(), object.GetName(), err)
				continue
			}
			if object.GetKind() != "StageSet" {
				continue
			}
			set := &stagesv1.StageSet{}
			encoded, err := object.MarshalJSON()
			if err == nil {
				err = yaml.Unmarshal(encoded, set)
			}
			if err != nil {
				t.Fatal(err)
			}
			if problems := append(validate.Validate(set, validate.Rules{NoCrossNamespaceRefs: true}), validate.Unsupported(set)...); len(problems) > 0 {
				t.Errorf("%s: %v", file, problems)
			}
		}
	}
}

// gitRepository announces files as a GitRepository.
func (r *rig) gitRepository(t *testing.T, name string, files map[string]string) {
	t.Helper()
	source := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Name: name}}
	source.Spec.URL = "https://git.example.com/" + name
	source.Spec.Interval.Duration = time.Minute
	r.Create(t, source)
	source.Status.Artifact = r.archives.AddFiles(t, files)
	meta.SetStatusCondition(&source.Status.Conditions, metav1.Condition{Type: "Ready", Status: "True", Reason: "Succeeded"})
	if err := r.Client.Status().Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
}

// rendered announces what a JsonnetSnippet would publish, as the renderer does.
func (r *rig) rendered(t *testing.T, snippet, manifest string) {
	t.Helper()
	source := r.publish(t, snippet, manifest)
	edit(t, r, source, func(source *sourcev1.ExternalArtifact) {
		source.Spec.SourceRef = &fluxmeta.NamespacedObjectKindReference{APIVersion: "render.stagewright.dev/v1", Kind: "JsonnetSnippet", Name: snippet}
	})
}

// TestExamples_PastedRoleIsEnough: the controller does for all examples what it has to, with the account that the page shows
// and no other; without ServiceAccount nothing is done by the controller itself.
func TestExamples_PastedRoleIsEnough(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.gitRepository(t, "shop", map[string]string{
		"deploy/database/all.yaml":   deployment("database", 1) + "\n---\n" + configMap("database", "1"),
		"deploy/web/all.yaml":        deployment("web", 1),
		"deploy/reports/all.yaml":    configMap("reports", "1"),
		"deploy/settings/all.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {state: ready}",
		"deploy/catalog/all.yaml":    configMap("catalog", "1"),
		"deploy/archive/all.yaml":    configMap("archive", "1"),
		"deploy/configured/all.yaml": configMap("configured", "${replicas} of ${tier} at ${domain}"),
		"deploy/migrate/all.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: schema}\nspec: {template: {spec: {restartPolicy: Never, " +
			"containers: [{name: main, image: registry.example.com/migrate:1}]}}}",
	})
	r.rendered(t, "store-database", deployment("store-database", 1))
	r.rendered(t, "store-web", deployment("store-web", 1))
	for _, object := range example(t, "tenant-role.yaml", r.Namespace) {
		r.Create(t, object)
	}
	r.start(t)
	var sets []*stagesv1.StageSet
	for _, file := range exampleFiles(t) {
		switch file {
		case "tenant-role.yaml", "remote-cluster.yaml", "adopt-from.yaml": // is there; has no cluster; comes last
			continue
		}
		for _, object := range example(t, file, r.Namespace) {
			r.Create(t, object)
			if object.GetKind() == "StageSet" {
				sets = append(sets, &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: object.GetName(), Namespace: r.Namespace}})
			}
		}
	}
	if len(sets) < 6 {
		t.Fatalf("only %d StageSets", len(sets))
	}
	for _, set := range sets {
		r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	}
	if got, want := r.configMaps(t)["configured"], "1 of frontend at shop.example.com"; got != want {
		t.Errorf("the variables give %q, want %q", got, want)
	}

	// A change of the ConfigMap is told by a watch as the tenant.
	variables := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop-variables", Namespace: r.Namespace}}
	edit(t, r, variables, func(c *corev1.ConfigMap) { c.Data["replicas"] = "3" })
	kubetest.Eventually(t, func(context.Context) error {
		if got := r.configMaps(t)["configured"]; !strings.HasPrefix(got, "3 of") {
			return fmt.Errorf("the variables give %q", got)
		}
		return nil
	})
	r.handOver(t)
}

// handOver plays what adopt-from.yaml tells.
func (r *rig) handOver(t *testing.T) {
	t.Helper()
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "catalog", Namespace: r.Namespace}}
	r.Await(t, kept, func() error { return nil })
	before := kept.UID
	next := &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: "catalog-v2", Namespace: r.Namespace}}
	for _, object := range example(t, "adopt-from.yaml", r.Namespace) {
		r.Create(t, object)
	}
	r.awaitReason(t, next, stagesv1.ReasonSucceeded)
	old := &stagesv1.StageSet{ObjectMeta: metav1.ObjectMeta{Name: "catalog", Namespace: r.Namespace}}
	if err := r.Client.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, old)
	r.Await(t, kept, func() error { return nil })
	if kept.UID != before || kept.Labels[stagesv1.NameLabel] != "catalog-v2" {
		t.Errorf("the object is %s of %v, was %s", kept.UID, kept.Labels, before)
	}
}
