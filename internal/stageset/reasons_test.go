package stageset

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/kubetest"
)

// situation makes a reason of the Ready condition happen.
type situation struct {
	make  func(t *testing.T, r *rig) *stagesv1.StageSet
	words []string // that the message has
	event string   // its type; Warning where it is empty
}

// situations are the reasons of the Ready condition, each with how it comes to be.
func situations() map[string]situation {
	return map[string]situation{
		stagesv1.ReasonSucceeded: {event: corev1.EventTypeNormal, words: []string{"Applied revision main@"}, make: simple},
		stagesv1.ReasonProgressing: {
			event: corev1.EventTypeNormal, words: []string{"Stage two", "is being deleted"}, make: leaving,
		},
		stagesv1.ReasonSuspended: {
			event: corev1.EventTypeNormal, words: []string{"spec.suspend"}, make: changed(func(set *stagesv1.StageSet) { set.Spec.Suspend = true }),
		},
		stagesv1.ReasonInvalidSpec: {
			words: []string{"spec.decryption", "this release does not decrypt files"},
			make:  changed(func(set *stagesv1.StageSet) { set.Spec.Decryption = &stagesv1.Decryption{Provider: "sops"} }),
		},
		stagesv1.ReasonDependencyNotReady: {
			words: []string{"/missing does not exist"}, make: changed(func(set *stagesv1.StageSet) { dependsOn(set, "missing") }),
		},
		stagesv1.ReasonSourceNotReady: {
			words: []string{"stage one", "/missing: it does not exist"},
			make:  changed(func(set *stagesv1.StageSet) { set.Spec.Stages[0].SourceRef.Name = "missing" }),
		},
		stagesv1.ReasonCrossNamespaceRefDenied: {
			words: []string{"spec.stages[0].sourceRef.namespace"},
			make:  changed(func(set *stagesv1.StageSet) { set.Spec.Stages[0].SourceRef.Namespace = "elsewhere" }),
		},
		stagesv1.ReasonArtifactFetchFailed: {words: []string{"stage one", "loading the artifact"}, make: dropped},
		stagesv1.ReasonBuildFailed:         {words: []string{"stage one", "all.yaml"}, make: rendering("kind: [")},
		stagesv1.ReasonApplyFailed: {
			words: []string{"stage one", "spec.selector"},
			make:  rendering("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: half}\nspec: {replicas: 1}"),
		},
		stagesv1.ReasonConflictHeld: {words: []string{"stage one", "/keeper"}, make: contested},
		stagesv1.ReasonPruneHeld: {
			words: []string{"stage one", "kubectl", "annotate stageset", stagesv1.ApprovePruneAnnotation},
			make:  thenRendering("apiVersion: v1\nkind: List\nitems: []", configMap("all", "1")),
		},
		stagesv1.ReasonPruneFailed: {words: []string{"stage one", "kept for the audit"}, make: undeletable},
		stagesv1.ReasonStageProgressing: {
			event: corev1.EventTypeNormal, words: []string{"Stage one waits for", "web"}, make: rendering(stuck("web")),
		},
		stagesv1.ReasonStageFailed: {words: []string{"stage one", "late"}, make: late},
		stagesv1.ReasonAccessDenied: {
			words: []string{"stage one", "/weak may not get configmaps in namespace "}, make: powerless,
		},
		stagesv1.ReasonTeardownFailed: {words: []string{"stage one", "/leaver may not ", "it is given up at"}, make: orphaned},
	}
}

// elsewhere are tests that reach a reason or an event which is not in the table.
func elsewhere() map[string]string {
	return map[string]string{
		stagesv1.ReasonImageUnverified: "TestVerify_APolicyHoldsWhatIsNew",
		stagesv1.EventDriftCorrected:   "TestDrift_IsCorrected",
		stagesv1.EventStageReady:       "TestEvents_TellWhatHasHappened",
		stagesv1.EventPruned:           "TestEvents_TellWhatHasHappened",
		stagesv1.EventReleased:         "TestEvents_TellWhatHasHappened",
		stagesv1.EventObjectsLeft:      "TestEvents_TellWhatHasHappened",
		stagesv1.EventTeardownForced:   "TestEvents_ATeardownThatIsForcedNamesWhatIsLeft",
	}
}

