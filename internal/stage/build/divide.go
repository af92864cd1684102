package build

import (
	"encoding/json"
	"regexp"
	"slices"

	kustypes "sigs.k8s.io/kustomize/api/types"
)

// share is a part of the objects that are patched, with the patches that may concern them.
type share struct {
	objects []object
	patches []kustypes.Patch
}

// divide parts objects into shares that are patched one by one. A patch with a target finds its objects in each share. One
// without has to find its object, which is in one share: those of one kind and name stay together.
func divide(objects []object, patches []kustypes.Patch, portion int) []share {
	if len(objects) == 0 {
		return nil
	}
	if len(objects) <= portion || mayRename(patches) {
		return []share{{objects, patches}}
	}
	groups := map[string][]object{}
	var names []string
	for _, o := range objects {
		name := titleOf(o.content)
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], o)
	}
	shares := []share{{}}
	home := make(map[string]int, len(names))
	for _, name := range names {
		last := &shares[len(shares)-1]
		if len(last.objects) > 0 && len(last.objects)+len(groups[name]) > portion {
			shares = append(shares, share{})
			last = &shares[len(shares)-1]
		}
		last.objects = append(last.objects, groups[name]...)
		home[name] = len(shares) - 1
	}
	for _, patch := range patches {
		if patch.Target != nil {
			for i := range shares {
				shares[i].patches = append(shares[i].patches, patch)
			}
			continue
		}
		for _, part := range documentsOf(patch) {
			at := home[part.title] // or the first share, for the error of a patch without an object
			shares[at].patches = append(shares[at].patches, part.patch)
		}
	}
	return shares
}

// mayRename says whether other objects may have to follow what a patch does to a name.
func mayRename(patches []kustypes.Patch) bool {
	names := regexp.MustCompile(`/metadata(/name|["'\s}]|$)`)
	return slices.ContainsFunc(patches, func(p kustypes.Patch) bool { return names.MatchString(p.Patch) })
}

type documentPatch struct {
	title string // of the object that it is for
	patch kustypes.Patch
}

// documentsOf are the single documents of a patch without a target.
func documentsOf(patch kustypes.Patch) []documentPatch {
	var parts []documentPatch
	unbounded := &counter{limits: limits{bytes: int64(len(patch.Patch)) * written}} // it was read before
	err := eachYAML([]byte(patch.Patch), unbounded, func(value any, _ int) error {
		content, _ := value.(map[string]any)
		text, err := json.Marshal(value)
		parts = append(parts, documentPatch{titleOf(content), kustypes.Patch{Patch: string(text), Options: patch.Options}})
		return err
	})
	if err != nil || len(parts) == 0 { // kustomize says what is wrong
		return []documentPatch{{patch: patch}}
	}
	return parts
}
