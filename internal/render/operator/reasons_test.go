package operator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/jsonnet"
)

// situation makes a snippet's Ready condition have a reason.
type situation struct {
	reason  string
	normal  bool   // the event is no warning
	says    string // part of the message
	options func(*Options)
	prepare func(t *testing.T, r *rig)
	snippet func() *renderv1.JsonnetSnippet
	after   func(t *testing.T, r *rig, s *renderv1.JsonnetSnippet) // once it is Synced
}

func with(change func(*renderv1.JsonnetSnippetSpec)) func() *renderv1.JsonnetSnippet {
	return func() *renderv1.JsonnetSnippet {
		s := snippet("app", main("{}"))
		change(&s.Spec)
		return s
	}
}

func code(text string) func() *renderv1.JsonnetSnippet {
	return func() *renderv1.JsonnetSnippet { return snippet("app", main(text)) }
}

func uses(names ...string) func(*renderv1.JsonnetSnippetSpec) {
	return func(spec *renderv1.JsonnetSnippetSpec) {
		for _, name := range names {
			spec.Libraries = append(spec.Libraries, renderv1.LibraryReference{Name: name})
		}
	}
}

func git(name, namespace string) func(*renderv1.JsonnetSnippetSpec) {
	return func(spec *renderv1.JsonnetSnippetSpec) {
		spec.Files = nil
		spec.SourceRef = &renderv1.SourceReference{Kind: "GitRepository", Name: name, Namespace: namespace}
	}
}

func engineWith(limits jsonnet.Limits) func(*Options) {
	return func(o *Options) { o.Evaluator = newEngine(limits) }
}

