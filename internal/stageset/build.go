package stageset

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	stagesv1 "github.com/stagewright/stagewright/api/stages/v1"
	"github.com/stagewright/stagewright/internal/artifact/load"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
	"github.com/stagewright/stagewright/internal/stage/apply"
	"github.com/stagewright/stagewright/internal/stage/build"
	"github.com/stagewright/stagewright/internal/stage/inventory"
)

// busyDelay is when something is tried again for which there was no room.
const busyDelay = time.Second

// build makes the objects of every stage, so that what cannot be built stops a run before it begins. A stage with variables
// from an object that an earlier stage renders is built when its turn comes.
func (c *stageSets) build(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	s.rendered = map[inventory.ID]string{}
	for i, w := range s.stages {
		if s.choice != settled && i > s.position() && s.waitsForValues(w) {
			continue
		}
		if err := c.buildStage(ctx, s, w); err != nil {
			status := s.statusOf(w.spec.Name)
			status.Message = reconcile.Shorten(err.Error(), maxStageMessage)
			err = fmt.Errorf("stage %s: %w", w.spec.Name, err)
			if s.drifted != "" {
				err = fmt.Errorf("%s is not as it was applied, which cannot be corrected: %w", s.drifted, err)
			}
			return reconcile.Next(), err
		}
		for _, id := range w.ids {
			if other, ok := s.rendered[id]; ok && other != w.spec.Name {
				return reconcile.Next(), reconcile.Stalled(stagesv1.ReasonBuildFailed, fmt.Errorf(
					"%s is rendered by the stages %s and %s: remove it from one of them", id.Display(), other, w.spec.Name))
			}
			s.rendered[id] = w.spec.Name
		}
	}
	return reconcile.Next(), nil
}

// waitsForValues says whether a stage has variables from an object that an earlier stage renders.
func (s *scope) waitsForValues(w *stage) bool {
	if w.spec.PostBuild == nil || s.set.Spec.KubeConfig != nil {
		return false
	}
	for _, ref := range w.spec.PostBuild.SubstituteFrom {
		if _, ok := s.rendered[inventory.ID{Namespace: s.set.Namespace, Name: ref.Name, Kind: ref.Kind}]; ok {
			return true
		}
	}
	return false
}

func (c *stageSets) buildStage(ctx context.Context, s *scope, w *stage) error {
	if w.values.missing != nil {
		return reconcile.Waiting(s.retry(c.options.DefaultInterval), stagesv1.ReasonBuildFailed, w.values.missing)
	}
	key, err := buildKey(s, w)
	if err != nil {
		return err
	}
	objects, err := c.builder.Build(ctx, key, func(ctx context.Context) (build.Input, error) {
		files, err := s.hold.Load(ctx, load.Location{URL: w.revision.URL, Digest: w.revision.Digest})
		if err != nil {
			return build.Input{}, fmt.Errorf("loading the artifact: %w", err)
		}
		return build.Input{
			Files: files, Path: w.spec.Path, Patches: w.spec.Patches, Substitute: substitutes(w), Secrets: w.values.secrets,
			Namespace: s.set.Namespace, Namespaced: s.namespaced(w),
		}, nil
	})
	if err != nil {
		return c.explain(s, stagesv1.ReasonArtifactFetchFailed, err)
	}
	w.objects = objects
	w.ids = make([]inventory.ID, len(w.objects))
	for i, object := range w.objects {
		w.ids[i] = apply.EntryOf(object).ID
	}
	w.built = true
	if s.run != nil {
		s.run.Revisions[w.position].Inputs = w.values.hash
		w.revision.Inputs = w.values.hash
	}
	return nil
}

// buildKey is the same for what gives the same objects. Which kinds have namespaces is a matter of the cluster.
func buildKey(s *scope, w *stage) (string, error) {
	encoded, err := json.Marshal([]any{
		w.revision.URL, w.revision.Digest, w.spec.Path, w.spec.Patches, substitutes(w), s.set.Namespace,
		w.cluster.Key,
	})
	if err != nil {
		return "", fmt.Errorf("encoding the inputs: %w", err)
	}
	return hash(encoded), nil
}

// substitutes are the variables of a stage, or nil where it replaces none.
func substitutes(w *stage) map[string]string {
	if w.spec.PostBuild == nil {
		return nil
	}
	all := make(map[string]string, len(w.values.substitute)+len(w.spec.PostBuild.Substitute))
	maps.Copy(all, w.values.substitute)
	maps.Copy(all, w.spec.PostBuild.Substitute)
	return all
}

// namespaced tells which kinds have namespaces: those that other stages define, and those that the API server knows.
func (s *scope) namespaced(w *stage) func(schema.GroupKind) (namespaced, known bool) {
	return func(kind schema.GroupKind) (namespaced, known bool) {
		for _, other := range s.stages {
			for _, object := range other.objects {
				if scope, ok := scopeDefinedBy(object, kind); ok {
					return scope == apiextensionsv1.NamespaceScoped, true
				}
			}
		}
		mapping, err := w.cluster.Client.RESTMapper().RESTMapping(kind)
		if err != nil { // refused when it is applied, unless somebody defines it until then
			return true, false
		}
		return mapping.Scope.Name() == meta.RESTScopeNameNamespace, true
	}
}

// scopeDefinedBy returns the scope of a kind where the object is its definition.
func scopeDefinedBy(object *unstructured.Unstructured, kind schema.GroupKind) (apiextensionsv1.ResourceScope, bool) {
	if object.GetKind() != "CustomResourceDefinition" {
		return "", false
	}
	group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
	name, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
	scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
	return apiextensionsv1.ResourceScope(scope), group == kind.Group && name == kind.Kind
}
