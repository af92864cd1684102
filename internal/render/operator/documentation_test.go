package operator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
)

const repository = "../../.."

// paste creates what a text in YAML has, exactly as it is there.
func (r *rig) paste(t *testing.T, text string) {
	t.Helper()
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if object.GetNamespace() == "" {
			object.SetNamespace(r.Namespace) // as "kubectl apply -n" does
		}
		r.strictly(t, object)
	}
}

// awaitNamespaceGone is for after a test, when its context has ended.
func (r *rig) awaitNamespaceGone(t *testing.T, namespace *corev1.Namespace) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(r.Client.Get(ctx, clientKey(namespace), namespace)), nil
	})
	if err != nil {
		t.Errorf("namespace %s is not gone: %v", namespace.Name, err)
	}
}

// strictly creates an object, with an error for fields that its definition has not.
func (r *rig) strictly(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if err := client.WithFieldValidation(r.Client, metav1.FieldValidationStrict).Create(t.Context(), object); err != nil {
		t.Fatalf("creating %s %s: %v", object.GetKind(), object.GetName(), err)
	}
}

// shownRole is the YAML with the tenant's Role on the page about tenancy.
func shownRole(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(repository, "docs/guides/operator-tenancy.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range strings.Split(string(page), "```yaml\n")[1:] {
		if block, _, _ := strings.Cut(rest, "```\n"); strings.Contains(block, "kind: RoleBinding") {
			return block
		}
	}
	t.Fatal("the page shows no RoleBinding")
	return ""
}

// TestDocumentation_PastedRoleIsEnoughForEveryExample: the operator does for all examples what it has to, with the account
// that the page shows and no other. Each example is strictly what its definition allows.
func TestDocumentation_PastedRoleIsEnoughForEveryExample(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Spec.DefaultServiceAccount = "" })
	r.Namespace = "team-a" // that of the page
	tenants := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}}
	r.Create(t, tenants)
	r.start(t)
	t.Cleanup(func() { // before the operator stops, which has to let its snippets go
		if err := r.Client.Delete(context.Background(), tenants); err != nil {
			t.Error(err)
		}
		r.awaitNamespaceGone(t, tenants)
	})
	r.paste(t, shownRole(t))
	r.gitRepository(t, "shop", r.archives.AddFiles(t, texts{
		"deploy/main.jsonnet": `{ environment: std.extVar('environment') }`,
	}))
	files, err := filepath.Glob(filepath.Join(repository, "examples/operator/*.yaml"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Base(file) == "tenant-role.yaml" {
			continue // it is what the page shows
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r.paste(t, string(text))
	}
	var snippets renderv1.JsonnetSnippetList
	if err := r.Client.List(t.Context(), &snippets, client.InNamespace(r.Namespace)); err != nil || len(snippets.Items) < 5 {
		t.Fatalf("%d snippets, %v", len(snippets.Items), err)
	}
	for i := range snippets.Items {
		r.awaitReason(t, &snippets.Items[i], renderv1.ReasonSynced)
	}
	named := func(name string) *renderv1.JsonnetSnippet {
		i := slices.IndexFunc(snippets.Items, func(s renderv1.JsonnetSnippet) bool { return s.Name == name })
		return &snippets.Items[i]
	}
	r.awaitRendered(t, named("web"), `"replicas": 3`)
	r.awaitRendered(t, named("with-library"), `"text": "hello"`)
	r.awaitRendered(t, named("derived"), `"name": "base"`)
	r.awaitRendered(t, named("from-git"), `"environment": "staging"`)
	if got := r.published(t, named("base")); len(got) != 2 || !strings.Contains(string(got["team.libsonnet"]), "payments") {
		t.Errorf("the artifact of base has %d files", len(got))
	}

	// A change of the ConfigMap is told by a watch as the tenant; "list" is not among its rights.
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: r.Namespace}}
	edit(t, r, settings, func(c *corev1.ConfigMap) { c.Data["environment"] = "production" })
	r.awaitRendered(t, named("from-git"), `"environment": "production"`)

	// An artifact changed by hand is restored, and that of a deleted snippet goes.
	announced := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: r.Namespace}}
	edit(t, r, announced, func(a *sourcev1.ExternalArtifact) { a.Spec.SourceRef = nil })
	r.Await(t, announced, func() error {
		if announced.Spec.SourceRef == nil {
			return fmt.Errorf("it is not restored")
		}
		return nil
	})
	if err := r.Client.Delete(t.Context(), named("web")); err != nil {
		t.Fatal(err)
	}
	r.AwaitGone(t, announced)
	r.AwaitGone(t, named("web"))
}

// TestDocumentation_ShowsTheRoleOfTheTests: the role that all tests of this package act with is the shown one.
func TestDocumentation_ShowsTheRoleOfTheTests(t *testing.T) {
	rights := func(rules []rbacv1.PolicyRule) map[string]bool {
		all := map[string]bool{}
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all[verb+" "+resource+"."+rule.APIGroups[0]] = true
				}
			}
		}
		return all
	}
	var role rbacv1.Role
	for document := range strings.SplitSeq(shownRole(t), "\n---\n") {
		if strings.Contains(document, "\nkind: Role\n") {
			if err := yaml.UnmarshalStrict([]byte(document), &role); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(rights(tenantRules()), rights(role.Rules)); diff != "" {
		t.Errorf("rights (-tests +page):\n%s", diff)
	}
}
