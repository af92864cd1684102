package build

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/fluxcd/pkg/ssa"
	pathsegment "k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// settle checks the objects, gives them namespaces, and orders them.
func settle(found []object, in Input, c *counter) (result, error) {
	if len(found) > c.objects {
		return result{}, &Error{Err: c.tooMany()}
	}
	for _, o := range found {
		if err := check(o.content); err != nil {
			return result{}, &Error{File: o.file, Err: err}
		}
	}
	made := result{lasting: true}
	scopes := newScopes(found, in.Namespaced)
	files := make(map[identity]string, len(found))
	var total size
	for _, o := range found {
		u := &unstructured.Unstructured{Object: o.content}
		if !scopes.place(u, in.Namespace) {
			made.lasting = made.lasting && in.Namespaced == nil // later it may be known
		}
		id := identify(u)
		if first, ok := files[id]; ok {
			return result{}, twice(id, first, o.file)
		}
		files[id] = o.file
		s, err := measure(o.content, 0)
		if err != nil {
			return result{}, &Error{File: o.file, Err: err}
		}
		total.memory += s.memory
		if total.json += s.json; total.json > c.bytes {
			return result{}, &Error{File: o.file, Err: c.tooLarge()}
		}
		made.objects = append(made.objects, u)
	}
	order(made.objects)
	made.weight = total.memory
	return made, nil
}

// identity is what makes an object another one. The version of its API does not.
type identity struct {
	rank                         int
	group, kind, namespace, name string
}

func (id identity) String() string {
	kind := id.kind
	if id.group != "" {
		kind += "." + id.group
	}
	if id.namespace == "" {
		return fmt.Sprintf("%s %s", kind, id.name)
	}
	return fmt.Sprintf("%s %s/%s", kind, id.namespace, id.name)
}

func identify(u *unstructured.Unstructured) identity {
	kind := u.GroupVersionKind()
	return identity{group: kind.Group, kind: kind.Kind, namespace: u.GetNamespace(), name: u.GetName()}
}

func twice(id identity, first, second string) error {
	if first == second {
		return wrong(second, "%s is there twice", id)
	}
	return wrong(second, "%s is there twice, also in %s", id, cmp.Or(first, "what was generated"))
}

// order sorts as Flux applies: definitions and what others refer to first, webhooks last, and for the rest by group, kind,
// namespace and name.
func order(objects []*unstructured.Unstructured) {
	ranks := map[string]int{}
	for i, kind := range ssa.ReconcileOrder.First {
		ranks[kind] = i - len(ssa.ReconcileOrder.First)
	}
	for i, kind := range ssa.ReconcileOrder.Last {
		ranks[kind] = i + 1
	}
	keys := make(map[*unstructured.Unstructured]identity, len(objects))
	for _, u := range objects {
		id := identify(u)
		id.rank = ranks[id.kind]
		keys[u] = id
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		x, y := keys[a], keys[b]
		return cmp.Or(
			cmp.Compare(x.rank, y.rank), strings.Compare(x.group, y.group), strings.Compare(x.kind, y.kind),
			strings.Compare(x.namespace, y.namespace), strings.Compare(x.name, y.name),
		)
	})
}

// check says whether an object can be applied at all.
func check(content map[string]any) error {
	if err := named(content); err != nil {
		return err
	}
	title := titleOf(content)
	if err := checkNames(content); err != nil {
		return err
	}
	if isEncrypted(content) {
		return fmt.Errorf("%s: %w", title, ErrEncrypted)
	}
	metadata, _ := content["metadata"].(map[string]any)
	if namespace, ok := metadata["namespace"]; ok && namespace != nil {
		if _, isText := namespace.(string); !isText {
			return fmt.Errorf("%s: metadata.namespace is %s, and must be text", title, describe(namespace))
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		if err := checkTexts(metadata[field]); err != nil {
			return fmt.Errorf("%s: metadata.%s%w", title, field, err)
		}
	}
	return nil
}

// checkNames refuses names that no object can have: they become parts of the paths of requests and of the ids of inventories.
func checkNames(content map[string]any) error {
	version, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	api, err := schema.ParseGroupVersion(version)
	switch {
	case err != nil, api.Group != "" && len(validation.IsDNS1123Subdomain(api.Group)) > 0,
		len(validation.IsDNS1123Label(api.Version)) > 0:
		return fmt.Errorf("%s: %q is not an apiVersion", titleOf(content), version)
	case len(validation.IsDNS1123Label(strings.ToLower(kind))) > 0:
		return fmt.Errorf("%q is not a kind", kind)
	case len(pathsegment.IsPathSegmentName(name)) > 0, len(name) > maxName, strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("a %s has the metadata.name %q, and no object can be called so", kind, name)
	case namespace != "" && len(validation.IsDNS1123Label(namespace)) > 0:
		return fmt.Errorf("%s: %q is not a namespace", titleOf(content), namespace)
	}
	return nil
}

// maxName bounds a name in bytes. Most kinds allow 253, roles any number.
const maxName = 1000

// named says whether an object has what names it.
func named(content map[string]any) error {
	version, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	switch {
	case version == "":
		return errors.New("an object has no apiVersion")
	case kind == "":
		return errors.New("an object has no kind")
	}
	metadata, ok := content["metadata"].(map[string]any)
	if !ok && content["metadata"] != nil {
		return fmt.Errorf("a %s has metadata that is %s", kind, describe(content["metadata"]))
	}
	name := metadata["name"]
	if text, ok := name.(string); ok && text != "" {
		return nil
	}
	switch {
	case name != nil && name != "":
		return fmt.Errorf("a %s has a metadata.name that is %s, and must be text", kind, describe(name))
	case metadata["generateName"] != nil:
		return fmt.Errorf("a %s has metadata.generateName instead of a name: it would be another object each time", kind)
	default:
		return fmt.Errorf("a %s has no metadata.name", kind)
	}
}

func checkTexts(value any) error {
	if value == nil {
		return nil
	}
	texts, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf(" is %s, and must be an object", describe(value))
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if texts[key] == nil { // as an empty variable leaves it, and as the API server understands it
			texts[key] = ""
		}
		if _, ok := texts[key].(string); !ok {
			return fmt.Errorf("[%q] is %s, and must be text: put quotes around it", key, describe(texts[key]))
		}
	}
	return nil
}

// titleOf names an object in a message.
func titleOf(content map[string]any) string {
	kind, _ := content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return kind + " " + name
}
