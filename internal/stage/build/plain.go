package build

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/stagewright/stagewright/internal/artifact"
)

// object is what a file has, before it is checked.
type object struct {
	content map[string]any
	file    string // where it is from
}

// layout is what a directory holds.
type layout struct {
	kustomized bool     // there is a kustomization in it
	bases      []string // directories below it that have one, in order; what is in them is theirs
	manifests  []string // paths of the other manifests, in order
}

// confined cleans a directory of a spec. It cannot leave the artifact.
func confined(directory string) (string, error) {
	clean := path.Clean(strings.TrimLeft(directory, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("the path %q leads out of the artifact", directory)
	}
	return clean, nil
}

// survey finds the manifests of a directory. As with Flux, a directory that has a kustomization is built by it wherever it
// is.
func survey(files artifact.Files, directory string) (layout, error) {
	var l layout
	below := slices.Sorted(func(yield func(string) bool) {
		for file := range files {
			if isBelow(file, directory) && !yield(file) {
				return
			}
		}
	})
	if len(below) == 0 {
		if _, ok := files[directory]; ok {
			return l, wrong(directory, "the path is a file, and must be a directory")
		}
		return l, wrong("", "the artifact has no directory %q", directory)
	}
	bases := map[string]bool{}
	for _, file := range below {
		if !isKustomization(path.Base(file)) {
			continue
		}
		if path.Dir(file) == directory {
			return layout{kustomized: true}, nil
		}
		bases[path.Dir(file)] = true
	}
	for base := range bases { // only the outermost: it says itself what it takes of those below it
		for parent := path.Dir(base); isBelow(parent, directory); parent = path.Dir(parent) {
			if bases[parent] {
				delete(bases, base)
				break
			}
		}
	}
	l.bases = slices.Sorted(maps.Keys(bases))
	for _, file := range below {
		if isManifest(file) && !slices.ContainsFunc(parents(file), func(p string) bool { return bases[p] }) {
			l.manifests = append(l.manifests, file)
		}
	}
	if len(l.manifests) == 0 && len(l.bases) == 0 {
		return l, wrong("", "the directory %q has no manifest: no *.yaml, *.yml or *.json and no kustomization", directory)
	}
	return l, nil
}

// isBelow says whether a clean path is inside a clean directory.
func isBelow(file, directory string) bool {
	if directory == "." {
		return file != "."
	}
	return strings.HasPrefix(file, directory+"/")
}

// parents are the directories that a file is in, the root not among them.
func parents(file string) []string {
	var found []string
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		found = append(found, dir)
	}
	return found
}

func isManifest(file string) bool {
	extension := path.Ext(file)
	return extension == ".yaml" || extension == ".yml" || extension == ".json"
}

func isKustomization(base string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), base)
}

// readAll reads manifests in their order.
func readAll(ctx context.Context, files artifact.Files, manifests []string, c *counter) ([]object, error) {
	var found []object
	for _, file := range manifests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := readFile(file, files[file], c, func(content map[string]any) error {
			if len(found) >= c.objects {
				return c.tooMany()
			}
			if !isLocal(content) {
				found = append(found, object{content, file})
			}
			return nil
		})
		if err != nil {
			return nil, &Error{File: file, Err: err}
		}
	}
	return found, nil
}

func readFile(file string, content []byte, c *counter, add func(map[string]any) error) error {
	if path.Ext(file) == ".json" {
		value, err := readJSON(content, c)
		if err != nil {
			return err
		}
		if isEncrypted(value) {
			return ErrEncrypted
		}
		return walk(value, &place{}, add)
	}
	return eachYAML(content, c, func(value any, line int) error {
		m, ok := value.(map[string]any)
		if !ok {
			return &lineError{line, fmt.Errorf("the document is %s, not an object", describe(value))}
		}
		if isEncrypted(m) {
			return &lineError{line, ErrEncrypted}
		}
		if err := expand(m, add); err != nil {
			return &lineError{line, err}
		}
		return nil
	})
}

// localAnnotation marks what is for tools only. kustomize leaves it out, and so does a directory without a kustomization.
const localAnnotation = "config.kubernetes.io/local-config"

func isLocal(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	value, ok := annotations[localAnnotation]
	return ok && value != "false"
}

// isEncrypted says whether a file is one of SOPS, by what it adds at the top level.
func isEncrypted(value any) bool {
	top, _ := value.(map[string]any)
	stanza, ok := top["sops"].(map[string]any)
	if !ok {
		return false
	}
	_, sealed := stanza["mac"]
	_, dated := stanza["lastmodified"]
	return sealed || dated
}