// situations reach each reason of the Ready condition.
func situations() map[string]situation {
	const endless = `local f(n) = if n == 0 then 0 else f(n - 1) tailstrict; std.foldl(function(a, i) a + f(1000), std.range(1, 100000000), 0)`
	return map[string]situation{
		"published": {reason: renderv1.ReasonSynced, normal: true, says: "Published revision sha256:", snippet: code("{}")},
		"being deleted by somebody": {
			reason: renderv1.ReasonProgressing, normal: true, says: "is being deleted", snippet: code("{}"),
			after: func(t *testing.T, r *rig, s *renderv1.JsonnetSnippet) {
				announced := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace}}
				hold := func(on bool) {
					edit(t, r, announced, func(a *sourcev1.ExternalArtifact) {
						a.Finalizers = nil
						if on {
							a.Finalizers = []string{"example.com/hold"}
						}
					})
				}
				hold(true)
				t.Cleanup(func() { // nobody else would let the namespace go
					_ = r.Client.Get(context.Background(), clientKey(announced), announced)
					announced.Finalizers = nil
					_ = r.Client.Update(context.Background(), announced)
				})
				if err := r.Client.Delete(t.Context(), announced); err != nil {
					t.Fatal(err)
				}
			},
		},
		"suspended": {
			reason: renderv1.ReasonSuspended, normal: true, says: "set spec.suspend to false",
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) { spec.Suspend = true }),
		},
		"another version of sources": {
			reason: renderv1.ReasonInvalidSpec, says: "only source.toolkit.fluxcd.io/v1",
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) {
				git("app", "")(spec)
				spec.SourceRef.APIVersion = "example.com/v1"
			}),
		},
		"a name that no archive has": {
			reason: renderv1.ReasonInvalidSpec, says: "backslash",
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) { spec.Files[`a\b`] = "" }),
		},
		"a path that the source has not": {
			reason: renderv1.ReasonInvalidSpec, says: "has no files in",
			prepare: func(t *testing.T, r *rig) { r.gitRepository(t, "app", r.archives.AddFiles(t, main("{}"))) },
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) { git("app", "")(spec); spec.SourceRef.Path = "no" }),
		},
		"no account named": {
			reason: renderv1.ReasonServiceAccountMissing, says: "spec.serviceAccountName is not set",
			options: func(o *Options) { o.Spec.DefaultServiceAccount = "" }, snippet: code("{}"),
		},
		"an account that does not exist": {
			reason: renderv1.ReasonServiceAccountMissing, says: "does not exist",
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) { spec.ServiceAccountName = "nobody" }),
		},
		"an account without rights": {
			reason: renderv1.ReasonAccessDenied, says: `may not get externalartifacts.source.toolkit.fluxcd.io "app"`,
			prepare: func(t *testing.T, r *rig) { r.NewTenant(t, "powerless") },
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) { spec.ServiceAccountName = "powerless" }),
		},
		"an account that may not read the Secret": {
			reason: renderv1.ReasonAccessDenied, says: `may not get secrets "password"`,
			prepare: func(t *testing.T, r *rig) {
				r.NewTenant(t, "limited", tenantRules()[:4]...)
				r.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: texts{"value": "hidden"}})
			},
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) {
				spec.ServiceAccountName = "limited"
				spec.TLAs = []renderv1.Variable{secretVariable("p", "password", "value")}
			}),
		},
		"an account that may not write": {
			reason: renderv1.ReasonAccessDenied, says: `may not create externalartifacts.source.toolkit.fluxcd.io "app"`,
			prepare: func(t *testing.T, r *rig) {
				r.NewTenant(t, "reader", rbacv1.PolicyRule{
					APIGroups: []string{sourcev1.GroupVersion.Group}, Resources: []string{"externalartifacts"}, Verbs: []string{"get"},
				})
			},
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) { spec.ServiceAccountName = "reader" }),
		},
		"a source that does not exist": {
			reason: renderv1.ReasonSourceNotReady, says: "does not exist", snippet: with(git("none", "")),
		},
		"a source without an artifact": {
			reason: renderv1.ReasonSourceNotReady, says: "has no artifact yet",
			prepare: func(t *testing.T, r *rig) { r.gitRepository(t, "app", nil) }, snippet: with(git("app", "")),
		},
		"a ConfigMap without the key": {
			reason: renderv1.ReasonSourceNotReady, says: `has no key "size"`,
			prepare: func(t *testing.T, r *rig) {
				r.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}})
			},
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) {
				spec.TLAs = []renderv1.Variable{configVariable("s", "settings", "size")}
			}),
		},
		"an archive that is gone": {
			reason: renderv1.ReasonSourceFetchFailed, says: "artifact not found",
			prepare: func(t *testing.T, r *rig) {
				at := r.archives.AddFiles(t, main("{}"))
				at.URL += "x"
				r.gitRepository(t, "app", at)
			},
			snippet: with(git("app", "")),
		},
		"an archive with another digest": {
			reason: renderv1.ReasonSourceFetchFailed, says: "digest mismatch",
			prepare: func(t *testing.T, r *rig) {
				at, other := r.archives.AddFiles(t, main("{}")), r.archives.AddFiles(t, main("[]"))
				at.Digest = other.Digest
				r.gitRepository(t, "app", at)
			},
			snippet: with(git("app", "")),
		},
		"something that is no archive": {
			reason: renderv1.ReasonSourceFetchFailed, says: "not a gzip archive",
			prepare: func(t *testing.T, r *rig) { r.gitRepository(t, "app", r.archives.Add([]byte("no archive"))) },
			snippet: with(git("app", "")),
		},
		"no such library": {reason: renderv1.ReasonLibraryNotFound, says: "does not exist", snippet: with(uses("none"))},
		"a source elsewhere": {
			reason: renderv1.ReasonCrossNamespaceRefRejected, says: "is in namespace default", snippet: with(git("app", "default")),
		},
		"a library elsewhere": {
			reason: renderv1.ReasonCrossNamespaceRefRejected, says: "is in namespace default",
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) {
				spec.Libraries = []renderv1.LibraryReference{{Name: "lib", Namespace: "default"}}
			}),
		},
		"a library whose source is elsewhere": {
			reason: renderv1.ReasonCrossNamespaceRefRejected, says: "JsonnetLibrary",
			prepare: func(t *testing.T, r *rig) {
				lib := library("lib", nil)
				lib.Spec.SourceRef = &renderv1.SourceReference{Kind: "Bucket", Name: "b", Namespace: "default"}
				r.Create(t, lib)
			},
			snippet: with(uses("lib")),
		},
		"a variable of the operator": {
			reason: renderv1.ReasonExternalVariableConflict, says: `external variable "region"`,
			options: func(o *Options) { o.Spec.ExternalVariables = []string{"region"} },
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) {
				spec.ExternalVariables = []renderv1.Variable{{Name: "region", Value: new("eu")}}
			}),
		},
		"its own artifact": {
			reason: renderv1.ReasonDependencyCycle, says: "/app uses",
			prepare: func(t *testing.T, r *rig) {
				at := r.archives.AddFiles(t, main("{}"))
				own := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "app"}}
				r.Create(t, own)
				own.Status.Artifact = at
				if err := r.Client.Status().Update(t.Context(), own); err != nil {
					t.Fatal(err)
				}
			},
			snippet: with(func(spec *renderv1.JsonnetSnippetSpec) {
				git("app", "")(spec)
				spec.SourceRef.Kind = "ExternalArtifact"
			}),
		},
		"error": {reason: renderv1.ReasonEvaluationFailed, says: "no replicas", snippet: code(`error "no replicas"`)},
		"does not parse": {
			reason: renderv1.ReasonEvaluationFailed, says: "main.jsonnet:1:", snippet: code(`{ a: `),
		},
		"out of the snippet": {
			reason: renderv1.ReasonEvaluationFailed, says: "it leads out", snippet: code(`importstr "../../etc/passwd"`),
		},
		"too slow": {
			reason: renderv1.ReasonEvaluationTimeout, says: "did not end within", snippet: code(endless),
			options: engineWith(jsonnet.Limits{Timeout: 100 * time.Millisecond, MaxStack: 5000}),
		},
		"too much memory": {
			reason: renderv1.ReasonEvaluationMemoryExceeded, snippet: code(`std.makeArray(30000000, function(i) [i, "x" + i])`),
			options: engineWith(jsonnet.Limits{Timeout: time.Minute, MaxMemory: 4 << 20}),
		},
		"too deep": {
			reason: renderv1.ReasonStackExceeded, snippet: code(`local f(n) = 1 + f(n + 1); f(0)`),
		},
		"no slot": {
			reason: renderv1.ReasonEvaluationUnavailable, says: "--max-concurrent-evals", snippet: code("{}"),
			options: func(o *Options) { o.Evaluator = refusing{o.Evaluator} },
		},
		"too often": {
			reason: renderv1.ReasonRateLimited, says: "--rerender-rate", snippet: code("1"),
			options: func(o *Options) { o.Rerender = Rate{PerSecond: 1.0 / 3600, Burst: 1} },
			after: func(t *testing.T, r *rig, s *renderv1.JsonnetSnippet) {
				edit(t, r, s, func(s *renderv1.JsonnetSnippet) { s.Spec.Files = main("2") })
			},
		},
		"the name is taken": {
			reason: renderv1.ReasonArtifactConflict, says: "belongs to somebody else", snippet: code("{}"),
			prepare: func(t *testing.T, r *rig) {
				r.Create(t, &sourcev1.ExternalArtifact{
					ObjectMeta: metav1.ObjectMeta{Name: "app"},
					Spec: sourcev1.ExternalArtifactSpec{SourceRef: &fluxmeta.NamespacedObjectKindReference{
						APIVersion: "example.com/v1", Kind: "Shop", Name: "app",
					}},
				})
			},
		},
		"too large": {
			reason: renderv1.ReasonArtifactTooLarge, says: "--max-artifact-bytes allows 100", snippet: code(`std.range(1, 1000)`),
			options: func(o *Options) { o.Publish.MaxArtifactBytes = 100 },
		},
		"storage": {
			reason: renderv1.ReasonStorageFailed, says: "disk is full", snippet: code("{}"),
			prepare: func(_ *testing.T, r *rig) {
				r.calls.setStop(func(what string) error {
					if what == "store put" {
						return errors.New("disk is full")
					}
					return nil
				})
			},
		},
	}
}

