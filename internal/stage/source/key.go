package source

import (
	"cmp"
	"fmt"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// ByProducer is the index of ExternalArtifacts by what they point back at: the key of ProducerKey.
const ByProducer = "stages.producer"

// target is what a reference means: the group of its kind, whatever the version.
type target struct {
	group, kind, namespace, name string
}

// String is for messages.
func (t target) String() string { return fmt.Sprintf("%s %s/%s", t.kind, t.namespace, t.name) }

func (t target) isFlux() bool {
	_, known := fluxKinds()[t.kind]
	return known && t.group == sourcev1.GroupVersion.Group
}

// producerKey has separators that no group, kind, namespace or name can have.
func (t target) producerKey() string {
	return strings.Join([]string{t.group, t.kind, t.namespace, t.name}, "/")
}

// key is unlike every producerKey: it has fewer parts.
func (t target) key() string {
	if t.isFlux() {
		return strings.Join([]string{t.kind, t.namespace, t.name}, "/")
	}
	return t.producerKey()
}

func (t target) notReady(why string) error { return &NotReadyError{Source: t.String(), Why: why} }

// targetOf reads a reference from a namespace.
func targetOf(namespace string, ref stagesv1.SourceReference) (target, error) {
	t := target{
		kind: cmp.Or(ref.Kind, sourcev1.ExternalArtifactKind), namespace: cmp.Or(ref.Namespace, namespace), name: ref.Name,
	}
	if ref.APIVersion == "" {
		t.group = sourcev1.GroupVersion.Group
		if !t.isFlux() {
			t.group = ""
			return t, &InvalidError{Source: t.String(), Why: "a source of a kind that is not Flux's needs its apiVersion"}
		}
		return t, nil
	}
	version, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return t, &InvalidError{Source: t.String(), Why: fmt.Sprintf("%q is not an apiVersion", ref.APIVersion)}
	}
	t.group = version.Group
	return t, nil
}

// ProducerKey is the key of the index for a reference from a namespace: group, kind, namespace and name.
func ProducerKey(namespace string, ref stagesv1.SourceReference) string {
	t, _ := targetOf(namespace, ref) // an invalid reference has a key that no object has
	return t.producerKey()
}

// Key names a source for an index of StageSets: those of Flux's kinds by kind, namespace and name, others by ProducerKey.
func Key(namespace string, ref stagesv1.SourceReference) string {
	t, _ := targetOf(namespace, ref)
	return t.key()
}

// IndexProducers is the function of the index. An ExternalArtifact speaks for a producer of its own namespace only: who may
// write in another one must not choose what is applied here.
func IndexProducers(object client.Object) []string {
	artifact, ok := object.(*sourcev1.ExternalArtifact)
	if !ok || artifact.Spec.SourceRef == nil {
		return nil
	}
	back := artifact.Spec.SourceRef
	if back.Namespace != "" && back.Namespace != artifact.Namespace {
		return nil
	}
	t, err := targetOf(artifact.Namespace, stagesv1.SourceReference{
		APIVersion: back.APIVersion, Kind: back.Kind, Name: back.Name,
	})
	if err != nil || back.Kind == "" {
		return nil
	}
	return []string{t.producerKey()}
}

// KeysOf are the keys under which StageSets refer to a source object that has changed: an ExternalArtifact has two, its
// own and its producer's.
func KeysOf(object client.Object) []string {
	var kind string
	switch object.(type) {
	case *sourcev1.GitRepository:
		kind = sourcev1.GitRepositoryKind
	case *sourcev1.OCIRepository:
		kind = sourcev1.OCIRepositoryKind
	case *sourcev1.Bucket:
		kind = sourcev1.BucketKind
	case *sourcev1.ExternalArtifact:
		kind = sourcev1.ExternalArtifactKind
	default:
		return nil
	}
	own := Key(object.GetNamespace(), stagesv1.SourceReference{Kind: kind, Name: object.GetName()})
	return append([]string{own}, IndexProducers(object)...)
}
