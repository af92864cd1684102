package source

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
)

// Artifact is what a source publishes.
type Artifact struct {
	Revision string
	Digest   string
	URL      string
}

// ByProducer is the index of ExternalArtifacts by what they point back at: the key of ProducerKey.
const ByProducer = "stages.producer"

// ProducerKey is the key of the index for a reference from a namespace: group, kind, namespace and name.
func ProducerKey(namespace string, ref stagesv1.SourceReference) string { panic("not yet") }

// IndexProducers is the function of the index.
func IndexProducers(object client.Object) []string { panic("not yet") }

// Key names a source for an index of StageSets: those of Flux's kinds by kind, namespace and name, others by ProducerKey.
func Key(namespace string, ref stagesv1.SourceReference) string { panic("not yet") }

// KeysOf are the keys under which StageSets refer to a source object that has changed: an ExternalArtifact has two, its
// own and its producer's.
func KeysOf(object client.Object) []string { panic("not yet") }

// Resolve reads what a source publishes now. Errors are a *NotReadyError (it does not exist, is suspended without an
// artifact, has none yet; two point back at one producer), or others, which may pass.
func Resolve(ctx context.Context, reader client.Reader, namespace string, ref stagesv1.SourceReference) (Artifact, error) {
	panic("not yet")
}

// NotReadyError says that a source has no artifact now. A watch tells when it has.
type NotReadyError struct {
	Source string // for messages: "GitRepository shop/app"
	Why    string
}

func (e *NotReadyError) Error() string { panic("not yet") }
