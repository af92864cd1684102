package build

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// settings are files that tell kustomize about kinds.
func (v *visit) settings(k *kustypes.Kustomization) (err error) {
	for i, location := range k.Crds {
		if k.Crds[i], err = v.copyYAML("crds", location); err != nil {
			return err
		}
	}
	for i, location := range k.Configurations {
		if k.Configurations[i], err = v.copyYAML("configurations", location); err != nil {
			return err
		}
		v.consider(location)
	}
	if location, ok := k.OpenAPI["path"]; ok {
		if k.OpenAPI["path"], err = v.copyYAML("openapi", location); err != nil {
			return err
		}
	}
	v.does.vars = len(k.Vars) > 0 //nolint:staticcheck // people have it in their files
	return v.replacements(k)
}

// consider counts a file of settings that concern each object.
func (v *visit) consider(location string) {
	file := path.Join(v.directory, location)
	for _, document := range v.read[file] {
		v.does.settings += v.spent.count(document)
	}
	v.does.bytes += int64(len(v.source[file]))
}

func (v *visit) replacements(k *kustypes.Kustomization) (err error) {
	for i, r := range k.Replacements {
		if r.Path == "" {
			v.writes(&r.Replacement)
			continue
		}
		if k.Replacements[i].Path, err = v.copyYAML("replacements", r.Path); err != nil {
			return err
		}
		v.consider(r.Path)
		for _, document := range v.read[path.Join(v.directory, r.Path)] {
			list, isList := document.([]any)
			if !isList {
				list = []any{document}
			}
			for _, element := range list {
				var replacement kustypes.Replacement
				text, err := json.Marshal(element)
				if err == nil {
					err = yaml.Unmarshal(text, &replacement)
				}
				if err == nil { // or kustomize says what is wrong
					v.writes(&replacement)
				}
			}
		}
	}
	return nil
}

// writes notes where a replacement writes.
func (v *visit) writes(r *kustypes.Replacement) {
	for _, target := range r.Targets {
		if target == nil {
			continue
		}
		w := writing{target: target.Select, fields: int64(len(target.FieldPaths))}
		if w.target == nil {
			w.target = &kustypes.Selector{}
		}
		for _, field := range target.FieldPaths {
			w.all = w.all || strings.ContainsAny(field, "*[")
		}
		v.does.paths = append(v.does.paths, w)
	}
}

func (v *visit) patchFiles(k *kustypes.Kustomization) (err error) {
	for _, list := range [][]kustypes.Patch{k.Patches, k.PatchesJson6902} { //nolint:staticcheck // people have it in their files
		for i, p := range list {
			if p.Path == "" {
				if err := v.patchTexts(list[i : i+1]); err != nil {
					return err
				}
				continue
			}
			if list[i].Path, err = v.copyYAML("patches", p.Path); err != nil {
				return err
			}
			resolved := path.Join(v.directory, p.Path)
			v.patch(p.Target, v.read[resolved], v.source[resolved])
		}
	}
	for i, p := range k.PatchesStrategicMerge { //nolint:staticcheck // people have it in their files
		text := string(p)
		if strings.ContainsAny(text, "\n{") && !looksRemote(text) { // the patch itself
			if err := v.patchTexts([]kustypes.Patch{{Patch: text}}); err != nil {
				return err
			}
			continue
		}
		located, err := v.copyYAML("patchesStrategicMerge", text)
		if err != nil {
			return err
		}
		resolved := path.Join(v.directory, text)
		v.patch(nil, v.read[resolved], v.source[resolved])
		//nolint:staticcheck // people have it in their files
		k.PatchesStrategicMerge[i] = kustypes.PatchStrategicMerge(located)
	}
	return nil
}

// patchTexts inspects and counts patches that are no files.
func (v *visit) patchTexts(patches []kustypes.Patch) error {
	for _, p := range patches {
		documents, err := v.inspect([]byte(p.Patch))
		if err != nil {
			return err
		}
		v.patch(p.Target, documents, []byte(p.Patch))
	}
	return nil
}

// patch counts the documents of a patch.
func (v *visit) patch(target *kustypes.Selector, documents []any, text []byte) {
	v.does.patches = append(v.does.patches, patchingOf(&v.spent, target, documents, text)...)
}

func patchingOf(c *cost, target *kustypes.Selector, documents []any, text []byte) []patching {
	found := make([]patching, 0, len(documents))
	for _, document := range documents {
		m, _ := document.(map[string]any)
		metadata, _ := m["metadata"].(map[string]any)
		p := patching{target: target, values: c.count(document), bytes: int64(len(text))}
		p.name, _ = metadata["name"].(string)
		found = append(found, p)
	}
	return found
}

func (v *visit) generators(k *kustypes.Kustomization) error {
	for i := range k.ConfigMapGenerator {
		if err := v.generator("configMapGenerator", "ConfigMap", &k.ConfigMapGenerator[i].GeneratorArgs); err != nil {
			return err
		}
	}
	for i := range k.SecretGenerator {
		if err := v.generator("secretGenerator", "Secret", &k.SecretGenerator[i].GeneratorArgs); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) generator(field, kind string, g *kustypes.GeneratorArgs) (err error) {
	keys := int64(len(g.LiteralSources) + len(g.FileSources))
	for _, literal := range g.LiteralSources {
		v.spent.widest = max(v.spent.widest, int64(len(literal)))
	}
	env := func(location string) (string, error) {
		located, err := v.copyData(field, location)
		keys += int64(bytes.Count(v.source[path.Join(v.directory, location)], []byte{'\n'})) + 1
		return located, err
	}
	for i, location := range g.EnvSources {
		if g.EnvSources[i], err = env(location); err != nil {
			return err
		}
	}
	if g.EnvSource != "" {
		if g.EnvSource, err = env(g.EnvSource); err != nil {
			return err
		}
	}
	for i, source := range g.FileSources {
		key, location, hasKey := strings.Cut(source, "=")
		if !hasKey {
			key, location = path.Base(source), source
		}
		located, err := v.copyData(field, location)
		if err != nil {
			return err
		}
		g.FileSources[i] = key + "=" + located
	}
	return v.spent.generate(kind, g.Name, keys)
}
