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

	"github.com/stagewright/stagewright/internal/artifact"
)

// Where kustomize finds things: the artifact, and what is generated, which is beside it so that no file can have its name.
const (
	artifactRoot  = "/artifact"
	generatedRoot = "/generated"
	manifestsFile = "manifests.yaml"
)

// manyEfforts bounds a build that is done in parts, between which others have their turn.
const manyEfforts = 10

// kustomizeJob is one build that has been prepared: everything it can reach is in its file system, in a form that reaches
// nothing else.
type kustomizeJob struct {
	files  *fileSystem
	root   string // absolute
	origin string // for messages
	effort int64
}

// newKustomizeJobs prepares the builds that make the objects of a directory: none when there is nothing to build, several
// where plain manifests are patched that are many, because kustomize's time grows with the square of their number.
func newKustomizeJobs(
	ctx context.Context, in Input, directory string, l layout, portion int, c *counter,
) ([]*kustomizeJob, error) {
	patches, err := adapt(in.Patches, c)
	if err != nil {
		return nil, err
	}
	if l.kustomized {
		job, err := ofKustomization(in.Files, directory, patches, c)
		return []*kustomizeJob{job}, err
	}
	objects, err := readAll(ctx, in.Files, l.manifests, c)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := named(o.content); err != nil { // kustomize's own words would name no file
			return nil, &Error{File: o.file, Err: err}
		}
	}
	if len(l.bases) == 0 {
		var jobs []*kustomizeJob
		effort := int64(0)
		for _, p := range divide(objects, patches, portion) {
			job, err := ofManifests(in.Files, p, nil, c)
			if err != nil {
				return nil, err
			}
			if effort += job.effort; effort > manyEfforts*maxEffort {
				return nil, &Error{Err: fmt.Errorf("%d objects are too many to be patched by kustomize; divide the stage", len(objects))}
			}
			jobs = append(jobs, job)
		}
		return jobs, nil
	}
	job, err := ofManifests(in.Files, share{objects, patches}, l.bases, c)
	return []*kustomizeJob{job}, err
}

// ofKustomization is the build of a directory that has a kustomization.
func ofKustomization(
	source artifact.Files, directory string, patches []kustypes.Patch, c *counter,
) (*kustomizeJob, error) {
	check := newConfiner(source, c)
	check.patches = patches
	if _, err := check.directory(directory); err != nil {
		return nil, err
	}
	return &kustomizeJob{
		files: check.target, root: path.Join(artifactRoot, directory), origin: path.Join(directory, check.rootFile),
	}, nil
}

// ofManifests is the build of objects, and of directories with kustomizations, by one that is generated.
func ofManifests(source artifact.Files, s share, bases []string, c *counter) (*kustomizeJob, error) {
	check := newConfiner(source, c)
	generated := kustypes.Kustomization{Patches: s.patches}
	if len(s.objects) > 0 {
		text, err := stream(s.objects)
		if err != nil {
			return nil, err
		}
		check.target.put(path.Join(generatedRoot, manifestsFile), text)
		generated.Resources = append(generated.Resources, "./"+manifestsFile)
	}
	var total cost
	for _, o := range s.objects {
		total.document(o.content)
	}
	for _, base := range bases {
		inner, err := check.directory(base)
		if err == nil {
			err = total.include(inner)
		}
		if err != nil {
			return nil, inFile(base, err)
		}
		generated.Resources = append(generated.Resources, path.Join("..", artifactRoot, base))
	}
	var does change
	for _, p := range s.patches {
		var documents []any
		again := &counter{limits: limits{bytes: int64(len(p.Patch)) * written}} // it was read before
		err := eachYAML([]byte(p.Patch), again, func(value any, _ int) error {
			documents = append(documents, value)
			return nil
		})
		if err != nil {
			return nil, &Error{Err: err}
		}
		does.patches = append(does.patches, patchingOf(&total, p.Target, documents, []byte(p.Patch))...)
	}
	if err := total.close(does); err != nil {
		return nil, &Error{Err: err}
	}
	return &kustomizeJob{files: check.target, root: generatedRoot, effort: total.effort}, writeKustomization(check.target, generatedRoot, &generated)
}

// stream writes objects as documents that kustomize reads, JSON being YAML.
func stream(objects []object) ([]byte, error) {
	var text strings.Builder
	for _, o := range objects {
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
