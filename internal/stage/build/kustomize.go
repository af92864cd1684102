package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	fluxkustomize "github.com/fluxcd/pkg/kustomize"
	kjson "sigs.k8s.io/json"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// Where kustomize finds things: the artifact, and what is generated, which is beside it so that no file can have its name.
const (
	artifactRoot  = "/artifact"
	generatedRoot = "/generated"
	manifestsFile = "manifests.yaml"
)

// kustomizeJob is one build that has been prepared: everything it can reach is in its file system, in a form that reaches
// nothing else.
type kustomizeJob struct {
	files  *fileSystem
	root   string // absolute
	origin string // for messages
}

// newKustomizeJob prepares a build. It returns nil when there is nothing to build.
func newKustomizeJob(ctx context.Context, in Input, directory string, l layout, c *counter) (*kustomizeJob, error) {
	files := newFileSystem()
	check := &confiner{
		source: in.Files, target: files, counter: c,
		costs: map[string]cost{}, open: map[string]bool{}, read: map[string]bool{},
	}
	patches, err := adapt(in.Patches, c)
	if err != nil {
		return nil, err
	}
	if l.kustomized {
		if err := check.root(directory, patches); err != nil {
			return nil, err
		}
		return &kustomizeJob{
			files: files, root: path.Join(artifactRoot, directory), origin: path.Join(directory, check.rootFile),
		}, ctx.Err()
	}
	generated := kustypes.Kustomization{Patches: patches}
	objects, err := readAll(ctx, in.Files, l.manifests, c)
	if err != nil {
		return nil, err
	}
	if len(objects) > 0 {
		text, err := stream(objects)
		if err != nil {
			return nil, err
		}
		files.put(path.Join(generatedRoot, manifestsFile), text)
		generated.Resources = append(generated.Resources, "./"+manifestsFile)
	}
	total := cost{}
	for _, base := range l.bases {
		inner, err := check.directory(base)
		if err != nil {
			return nil, err
		}
		if err := total.add(inner); err != nil {
			return nil, &Error{File: base, Err: err}
		}
		generated.Resources = append(generated.Resources, path.Join("..", artifactRoot, base))
	}
	if len(generated.Resources) == 0 {
		return nil, nil //nolint:nilnil // nothing to build
	}
	return &kustomizeJob{files: files, root: generatedRoot}, writeKustomization(files, generatedRoot, &generated)
}

// stream writes objects as documents that kustomize reads, JSON being YAML.
func stream(objects []object) ([]byte, error) {
	var text strings.Builder
	for _, o := range objects {
		if err := named(o.content); err != nil { // kustomize's own words would name no file
			return nil, &Error{File: o.file, Err: err}
		}
		document, err := json.Marshal(o.content)
		if err != nil {
			return nil, &Error{File: o.file, Err: err}
		}
		text.WriteString("---\n")
		text.Write(document)
		text.WriteByte('\n')
	}
	return []byte(text.String()), nil
}

func writeKustomization(files *fileSystem, directory string, k *kustypes.Kustomization) error {
	k.APIVersion, k.Kind = kustypes.KustomizationVersion, kustypes.KustomizationKind
	text, err := yaml.Marshal(k)
	if err != nil {
		return fmt.Errorf("writing kustomization: %w", err)
	}
	files.put(path.Join(directory, "kustomization.yaml"), text)
	return nil
}

// adapt turns patches of a spec into kustomize's.
func adapt(patches []kustomize.Patch, c *counter) ([]kustypes.Patch, error) {
	adapted := make([]kustypes.Patch, 0, len(patches))
	for i, p := range patches {
		if err := eachYAML([]byte(p.Patch), c, func(any, int) error { return nil }); err != nil {
			return nil, &Error{Err: fmt.Errorf("patch %d of the stage: %w", i, err)}
		}
		patch := kustypes.Patch{Patch: p.Patch}
		if t := p.Target; t != nil {
			patch.Target = &kustypes.Selector{LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector}
			patch.Target.Group, patch.Target.Version, patch.Target.Kind = t.Group, t.Version, t.Kind
			patch.Target.Name, patch.Target.Namespace = t.Name, t.Namespace
		}
		adapted = append(adapted, patch)
	}
	return adapted, nil
}

// run builds. It cannot be interrupted: what it is given is bounded.
func (j *kustomizeJob) run(c *counter) ([]object, error) {
	built, err := fluxkustomize.Build(j.files, j.root)
	if err != nil {
		return nil, &Error{File: j.origin, Err: fmt.Errorf("running kustomize: %w", withoutRoots(err))}
	}
	resources := built.Resources()
	if len(resources) > c.objects {
		return nil, &Error{File: j.origin, Err: c.tooMany()}
	}
	objects := make([]object, 0, len(resources))
	for _, r := range resources {
		text, err := r.MarshalJSON()
		if err == nil {
			err = c.add(int64(len(text)))
		}
		var content map[string]any
		if err == nil {
			err = kjson.UnmarshalCaseSensitivePreserveInts(text, &content)
		}
		if err != nil {
			return nil, &Error{File: j.origin, Err: err}
		}
		objects = append(objects, object{content, j.origin})
	}
	return objects, nil
}

// withoutRoots has paths as the artifact has them.
func withoutRoots(err error) error {
	return errors.New(strings.NewReplacer(artifactRoot+"/", "", generatedRoot+"/", "").Replace(err.Error()))
}
