package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustypes "sigs.k8s.io/kustomize/api/types"
)

// plugins replaces what generators, transformers and validators refer to by its content, if kustomize runs it without a
// program and without reading further files.
func (v *visit) plugins(k *kustypes.Kustomization) error {
	for _, list := range []struct {
		field   string
		entries []string
	}{{"generators", k.Generators}, {"transformers", k.Transformers}, {"validators", k.Validators}} {
		for i, entry := range list.entries {
			text, err := v.plugin(list.field, entry)
			if err != nil {
				return err
			}
			list.entries[i] = text
		}
	}
	return nil
}

// plugin returns the configuration that an entry is, or that the file has which it names.
func (v *visit) plugin(field, entry string) (string, error) {
	if strings.ContainsAny(entry, "\n{") { // the configuration itself
		text, err := v.configuration([]byte(entry))
		if err != nil {
			return "", fmt.Errorf("%s: %w", field, err)
		}
		return text, nil
	}
	resolved, err := v.resolve(field, entry)
	if err != nil {
		return "", err
	}
	content, ok := v.source[resolved]
	if !ok {
		return "", fmt.Errorf("%s: the artifact has no file %q", field, resolved)
	}
	if err := v.spent.include(cost{bytes: int64(len(content))}); err != nil {
		return "", err
	}
	text, err := v.configuration(content)
	if err != nil {
		return "", &Error{File: resolved, Err: err}
	}
	return text, nil
}

// harmless are the builtin plugins that read nothing by themselves.
func harmless() []string {
	return []string{
		"AnnotationsTransformer", "ConfigMapGenerator", "HashTransformer", "ImageTagTransformer", "LabelTransformer",
		"NamespaceTransformer", "PatchJson6902Transformer", "PatchStrategicMergeTransformer", "PatchTransformer",
		"PrefixSuffixTransformer", "PrefixTransformer", "ReplacementTransformer", "ReplicaCountTransformer",
		"SecretGenerator", "SuffixTransformer",
	}
}

// configuration checks the documents of a configuration and writes them as they were understood here.
func (v *visit) configuration(content []byte) (string, error) {
	var documents []string
	err := eachYAML(content, v.counter, func(value any, line int) error {
		document, ok := value.(map[string]any)
		if !ok {
			return &lineError{line, fmt.Errorf("the document is %s, not the configuration of a plugin", describe(value))}
		}
		if err := checkPlugin(document); err != nil {
			return &lineError{line, err}
		}
		text, err := json.Marshal(document)
		documents = append(documents, string(text))
		v.runs(document, text)
		return err
	})
	if err == nil && len(documents) == 0 {
		err = errors.New("there is no configuration of a plugin")
	}
	return strings.Join(documents, "\n---\n") + "\n", err
}

// runs counts what a plugin does: as much as a patch of all objects, or it makes one.
func (v *visit) runs(document map[string]any, text []byte) {
	if kind, ok := document["kind"].(string); ok && strings.HasSuffix(kind, "Generator") {
		metadata, _ := document["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		v.spent.object(strings.TrimSuffix(kind, "Generator"), name, v.spent.count(document))
		return
	}
	p := patching{target: &kustypes.Selector{}, values: v.spent.count(document), bytes: int64(len(text))}
	p.values = max(p.values, p.bytes/bytesPerNode) // there may be a patch in a text
	v.does.patches = append(v.does.patches, p)
	var replacing struct{ Replacements []kustypes.Replacement }
	if err := json.Unmarshal(text, &replacing); err == nil {
		for i := range replacing.Replacements {
			v.writes(&replacing.Replacements[i])
		}
	}
}

func checkPlugin(document map[string]any) error {
	kind, _ := document["kind"].(string)
	if document["apiVersion"] != "builtin" || !slices.Contains(harmless(), kind) {
		return fmt.Errorf("the plugin %q is not supported: only those builtin ones are that run no program", kind)
	}
	return checkReads(document)
}

// checkReads refuses a configuration that names files. kustomize matches names of fields whatever their case.
func checkReads(value any) error {
	fields, _ := value.(map[string]any)
	for key, inner := range fields {
		switch strings.ToLower(key) {
		case "path", "paths", "files", "envs", "env":
			// The path of a field, as in fieldSpecs, is none of a file. Those of files are in these two places.
			return fmt.Errorf("the plugin reads files by %q, which only fields of a kustomization may", key)
		case "replacements":
			list, _ := inner.([]any)
			for _, element := range list {
				if err := checkReads(element); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
