package build

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/stagewright/stagewright/internal/artifact"
)

// confiner copies what a kustomization reaches into a file system. kustomize fetches whatever looks like a URL or a
// repository, also by running git, so every location of a kustomization is resolved here and written as a relative path
// that begins with a dot, which it never takes for anything else.
type confiner struct {
	source   artifact.Files
	target   *fileSystem
	counter  *counter
	costs    map[string]cost  // of directories that are done
	open     map[string]bool  // directories that are being read
	read     map[string][]any // documents of files that were inspected
	patches  []kustypes.Patch
	rootFile string
}

// newConfiner returns one with an empty file system.
func newConfiner(source artifact.Files, c *counter) *confiner {
	return &confiner{
		source: source, target: newFileSystem(), counter: c,
		costs: map[string]cost{}, open: map[string]bool{}, read: map[string][]any{},
	}
}

// directory confines the kustomization of a directory and all it includes.
func (c *confiner) directory(directory string) (cost, error) {
	if known, ok := c.costs[directory]; ok {
		return known, nil
	}
	found, err := c.load(directory)
	if err != nil {
		return cost{}, err
	}
	file, k := found.file, found.content
	if c.open[directory] {
		return cost{}, wrong(file, "the kustomization includes itself")
	}
	if len(c.open) == 0 {
		c.rootFile = path.Base(file)
	}
	c.open[directory] = true
	defer delete(c.open, directory)
	v := &visit{confiner: c, directory: directory, file: file, spent: cost{directories: 1}}
	v.does.settings = v.spent.count(found.settings)
	for _, field := range []string{"commonLabels", "commonAnnotations", "labels"} {
		if of, ok := found.settings[field]; ok {
			v.does.labels += v.spent.count(of)
		}
	}
	v.does.bytes = int64(len(c.source[file]))
	err = v.all(k)
	if len(c.open) == 1 && err == nil {
		err = v.patchTexts(c.patches)
	}
	if err == nil {
		err = v.spent.close(v.does)
	}
	if made := v.spent.written(v.does); err == nil && made > c.counter.bytes {
		err = c.counter.tooLarge()
	}
	if err != nil {
		return cost{}, inFile(file, err)
	}
	if len(c.open) == 1 {
		k.Patches = append(k.Patches, c.patches...)
	}
	if k.CheckEmpty() != nil { // which kustomize refuses, and here it is nothing to apply
		k.BuildMetadata = []string{kustypes.OriginAnnotations}
	}
	text, err := yaml.Marshal(k)
	if err != nil {
		return cost{}, &Error{File: file, Err: err}
	}
	c.target.put(path.Join(artifactRoot, directory, konfig.DefaultKustomizationFileName()), text)
	c.costs[directory] = v.spent
	return v.spent, nil
}

// kustomization is one as it was read.
type kustomization struct {
	file     string
	content  *kustypes.Kustomization
	settings map[string]any // what of it concerns each object
}

// load reads the one kustomization of a directory.
func (c *confiner) load(directory string) (kustomization, error) {
	found := kustomization{content: &kustypes.Kustomization{}}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		candidate := path.Join(directory, name)
		if _, ok := c.source[candidate]; !ok {
			continue
		}
		if found.file != "" {
			return found, wrong(candidate, "the directory has another kustomization, %s", path.Base(found.file))
		}
		found.file = candidate
	}
	if found.file == "" {
		return found, wrong("", "the directory %q has no kustomization", directory)
	}
	content := c.source[found.file]
	documents, err := c.inspect(content)
	if err != nil {
		return found, &Error{File: found.file, Err: err}
	}
	if err := found.content.Unmarshal(content); err != nil {
		return found, &Error{File: found.file, Err: err}
	}
	found.content.FixKustomization()
	if len(documents) > 0 {
		found.settings, _ = documents[0].(map[string]any)
	}
	for _, counted := range []string{ // by themselves, or which no object passes
		"resources", "bases", "components", "crds", "openapi", "patches", "patchesStrategicMerge", "patchesJson6902",
		"configMapGenerator", "secretGenerator", "generators", "transformers", "validators",
	} {
		delete(found.settings, counted)
	}
	return found, nil
}

// inspect refuses YAML that no reader should get: too deep, too much by aliases, encrypted. It returns the documents.
func (c *confiner) inspect(content []byte) (documents []any, err error) {
	err = eachYAML(content, c.counter, func(value any, line int) error {
		if isEncrypted(value) {
			return &lineError{line, ErrEncrypted}
		}
		documents = append(documents, value)
		return nil
	})
	return documents, err
}

// visit is the work on one kustomization.
type visit struct {
	*confiner
	directory string
	file      string
	spent     cost
	does      change
}