// later are reasons of what this release does not do: specs that ask for it are refused.
func later() map[string]string {
	return map[string]string{
		stagesv1.ReasonDecryptionFailed:           "spec.decryption",
		stagesv1.ReasonUpdateDeferred:             "spec.updateWindows",
		stagesv1.ReasonAwaitingApproval:           "spec.version",
		stagesv1.ReasonQuarantined:                "spec.rollbackOnFailure",
		stagesv1.ReasonActionFailed:               "spec.stages[].actions",
		stagesv1.ReasonMigrationFailed:            "spec.migrations",
		stagesv1.ReasonMigrationSourceNotPinned:   "spec.migrationsSourceRef",
		stagesv1.ReasonMigrationSourceNotVerified: "spec.migrationsSourceRef",
		stagesv1.ReasonMigrationSourceInvalid:     "spec.migrationsSourceRef",
		stagesv1.ReasonInvalidVersion:             "spec.version",
		stagesv1.ReasonDowngradeNotAllowed:        "spec.version",
		stagesv1.ReasonDowngradeRequiresMigration: "spec.version",
		stagesv1.ReasonRolledBack:                 "spec.rollbackOnFailure",
		stagesv1.ReasonRollbackUnavailable:        "spec.rollbackOnFailure",
	}
}

func TestReasons_EachIsReached(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.NoCrossNamespaceRefs = true })
	r.start(t)
	for reason, s := range situations() {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			set := s.make(t, r)
			r.awaitReason(t, set, reason)
			for _, words := range s.words { // a run has several messages, one after the other
				r.awaitMessage(t, set, reason, words)
			}
			kind := s.event
			if kind == "" {
				kind = corev1.EventTypeWarning
			}
			r.awaitEvent(t, set, kind, reason)
		})
	}
}

// The situations are told by their names. Each renders objects of names of its own.
func single(t *testing.T, r *rig, manifests ...string) *stagesv1.StageSet {
	t.Helper()
	name := strings.ToLower(filepath.Base(t.Name()))
	r.publish(t, name, manifests...)
	set := stageSet(name, "one")
	set.Spec.Stages[0].SourceRef.Name = name
	set.Spec.RetryInterval = &metav1.Duration{Duration: time.Minute}
	return set
}

func simple(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	return changed(func(*stagesv1.StageSet) {})(t, r)
}

func changed(change func(*stagesv1.StageSet)) func(*testing.T, *rig) *stagesv1.StageSet {
	return func(t *testing.T, r *rig) *stagesv1.StageSet {
		t.Helper()
		set := single(t, r, configMap(strings.ToLower(filepath.Base(t.Name())), "1"))
		change(set)
		r.Create(t, set)
		return set
	}
}

func rendering(manifests ...string) func(*testing.T, *rig) *stagesv1.StageSet {
	return func(t *testing.T, r *rig) *stagesv1.StageSet {
		t.Helper()
		set := single(t, r, manifests...)
		r.Create(t, set)
		return set
	}
}

func thenRendering(second string, first ...string) func(*testing.T, *rig) *stagesv1.StageSet {
	return func(t *testing.T, r *rig) *stagesv1.StageSet {
		t.Helper()
		set := rendering(first...)(t, r)
		r.awaitReason(t, set, stagesv1.ReasonSucceeded)
		r.publish(t, set.Name, second)
		return set
	}
}

// leaving has lost a stage with an object that is not let go.
func leaving(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	set := single(t, r, configMap("stays", "1"))
	r.publish(t, "two", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: slow, finalizers: [example.com/hold]}")
	set.Spec.Stages = append(set.Spec.Stages, stagesv1.Stage{Name: "two", SourceRef: stagesv1.SourceReference{Name: "two"}})
	r.Create(t, set)
	r.letGoAtTheEnd(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slow", Namespace: r.Namespace}})
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Stages = set.Spec.Stages[:1] })
	return set
}

// letGoAtTheEnd removes the finalizers of an object, so that its namespace can go.
func (r *rig) letGoAtTheEnd(t *testing.T, object client.Object) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		if err := client.IgnoreNotFound(r.Client.Patch(ctx, object, patch)); err != nil {
			t.Error(err)
		}
	})
}

func dropped(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	set := single(t, r)
	at := r.archives.AddFiles(t, map[string]string{"all.yaml": configMap("dropped", "1")})
	r.archives.Drop(at)
	r.announce(t, set.Name, at)
	r.Create(t, set)
	return set
}

// contested renders what another StageSet has.
func contested(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	set := single(t, r, configMap("contested", "1"))
	keeper := set.DeepCopy()
	keeper.Name = "keeper"
	r.Create(t, keeper)
	r.awaitReason(t, keeper, stagesv1.ReasonSucceeded)
	r.Create(t, set)
	return set
}

