package control

import (
	"fmt"
	"reflect"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/stagewright/stagewright/internal/kube/crdwatch"
)

// Source is an object that publishes an artifact.
type Source interface {
	client.Object
	GetArtifact() *fluxmeta.Artifact
}

// SourceKinds are the kinds of Flux's sources, each with an empty object.
func SourceKinds() map[string]func() Source {
	return map[string]func() Source{
		sourcev1.GitRepositoryKind:    func() Source { return &sourcev1.GitRepository{} },
		sourcev1.OCIRepositoryKind:    func() Source { return &sourcev1.OCIRepository{} },
		sourcev1.BucketKind:           func() Source { return &sourcev1.Bucket{} },
		sourcev1.ExternalArtifactKind: func() Source { return &sourcev1.ExternalArtifact{} },
	}
}

// KindOf is the kind of a source. Typed objects from a cache do not tell.
func KindOf(object client.Object) string {
	for kind, empty := range SourceKinds() {
		if reflect.TypeOf(empty()) == reflect.TypeOf(object) {
			return kind
		}
	}
	return ""
}

// SourceChanged lets through changes of artifacts, and of an ExternalArtifact all that its producer may have to restore.
// Sources report their health far more often than they have something new.
func SourceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*sourcev1.ExternalArtifact)
		if after, both := e.ObjectNew.(*sourcev1.ExternalArtifact); ok && both {
			return !reflect.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
				!before.DeletionTimestamp.Equal(after.DeletionTimestamp) ||
				!equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Status, after.Status)
		}
		old, _ := e.ObjectOld.(Source)
		updated, _ := e.ObjectNew.(Source)
		return old == nil || updated == nil || !sameArtifact(old.GetArtifact(), updated.GetArtifact())
	}}
}

func sameArtifact(a, b *fluxmeta.Artifact) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Digest == b.Digest && a.URL == b.URL
}

// WatchSources tells when the kinds of sources become available and go away, where the controllers of the manager run.
func WatchSources(mgr ctrl.Manager, told crdwatch.Handler) error {
	definitions, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client of definitions: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for kind := range SourceKinds() {
		kinds = append(kinds, sourcev1.GroupVersion.WithKind(kind))
	}
	if err := mgr.Add(leading{crdwatch.New(definitions, told, kinds...)}); err != nil {
		return fmt.Errorf("adding the watch of definitions: %w", err)
	}
	return nil
}

// leading runs the watch where the controllers run.
type leading struct{ *crdwatch.Watcher }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (leading) NeedLeaderElection() bool { return true }