// refusing has never room for an evaluation.
type refusing struct{ Evaluator }

func (refusing) Evaluate(context.Context, jsonnet.Request) (*jsonnet.Result, error) {
	return nil, &jsonnet.Error{Reason: jsonnet.EvaluationUnavailable, Message: "as many evaluations are running as --max-concurrent-evals allows"}
}

func secretVariable(name, object, key string) renderv1.Variable {
	return renderv1.Variable{Name: name, ValueFrom: &renderv1.VariableSource{SecretKeyRef: &renderv1.KeyReference{Name: object, Key: key}}}
}

func configVariable(name, object, key string) renderv1.Variable {
	return renderv1.Variable{Name: name, ValueFrom: &renderv1.VariableSource{ConfigMapKeyRef: &renderv1.KeyReference{Name: object, Key: key}}}
}

func TestReason_IsReachedAndTold(t *testing.T) {
	t.Parallel()
	for name, c := range situations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := []func(*Options){}
			if c.options != nil {
				changes = append(changes, c.options)
			}
			r := newRig(t, changes...)
			if c.prepare != nil {
				c.prepare(t, r)
			}
			r.start(t)
			s := c.snippet()
			r.Create(t, s)
			if c.after != nil {
				r.awaitReason(t, s, renderv1.ReasonSynced)
				c.after(t, r, s)
			}
			message := r.awaitReason(t, s, c.reason)
			if !strings.Contains(message, c.says) {
				t.Errorf("the message is %q, want %q in it", message, c.says)
			}
			kind := "Warning"
			if c.normal {
				kind = "Normal"
			}
			r.awaitEvent(t, s, kind, c.reason)
			if c.after != nil && c.reason == renderv1.ReasonRateLimited && !strings.Contains(message, "stays published") {
				t.Errorf("%q does not say what stays published", message)
			}
		})
	}
}

