package operator

import (
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
)

func crossNamespace(o *Options) { o.Spec.NoCrossNamespaceRefs = false }

// neighbour is another tenant's namespace, as a rig of its own that is not started.
func (r *rig) neighbour(t *testing.T) *rig {
	t.Helper()
	env := *r.Env
	other := *r
	other.Env = &env
	other.Namespace = r.NewNamespace(t)
	return &other
}

// grantFrom lets this rig's account read sources and libraries of another tenant, who agrees.
func (r *rig) grantFrom(t *testing.T, other *rig) {
	t.Helper()
	other.Create(t,
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Rules: tenantRules()},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "shared"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "shared"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: r.Namespace}},
		})
}

func TestCrossNamespace_NeedsTheOtherTenantsConsent(t *testing.T) {
	t.Parallel()
	r := newRig(t, crossNamespace)
	other := r.neighbour(t)
	r.start(t, other.Namespace)
	other.gitRepository(t, "app", r.archives.AddFiles(t, main(`"theirs"`)))
	s := snippet("app", nil, fromGit("app", ""), func(s *renderv1.JsonnetSnippet) { s.Spec.SourceRef.Namespace = other.Namespace })
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonAccessDenied)
	if n := r.archives.Fetched.Load(); n != 0 {
		t.Errorf("the source was fetched %d times for somebody who may not read it", n)
	}
	r.grantFrom(t, other)
	r.awaitRendered(t, s, "theirs")
}

func TestCrossNamespace_IsLookedForWhereNothingIsWatched(t *testing.T) {
	t.Parallel()
	r := newRig(t, crossNamespace)
	other := r.neighbour(t)
	r.grantFrom(t, other)
	r.start(t)
	source := other.gitRepository(t, "app", r.archives.AddFiles(t, main(`"one " + importstr "lib/a.txt"`)))
	lib := library("lib", texts{"a.txt": "two"})
	other.Create(t, lib)
	s := snippet("app", nil, fromGit("app", ""), func(s *renderv1.JsonnetSnippet) {
		s.Spec.SourceRef.Namespace = other.Namespace
		s.Spec.Libraries = []renderv1.LibraryReference{{Name: "lib", Namespace: other.Namespace}}
	})
	r.Create(t, s)
	r.awaitRendered(t, s, "one two")
	edit(t, r, lib, func(l *renderv1.JsonnetLibrary) { l.Spec.Files["a.txt"] = "changed" })
	r.awaitRendered(t, s, "one changed")
	other.announce(t, source, r.archives.AddFiles(t, main(`"new " + importstr "lib/a.txt"`)))
	r.awaitRendered(t, s, "new changed")
}

func TestCrossNamespace_ChainLeadsToANamespaceThatIsNotWatched(t *testing.T) {
	t.Parallel()
	r := newRig(t, crossNamespace)
	other := r.neighbour(t)
	r.grantFrom(t, other)
	r.start(t)
	made := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "base"}}
	other.Create(t, made)
	made.Status.Artifact = r.archives.AddFiles(t, main(`"theirs"`))
	if err := r.Client.Status().Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	s := snippet("app", nil, func(s *renderv1.JsonnetSnippet) {
		s.Spec.SourceRef = &renderv1.SourceReference{Kind: sourcev1.ExternalArtifactKind, Name: "base", Namespace: other.Namespace}
	})
	r.Create(t, s)
	r.awaitRendered(t, s, "theirs")
}

// TestLibrary_DoesNotTellOfOthersSources: the status of a library would say whether there is a source of that name.
func TestLibrary_DoesNotTellOfOthersSources(t *testing.T) {
	t.Parallel()
	r := newRig(t, crossNamespace)
	other := r.neighbour(t)
	r.start(t, other.Namespace)
	other.gitRepository(t, "present", nil)
	for _, name := range []string{"present", "absent"} {
		l := &renderv1.JsonnetLibrary{ObjectMeta: metav1.ObjectMeta{Name: name}}
		l.Spec.SourceRef = &renderv1.SourceReference{Kind: "GitRepository", Name: name, Namespace: other.Namespace}
		r.Create(t, l)
		r.awaitLibrary(t, l, renderv1.ReasonAccepted)
	}
}

func TestDefinition_ThatAppearsLaterIsWatchedWithoutARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Recheck = time.Hour }) // so that only watches help
	hidden := newHidden("gitrepositories")
	r.calls.wrap = hidden.transport
	r.start(t)
	source := r.gitRepository(t, "app", r.archives.AddFiles(t, main(`"one " + importstr "lib/a.txt"`)))
	lib := &renderv1.JsonnetLibrary{ObjectMeta: metav1.ObjectMeta{Name: "lib"}}
	lib.Spec.SourceRef = &renderv1.SourceReference{Kind: "GitRepository", Name: "lib"}
	files := library("files", texts{"a.txt": "text"})
	r.Create(t, lib, files)
	r.awaitLibrary(t, lib, renderv1.ReasonSourceNotReady)
	r.awaitLibrary(t, files, renderv1.ReasonAccepted) // a kind that is not there holds nobody up
	s := snippet("app", nil, fromGit("app", ""), uses2("lib"))
	r.Create(t, s)
	r.awaitReason(t, s, renderv1.ReasonSourceNotReady)

	r.gitRepository(t, "lib", r.archives.AddFiles(t, texts{"a.txt": "two"}))
	hidden.reveal()
	r.awaitLibrary(t, lib, renderv1.ReasonAccepted)
	r.awaitRendered(t, s, "one two")
	r.announce(t, source, r.archives.AddFiles(t, main(`"new " + importstr "lib/a.txt"`)))
	r.awaitRendered(t, s, "new two")
}

func uses2(name string) func(*renderv1.JsonnetSnippet) {
	return func(s *renderv1.JsonnetSnippet) { uses(name)(&s.Spec) }
}
