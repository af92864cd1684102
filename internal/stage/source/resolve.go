package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// Artifact is what a source publishes.
type Artifact struct {
	Revision string
	Digest   string
	URL      string
}

// Resolve reads what a source publishes now. As with Flux, an artifact counts as long as it is there, whether its source is
// ready or not: a source that cannot be fetched for a while changes nothing.
//
// Errors are a *NotReadyError (it does not exist, has no artifact yet, or two point back at one producer), an
// *InvalidError, or others, which may pass.
func Resolve(ctx context.Context, reader client.Reader, namespace string, ref stagesv1.SourceReference) (Artifact, error) {
	t, err := targetOf(namespace, ref)
	if err != nil {
		return Artifact{}, err
	}
	if !t.isFlux() {
		return ofProducer(ctx, reader, t)
	}
	object := fluxKinds()[t.kind]()
	err = reader.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: t.name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return Artifact{}, t.notReady("it does not exist")
	case meta.IsNoMatchError(err):
		return Artifact{}, t.notReady("the cluster does not know this kind; install the Flux source-controller")
	case err != nil:
		return Artifact{}, fmt.Errorf("reading %s: %w", t, err)
	}
	return published(t, object)
}

// published is what an object has in its status.
func published(t target, object withArtifact) (Artifact, error) {
	artifact := object.GetArtifact()
	switch {
	case artifact == nil && isSuspended(object):
		return Artifact{}, t.notReady("it is suspended and has no artifact")
	case artifact == nil:
		return Artifact{}, t.notReady("it has no artifact yet")
	case artifact.URL == "":
		return Artifact{}, t.notReady("its artifact has no URL")
	case artifact.Digest == "":
		return Artifact{}, t.notReady("its artifact has no digest, without which it cannot be trusted")
	}
	return Artifact{
		Revision: cmp.Or(artifact.Revision, artifact.Digest), Digest: artifact.Digest, URL: artifact.URL,
	}, nil
}

// ofProducer is what the ExternalArtifact publishes that points back at a producer. One that is being deleted does not
// count.
func ofProducer(ctx context.Context, reader client.Reader, t target) (Artifact, error) {
	var list sourcev1.ExternalArtifactList
	err := reader.List(ctx, &list, client.InNamespace(t.namespace), client.MatchingFields{ByProducer: t.producerKey()})
	switch {
	case meta.IsNoMatchError(err):
		return Artifact{}, t.notReady("the cluster does not know ExternalArtifacts; install the Flux source-controller")
	case err != nil:
		return Artifact{}, fmt.Errorf("listing the ExternalArtifacts of %s: %w", t, err)
	}
	alive := slices.DeleteFunc(list.Items, func(a sourcev1.ExternalArtifact) bool { return !a.DeletionTimestamp.IsZero() })
	switch len(alive) {
	case 0:
		return Artifact{}, t.notReady("no ExternalArtifact in its namespace points back at it")
	case 1:
		return published(t, &alive[0])
	}
	names := make([]string, len(alive))
	for i := range alive {
		names[i] = alive[i].Name
	}
	slices.Sort(names)
	const shown = 3
	if len(names) > shown {
		names = append(names[:shown], "…")
	}
	return Artifact{}, t.notReady(fmt.Sprintf("%d ExternalArtifacts point back at it (%s), and there must be one",
		len(alive), strings.Join(names, ", ")))
}

// withArtifact is an object of Flux's kinds.
type withArtifact interface {
	client.Object
	GetArtifact() *fluxmeta.Artifact
}

// fluxKinds are the kinds of sources that Flux has, each with an empty object.
func fluxKinds() map[string]func() withArtifact {
	return map[string]func() withArtifact{
		sourcev1.GitRepositoryKind:    func() withArtifact { return &sourcev1.GitRepository{} },
		sourcev1.OCIRepositoryKind:    func() withArtifact { return &sourcev1.OCIRepository{} },
		sourcev1.BucketKind:           func() withArtifact { return &sourcev1.Bucket{} },
		sourcev1.ExternalArtifactKind: func() withArtifact { return &sourcev1.ExternalArtifact{} },
	}
}

func isSuspended(object client.Object) bool {
	switch o := object.(type) {
	case *sourcev1.GitRepository:
		return o.Spec.Suspend
	case *sourcev1.OCIRepository:
		return o.Spec.Suspend
	case *sourcev1.Bucket:
		return o.Spec.Suspend
	}
	return false
}

// NotReadyError says that a source has no artifact now. A watch tells when it has.
type NotReadyError struct {
	Source string // for messages: "GitRepository shop/app"
	Why    string
}

func (e *NotReadyError) Error() string { return e.Source + ": " + e.Why }

// InvalidError says that a reference cannot mean anything: it has to be changed.
type InvalidError struct {
	Source string
	Why    string
}

func (e *InvalidError) Error() string { return e.Source + ": " + e.Why }