// all rewrites every location that a kustomization has.
func (v *visit) all(k *kustypes.Kustomization) error {
	if len(k.HelmCharts) > 0 || k.HelmGlobals != nil {
		return errors.New("helmCharts are not supported: they run a program; render the chart before it is published")
	}
	steps := []func(*kustypes.Kustomization) error{
		v.resources, v.components, v.settings, v.patchFiles, v.generators, v.plugins,
	}
	for _, step := range steps {
		if err := step(k); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) resources(k *kustypes.Kustomization) error {
	for i, location := range k.Resources {
		resolved, err := v.resolve("resources", location)
		if err != nil {
			return err
		}
		if _, isFile := v.source[resolved]; isFile {
			k.Resources[i], err = v.copyYAML("resources", location)
			for _, document := range v.read[resolved] {
				v.spent.document(document)
			}
			v.spent.references += int64(bytes.Count(v.source[resolved], []byte("$(")))
		} else {
			k.Resources[i], err = v.include("resources", location)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) components(k *kustypes.Kustomization) (err error) {
	for i, location := range k.Components {
		if k.Components[i], err = v.include("components", location); err != nil {
			return err
		}
	}
	return nil
}

// resolve is the path in the artifact that a location means.
func (v *visit) resolve(field, location string) (string, error) {
	switch {
	case location == "":
		return "", fmt.Errorf("%s has an empty path", field)
	case looksRemote(location):
		return "", fmt.Errorf("%s: %q is remote, and only files of the artifact can be used; publish it with them", field, location)
	case path.IsAbs(location):
		return "", fmt.Errorf("%s: %q is an absolute path; use one that is relative to the kustomization", field, location)
	}
	resolved := path.Join(v.directory, location)
	if resolved == ".." || strings.HasPrefix(resolved, "../") {
		return "", fmt.Errorf("%s: %q leads out of the artifact", field, location)
	}
	return resolved, nil
}

// looksRemote says whether kustomize would take a location for a URL or a repository. It decides what an error says;
// what is safe does not depend on it, because no other location is passed on as it is.
func looksRemote(location string) bool {
	lower := strings.ToLower(location)
	return strings.Contains(lower, "://") || slices.ContainsFunc(
		[]string{"http:", "https:", "git::", "git@", "gh:", "github.com/", "github.com:"},
		func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

// include confines a directory that is part of this one.
func (v *visit) include(field, location string) (string, error) {
	resolved, err := v.resolve(field, location)
	if err != nil {
		return "", err
	}
	if !hasDirectory(v.source, resolved) {
		return "", fmt.Errorf("%s: the artifact has no file or directory %q", field, resolved)
	}
	inner, err := v.confiner.directory(resolved)
	if err != nil {
		return "", err
	}
	return local(location), v.spent.include(inner)
}

func hasDirectory(files artifact.Files, directory string) bool {
	for file := range files {
		if isBelow(file, directory) {
			return true
		}
	}
	return false
}

// copyYAML brings a file that kustomize parses.
func (v *visit) copyYAML(field, location string) (string, error) {
	resolved, err := v.copy(field, location)
	if err != nil {
		return "", err
	}
	if _, done := v.read[resolved]; !done {
		if v.read[resolved], err = v.inspect(v.source[resolved]); err != nil {
			return "", &Error{File: resolved, Err: err}
		}
	}
	return local(location), nil
}

// copyData brings a file whose content becomes a value.
func (v *visit) copyData(field, location string) (string, error) {
	resolved, err := v.copy(field, location)
	if err != nil {
		return "", err
	}
	if isEncryptedData(v.source[resolved]) {
		return "", &Error{File: resolved, Err: ErrEncrypted}
	}
	return local(location), nil
}

// copy brings a file as it is. A kustomization is never brought so.
func (v *visit) copy(field, location string) (string, error) {
	resolved, err := v.resolve(field, location)
	if err != nil {
		return "", err
	}
	content, ok := v.source[resolved]
	if !ok {
		return "", fmt.Errorf("%s: the artifact has no file %q", field, resolved)
	}
	if isKustomization(path.Base(resolved)) {
		return "", fmt.Errorf("%s: %q is a kustomization; name its directory instead", field, resolved)
	}
	v.target.put(path.Join(artifactRoot, resolved), content)
	return resolved, v.spent.include(cost{bytes: int64(len(content))})
}

// local writes a location so that it is taken for nothing but a path.
func local(location string) string {
	clean := path.Clean(location)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return clean
	}
	return "./" + clean
}

// isEncryptedData looks for what SOPS adds to files of any form.
func isEncryptedData(content []byte) bool {
	if bytes.Contains(content, []byte("sops_mac=")) || bytes.Contains(content, []byte("\n[sops]")) {
		return true
	}
	if !bytes.Contains(content, []byte("sops")) {
		return false
	}
	var top map[string]any
	if yaml.Unmarshal(content, &top) != nil {
		return false
	}
	return isEncrypted(top)
}