// undeletable renders no more what a policy does not let anybody delete.
func undeletable(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	kept := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, labels: {audit: kept}}"
	set := rendering(kept, configMap("rest", "1"))(t, r)
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: r.Namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": r.Namespace}},
				ObjectSelector:    &metav1.LabelSelector{MatchLabels: map[string]string{"audit": "kept"}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "kept for the audit"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: r.Namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	r.Create(t, policy, binding)
	t.Cleanup(func() {
		for _, object := range []client.Object{binding, policy} {
			if err := r.Client.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		}
	})
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	kubetest.Eventually(t, func(ctx context.Context) error {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: r.Namespace}}
		if err := r.Client.Delete(ctx, object, client.DryRunAll); err == nil {
			return errors.New("the policy does not hold yet")
		}
		return nil
	})
	r.publish(t, set.Name, configMap("rest", "1"))
	return set
}

func late(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	return changed(func(set *stagesv1.StageSet) {
		set.Spec.Timeout = &metav1.Duration{Duration: 100 * time.Millisecond}
		r.publish(t, set.Name, stuck("late"))
	})(t, r)
}

func powerless(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	r.NewTenant(t, "weak")
	return changed(func(set *stagesv1.StageSet) { set.Spec.ServiceAccountName = "weak" })(t, r)
}

// orphaned is deleted after its account has lost its rights.
func orphaned(t *testing.T, r *rig) *stagesv1.StageSet {
	t.Helper()
	leaver := r.NewTenant(t, "leaver", everything())
	set := changed(func(set *stagesv1.StageSet) { set.Spec.ServiceAccountName = "leaver" })(t, r)
	r.awaitReason(t, set, stagesv1.ReasonSucceeded)
	r.revoke(t, leaver)
	if err := r.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestReasons_AllAreKnown(t *testing.T) {
	tests := map[string]bool{}
	for _, path := range glob(t, "*_test.go") {
		for _, declaration := range parse(t, path).Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok {
				tests[f.Name.Name] = true
			}
		}
	}
	covered := map[string]int{}
	for reason := range situations() {
		covered[reason]++
	}
	for reason, test := range elsewhere() {
		covered[reason]++
		if !tests[test] {
			t.Errorf("%s: there is no test %s", reason, test)
		}
	}
	for reason := range later() {
		covered[reason]++
	}
	for _, reason := range declaredReasons(t) {
		if covered[reason] != 1 {
			t.Errorf("%s is in %d of the lists, want one", reason, covered[reason])
		}
		delete(covered, reason)
	}
	if len(covered) > 0 {
		t.Errorf("no such reasons: %v", slices.Sorted(maps.Keys(covered)))
	}
}

// declaredReasons are the constants of the API.
func declaredReasons(t *testing.T) (found []string) {
	t.Helper()
	for _, declaration := range parse(t, "../../api/stages/v1/reasons.go").Decls {
		constants, ok := declaration.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			value := spec.(*ast.ValueSpec)
			if name := value.Names[0].Name; !strings.HasPrefix(name, "Reason") && !strings.HasPrefix(name, "Event") {
				continue
			}
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, text)
		}
	}
	return found
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	return paths
}

func TestSuspend_InTheMiddleOfAWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start(t)
	r.publish(t, "base", stuck("web"))
	app := r.publish(t, "app", configMap("app", "1"))
	set := stageSet("shop", "base", "app")
	r.Create(t, set)
	r.awaitWaiting(t, set, "base")
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Suspend = true })
	r.awaitReason(t, set, stagesv1.ReasonSuspended)
	run := set.Status.Run.DeepCopy()
	// What comes meanwhile starts nothing.
	base := r.publish(t, "base", deployment("web", 1))
	r.wire.quiet(t)
	edit(t, r, set, func(set *stagesv1.StageSet) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, fluxmeta.ReconcileRequestAnnotation, "now")
	})
	r.Await(t, set, func() error {
		if set.Status.LastHandledReconcileAt != "now" {
			return errors.New("the request was not seen")
		}
		return nil
	})
	if got := set.Status.Run; got == nil || got.ID != run.ID || got.Step != run.Step || got.Stage != run.Stage {
		t.Errorf("the run is %+v, want it as it was: %+v", got, run)
	}
	edit(t, r, set, func(set *stagesv1.StageSet) { set.Spec.Suspend = false })
	r.awaitApplied(t, set, "base", base)
	r.awaitApplied(t, set, "app", app)
}