// TestReason_NoneIsLeftOut: what the table does not reach is not proven.
func TestReason_NoneIsLeftOut(t *testing.T) {
	reached := map[string]bool{}
	for _, c := range situations() {
		reached[c.reason] = true
	}
	for _, reason := range []string{
		"Synced", "Progressing", "Suspended", "InvalidSpec", "ServiceAccountMissing", "AccessDenied", "SourceNotReady",
		"SourceFetchFailed", "LibraryNotFound", "CrossNamespaceRefRejected", "ExternalVariableConflict", "DependencyCycle",
		"EvaluationFailed", "EvaluationTimeout", "EvaluationMemoryExceeded", "StackExceeded", "EvaluationUnavailable",
		"RateLimited", "ArtifactConflict", "ArtifactTooLarge", "StorageFailed",
	} {
		if !reached[reason] {
			t.Errorf("no situation reaches %s", reason)
		}
	}
}

func TestLibrary_SaysWhetherItCanBeUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason  string
		library renderv1.JsonnetLibrarySpec
		source  bool
	}{
		"files":             {reason: renderv1.ReasonAccepted, library: renderv1.JsonnetLibrarySpec{Files: main("{}")}},
		"a ready source":    {reason: renderv1.ReasonAccepted, source: true, library: renderv1.JsonnetLibrarySpec{SourceRef: &renderv1.SourceReference{Kind: "GitRepository", Name: "lib"}}},
		"a missing source":  {reason: renderv1.ReasonSourceNotReady, library: renderv1.JsonnetLibrarySpec{SourceRef: &renderv1.SourceReference{Kind: "GitRepository", Name: "lib"}}},
		"a source apart":    {reason: renderv1.ReasonCrossNamespaceRefRejected, library: renderv1.JsonnetLibrarySpec{SourceRef: &renderv1.SourceReference{Kind: "GitRepository", Name: "lib", Namespace: "default"}}},
		"impossible a name": {reason: renderv1.ReasonInvalidSpec, library: renderv1.JsonnetLibrarySpec{Files: texts{`a\b`: ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.start(t)
			l := &renderv1.JsonnetLibrary{ObjectMeta: metav1.ObjectMeta{Name: "lib"}, Spec: c.library}
			r.Create(t, l)
			if c.source {
				r.gitRepository(t, "lib", r.archives.AddFiles(t, main("{}")))
			}
			r.awaitLibrary(t, l, c.reason)
			kind := "Warning"
			if c.reason == renderv1.ReasonAccepted {
				kind = "Normal"
			}
			r.awaitEvent(t, l, kind, c.reason)
		})
	}
}
