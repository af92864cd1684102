package stageset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/kube/tenant"
	"github.com/stagewright/stagewright/internal/stage/source"
)

// maxReference bounds what a source tells of its artifact: the status keeps it for each stage, twice, and is one object.
const maxReference = 2048

// wanted is what spec, sources and variables ask for now.
type wanted struct {
	spec      string                   // hash of what the spec asks for
	revisions []stagesv1.StageRevision // of the stages, in their order; Inputs is that of values
}

// values are the variables of a stage that come from ConfigMaps and Secrets.
type values struct {
	substitute map[string]string
	secrets    []string // values that errors must not show
	hash       string   // "" where there are none
	missing    error    // an object that has to exist does not
}

// resolve reads what the sources publish, and the variables.
func (c *stageSets) resolve(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	spec, err := specHash(&s.set.Spec)
	if err != nil {
		return reconcile.Next(), err
	}
	s.wanted.spec = spec
	read := map[objectwatch.Object]client.Object{}
	for _, w := range s.stages {
		if w.values, err = c.readValues(ctx, s, w, read); err != nil {
			break
		}
	}
	// Watched also where something is missing: that it is there now is the news that is waited for.
	if told := c.watches.Set(s.key(), s.needs); !told {
		s.recheck = true
	}
	if err != nil {
		return reconcile.Next(), err
	}
	for _, w := range s.stages {
		found, err := source.Resolve(ctx, c.client, s.set.Namespace, w.spec.SourceRef)
		if unwatched(err) {
			ref := w.spec.SourceRef
			err = &source.NotReadyError{
				Source: fmt.Sprintf("%s %s/%s", orElse(ref.Kind, sourcev1.ExternalArtifactKind), orElse(ref.Namespace, s.set.Namespace), ref.Name),
				Why:    "this controller does not watch its namespace",
			}
		}
		if err != nil {
			return reconcile.Next(), c.explain(s, stagesv1.ReasonSourceNotReady, fmt.Errorf("stage %s: %w", w.spec.Name, err))
		}
		if len(found.URL) > maxReference || len(found.Revision) > maxReference || len(found.Digest) > maxReference {
			return reconcile.Next(), c.explain(s, stagesv1.ReasonSourceNotReady, fmt.Errorf("stage %s: %w", w.spec.Name, &source.NotReadyError{
				Source: w.spec.SourceRef.Name, Why: fmt.Sprintf("URL, revision or digest of its artifact has more than %d bytes", maxReference),
			}))
		}
		s.wanted.revisions = append(s.wanted.revisions, stagesv1.StageRevision{
			Stage: w.spec.Name, Revision: found.Revision, Digest: found.Digest, URL: found.URL, Inputs: w.values.hash,
		})
	}
	return reconcile.Next(), nil
}

// specHash is the same for specs that ask for the same, whenever that is looked at.
func specHash(spec *stagesv1.StageSetSpec) (string, error) {
	essence := spec.DeepCopy()
	essence.Interval, essence.RetryInterval, essence.Suspend = nil, nil, false
	encoded, err := json.Marshal(essence)
	if err != nil {
		return "", fmt.Errorf("encoding the spec: %w", err)
	}
	return hash(encoded), nil
}

// hash is short enough for people, and long enough that nobody meets two that are equal by chance.
func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:10])
}

// readValues reads the ConfigMaps and Secrets of a stage, each once for all stages of an account.
func (c *stageSets) readValues(ctx context.Context, s *scope, w *stage, read map[objectwatch.Object]client.Object) (values, error) {
	v := values{}
	if w.spec.PostBuild == nil || len(w.spec.PostBuild.SubstituteFrom) == 0 {
		return v, nil
	}
	v.substitute = map[string]string{}
	var origins []any
	for _, ref := range w.spec.PostBuild.SubstituteFrom {
		found, err := c.readOnce(ctx, s, s.reader(w.spec.ServiceAccountName), ref, read)
		switch {
		case err != nil:
			return v, err
		case found == nil && !ref.Optional && v.missing == nil:
			v.missing = fmt.Errorf("%s %s of postBuild.substituteFrom does not exist", ref.Kind, ref.Name)
		}
		switch object := found.(type) {
		case *corev1.ConfigMap:
			maps.Copy(v.substitute, object.Data)
			origins = append(origins, object.Data)
		case *corev1.Secret:
			// Not by its values: a status is read by people who may not read Secrets, and a short value can be guessed.
			origins = append(origins, []string{string(object.UID), object.ResourceVersion})
			for key, value := range object.Data {
				v.substitute[key] = string(value)
				v.secrets = append(v.secrets, string(value))
			}
		}
	}
	slices.Sort(v.secrets)
	encoded, err := json.Marshal(origins) // the keys of maps are sorted
	if err != nil {
		return v, fmt.Errorf("encoding variables of stage %s: %w", w.spec.Name, err)
	}
	v.hash = hash(encoded)
	return v, nil
}

// readOnce reads an object, or returns nil where there is none.
func (c *stageSets) readOnce(
	ctx context.Context, s *scope, reader string, ref stagesv1.SubstituteReference, read map[objectwatch.Object]client.Object,
) (client.Object, error) {
	id := objectwatch.Object{
		Account: tenant.Account{Namespace: s.set.Namespace, Name: reader},
		Kind:    objectwatch.Kind(ref.Kind), Namespace: s.set.Namespace, Name: ref.Name,
	}
	if known, ok := read[id]; ok {
		return known, nil
	}
	var object client.Object = &corev1.ConfigMap{}
	resource := "configmaps"
	if id.Kind == objectwatch.Secret {
		object, resource = &corev1.Secret{}, "secrets"
	}
	name := types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
	as, err := c.clusters.local(s.set.Namespace, reader)
	if err != nil {
		return nil, err
	}
	err = as.Client.Get(ctx, name, object)
	if apierrors.IsNotFound(err) {
		s.need(reader, id.Kind, id.Name, "")
		read[id] = nil
		return nil, nil
	}
	if err != nil {
		return nil, c.accessError(s, as, "get", resource, name, err)
	}
	s.need(reader, id.Kind, id.Name, object.GetResourceVersion())
	read[id] = object
	return object, nil
}
